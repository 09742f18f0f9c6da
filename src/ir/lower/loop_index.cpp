#include "ir/lower/loop_index.hpp"

#include <algorithm>
#include <map>

#include "ir/lower/fours.hpp"

namespace balm::ir {

namespace {

/// Whether the instruction gives the same wherever it stands, if its operands do.
bool is_arithmetic(const instruction& i) {
    return i.op == opcode::builtin || i.op == opcode::convert || i.op == opcode::constant ||
           i.op == opcode::place;
}

class hoisting {
public:
    hoisting(const function& f, value_id loop, builder& to)
        : to_(to), body_(f.blocks[f.code[loop].blocks[0]]) {
        std::sort(body_.begin(), body_.end());
    }
    value_id hoist(value_id v) {
        if (!std::binary_search(body_.begin(), body_.end(), v)) return v;
        if (const auto known = hoisted_.find(v); known != hoisted_.end()) return known->second;
        const value_id made = to_.copy(v, [&](value_id o) { return hoist(o); });
        return hoisted_[v] = made;
    }

private:
    builder& to_;
    block body_;  ///< sorted
    std::map<value_id, value_id> hoisted_;
};

}  // namespace

loop_index::loop_index(const function& f, value_id loop) : f_(f), loop_(loop), varies_(f.code.size(), false) {
    varies_[loop] = true;
    for (const value_id v : f.blocks[f.code[loop].blocks[0]]) {
        const auto operands = f.operands_of(v);
        varies_[v] = !is_arithmetic(f.code[v]) || !std::all_of(operands.begin(), operands.end(),
                                                               [&](value_id o) { return is_invariant(o); });
    }
}

std::optional<index_terms> loop_index::terms_of(value_id access) const {
    index_terms terms;
    int budget = max_index_operations;
    if (!take_apart(f_.operand(access, 1), terms, budget)) return std::nullopt;
    std::sort(terms.begin(), terms.end());
    return terms;
}

/// Whether the index is a sum with the loop's as one of its terms.
bool loop_index::take_apart(value_id index, index_terms& terms, int& budget) const {
    if (index == loop_) return true;
    const instruction& i = f_.code[index];
    if (--budget < 0 || i.op != opcode::builtin || static_cast<builtin>(i.detail) != builtin::add)
        return false;
    const value_id a = f_.operand(index, 0), b = f_.operand(index, 1);
    if (is_invariant(a) == is_invariant(b)) return false;
    terms.push_back(is_invariant(a) ? a : b);
    return take_apart(is_invariant(a) ? b : a, terms, budget);
}

value_id hoisted_sum(const function& f, value_id loop, const index_terms& terms, builder& to) {
    hoisting ahead(f, loop, to);
    value_id sum = none;
    for (const value_id term : terms) {
        const value_id own = ahead.hoist(term);
        sum = sum == none ? own : to.apply(builtin::add, sum, own);
    }
    return sum;
}

}  // namespace balm::ir
