// An index is taken apart into a constant and terms that are multiples of four: calls with the same terms
// belong to the same four where their constants do.

#include "ir/lower/fours.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "ir/builder.hpp"

namespace balm::ir {

namespace {

bool is_word_of_64(const function& f, value_id v) {
    const type t = f.code[v].result;
    return t.is_scalar() && is_integer(t.element) && size_of(t.element) == 8;
}

bool is_in_fours(const function& f, value_id v, int& budget) {
    const instruction& i = f.code[v];
    if (--budget < 0) return false;
    if (!i.result.is_scalar() || !is_integer(i.result.element) || size_of(i.result.element) < 4) return false;
    switch (i.op) {
        case opcode::constant: return i.bits % 4 == 0;
        case opcode::convert: return is_in_fours(f, f.operand(v, 0), budget);
        case opcode::for_:
            return is_in_fours(f, f.operand(v, 0), budget) && is_in_fours(f, f.operand(v, 2), budget);
        case opcode::builtin: break;
        default: return false;
    }
    const value_id a = f.operand(v, 0);
    switch (static_cast<builtin>(i.detail)) {
        case builtin::mul: return is_in_fours(f, a, budget) || is_in_fours(f, f.operand(v, 1), budget);
        case builtin::add:
        case builtin::sub: return is_in_fours(f, a, budget) && is_in_fours(f, f.operand(v, 1), budget);
        case builtin::shl: {
            const instruction& count = f.code[f.operand(v, 1)];
            return count.op == opcode::constant && count.bits >= 2 &&
                   count.bits < 8 * size_of(i.result.element);
        }
        default: return false;
    }
}

/// What a call must share with another to be of the same four.
struct four {
    std::uint64_t callee = 0;
    std::vector<value_id> terms;      ///< of the index, multiples of four
    std::uint64_t quarter = 0;        ///< of the index's constant part
    std::vector<value_id> arguments;  ///< but the index

    friend auto operator<=>(const four&, const four&) = default;  // NOLINT(modernize-use-nullptr)
};

/// Adds a value to the terms and the constant that make up an index; false where it is not known to be a sum
/// of such.
bool take_apart(const function& f, value_id v, std::vector<value_id>& terms, std::uint64_t& constant,
                int& budget) {
    const instruction& i = f.code[v];
    if (--budget < 0 || !is_word_of_64(f, v)) return false;
    if (i.op == opcode::constant) {
        constant += i.bits;
        return true;
    }
    if (i.op == opcode::convert && is_word_of_64(f, f.operand(v, 0)))
        return take_apart(f, f.operand(v, 0), terms, constant, budget);
    if (i.op == opcode::builtin && static_cast<builtin>(i.detail) == builtin::add)
        return take_apart(f, f.operand(v, 0), terms, constant, budget) &&
               take_apart(f, f.operand(v, 1), terms, constant, budget);
    terms.push_back(v);
    return is_in_fours(f, v, budget);
}

struct member {
    value_id call;
    std::uint64_t lane;  ///< which of the four
};

class sharing {
public:
    explicit sharing(function& f) : f_(f) {}

    bool share(block_id number) {
        std::map<four, std::vector<member>> fours;
        for (const value_id v : f_.blocks[number]) note(v, fours);
        std::erase_if(fours, [](const auto& each) { return each.second.size() < 2; });
        if (fours.empty()) return false;
        std::map<value_id, const std::vector<member>*> begins;
        for (const auto& [which, members] : fours) begins.emplace(members.front().call, &members);
        const block before = std::move(f_.blocks[number]);
        builder after(f_, source_line());
        std::map<value_id, member> shared;  // by call: the call of four, and which of the four
        for (const value_id v : before) {
            if (const auto found = begins.find(v); found != begins.end()) {
                const value_id call = call_of_four(v, after);
                for (const member& m : *found->second) shared.emplace(m.call, member{call, m.lane});
            }
            if (const auto found = shared.find(v); found != shared.end()) become_lane(v, found->second);
            after.made.push_back(v);
        }
        f_.blocks[number] = std::move(after.made);
        return true;
    }

private:
    void note(value_id v, std::map<four, std::vector<member>>& fours) const {
        const instruction& i = f_.code[v];
        if (i.op != opcode::evaluate || f_.callees[i.bits]->of_four == nullptr) return;
        four which;
        which.callee = i.bits;
        std::uint64_t constant = 0;
        const auto operands = f_.operands_of(v);
        int budget = max_index_operations;
        if (!take_apart(f_, operands[0], which.terms, constant, budget)) return;
        std::sort(which.terms.begin(), which.terms.end());
        which.quarter = constant >> 2;
        which.arguments.assign(operands.begin() + 1, operands.end());
        fours[which].push_back({v, constant % 4});
    }

    /// At a quarter of the index of one of its calls, which is the same for all.
    value_id call_of_four(value_id v, builder& to) {
        const auto own = f_.operands_of(v);
        std::vector<value_id> operands(own.begin(), own.end());
        operands[0] = to.apply(builtin::shr, operands[0], to.constant(2, scalar::u64), scalar::u64);
        const std::shared_ptr<const function> callee = f_.callees[f_.code[v].bits]->of_four;
        const auto known = std::find(f_.callees.begin(), f_.callees.end(), callee);
        const auto number = static_cast<std::uint64_t>(known - f_.callees.begin());
        if (known == f_.callees.end()) f_.callees.push_back(callee);
        return to.make(opcode::evaluate, type(f_.code[v].result.element, 4), operands, 0, number);
    }
    void become_lane(value_id v, const member& of) {
        instruction& i = f_.code[v];
        i.op = opcode::swizzle;
        i.bits = of.lane;
        f_.set_operands(v, {&of.call, 1});
    }

    function& f_;
};

}  // namespace

bool share_fours(function& f) {
    const bool may_share = std::any_of(f.callees.begin(), f.callees.end(),
                                       [](const auto& callee) { return callee->of_four != nullptr; });
    if (!may_share) return false;
    sharing pass(f);
    bool shares = false;
    for (block_id b = 0; b < f.blocks.size(); ++b) shares |= pass.share(b);
    return shares;
}

}  // namespace balm::ir
