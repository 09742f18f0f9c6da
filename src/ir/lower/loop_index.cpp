#include "ir/lower/loop_index.hpp"

#include <algorithm>
#include <map>

namespace balm::ir {

namespace {

/// Whether the instruction's result depends on its operands alone, not on its position.
bool is_arithmetic(const instruction& i) {
    return i.op == opcode::builtin || i.op == opcode::convert || i.op == opcode::constant ||
           i.op == opcode::place;
}

std::int64_t number(const instruction& constant) { return static_cast<std::int64_t>(constant.bits); }

bool is_word_of_64(type t) { return t.is_scalar() && is_integer(t.element) && size_of(t.element) == 8; }

// Indices wrap, as the device's arithmetic does.
std::int64_t sum_of_two(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t product_of_two(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

}  // namespace

void index_sum::add(const term& t) {
    if (t.coefficient == 0) return;
    if (t.variable == none && t.factor == none) {
        constant = sum_of_two(constant, t.coefficient);
        return;
    }
    const auto is_ahead = [](const term& a, const term& b) {
        return std::pair(a.variable, a.factor) < std::pair(b.variable, b.factor);
    };
    const auto at = std::lower_bound(terms.begin(), terms.end(), t, is_ahead);
    if (at == terms.end() || is_ahead(t, *at)) {
        terms.insert(at, t);
    } else if ((at->coefficient = sum_of_two(at->coefficient, t.coefficient)) == 0) {
        terms.erase(at);
    }
}

void index_sum::add(const index_sum& other, std::int64_t times) {
    for (term t : other.terms) {
        t.coefficient = product_of_two(t.coefficient, times);
        add(t);
    }
    constant = sum_of_two(constant, product_of_two(other.constant, times));
}

index_sum index_sum::moved(value_id variable, std::int64_t by) const {
    index_sum sum = *this;
    for (const term& t : terms)
        if (t.variable == variable) sum.add({none, t.factor, product_of_two(t.coefficient, by)});
    return sum;
}

std::int64_t index_sum::coefficient_of(value_id variable) const {
    const auto at = std::find_if(terms.begin(), terms.end(),
                                 [&](const term& t) { return t.variable == variable && t.factor == none; });
    return at != terms.end() ? at->coefficient : 0;
}

index_sum index_sum::besides(value_id variable) const {
    index_sum sum = *this;
    std::erase_if(sum.terms, [&](const term& t) { return t.variable == variable && t.factor == none; });
    return sum;
}

std::optional<index_sum> index_sum::offset_from(value_id variable) const {
    if (coefficient_of(variable) != 1) return std::nullopt;
    index_sum offset = besides(variable);
    const bool depends = std::any_of(offset.terms.begin(), offset.terms.end(),
                                     [&](const term& t) { return t.variable == variable; });
    return depends ? std::nullopt : std::optional(std::move(offset));
}

bool index_sum::is_multiple_of(std::int64_t divisor) const {
    return std::all_of(terms.begin(), terms.end(),
                       [&](const term& t) { return t.coefficient % divisor == 0; });
}

loop_index::loop_index(const function& f, std::span<const value_id> loops)
    : f_(f), loops_(loops.begin(), loops.end()), varies_(f.code.size(), false) {
    for (const value_id loop : loops_) {
        varies_[loop] = true;
        for (const value_id v : f.blocks[f.code[loop].blocks[0]]) {
            const auto operands = f.operands_of(v);
            varies_[v] =
                !is_arithmetic(f.code[v]) ||
                !std::all_of(operands.begin(), operands.end(), [&](value_id o) { return is_invariant(o); });
        }
    }
}

std::optional<index_sum> loop_index::sum_of(value_id index) const {
    int budget = max_index_operations;
    return sum(index, budget);
}

bool loop_index::is_in_fours(const index_sum& sum) const {
    int budget = max_index_operations;
    return std::all_of(sum.terms.begin(), sum.terms.end(), [&](const index_sum::term& t) {
        return t.coefficient % 4 == 0 || (t.factor != none && is_in_fours(t.factor, budget));
    });
}

/// For 32-bit and 64-bit integers: these wrap, but at a multiple of four.
bool loop_index::is_in_fours(value_id v, int& budget) const {
    const instruction& i = f_.code[v];
    if (--budget < 0) return false;
    if (!i.result.is_scalar() || !is_integer(i.result.element) || size_of(i.result.element) < 4) return false;
    const auto of_operand = [&](std::size_t k) { return is_in_fours(f_.operand(v, k), budget); };
    switch (i.op) {
        case opcode::constant: return i.bits % 4 == 0;
        case opcode::convert: return of_operand(0);
        case opcode::for_: return of_operand(0) && of_operand(2);
        case opcode::builtin: break;
        default: return false;
    }
    switch (static_cast<builtin>(i.detail)) {
        case builtin::mul: return of_operand(0) || of_operand(1);
        case builtin::neg: return of_operand(0);
        case builtin::add:
        case builtin::sub: return of_operand(0) && of_operand(1);
        case builtin::shl: {
            const instruction& count = f_.code[f_.operand(v, 1)];
            return count.op == opcode::constant && count.bits >= 2 &&
                   count.bits < 8 * size_of(i.result.element);
        }
        default: return false;
    }
}

bool loop_index::is_variable(value_id v) const {
    return std::find(loops_.begin(), loops_.end(), v) != loops_.end();
}

std::optional<index_sum> loop_index::sum(value_id v, int& budget) const {
    const instruction& i = f_.code[v];
    if (!is_word_of_64(i.result)) return std::nullopt;
    if (i.op == opcode::convert && --budget > 0 && is_word_of_64(f_.code[f_.operand(v, 0)].result))
        return sum(f_.operand(v, 0), budget);
    std::optional<index_sum> made;
    if (i.op == opcode::constant) {
        made.emplace().constant = number(i);
    } else if (is_variable(v)) {
        made.emplace().add({v, none, 1});
    } else {
        if (--budget > 0 && i.op == opcode::builtin) made = sum_of_builtin(v, budget);
        if (!made && is_invariant(v)) made.emplace().add({none, v, 1});
    }
    return made;
}

std::optional<index_sum> loop_index::sum_of_builtin(value_id v, int& budget) const {
    const auto what = static_cast<builtin>(f_.code[v].detail);
    const bool negates = what == builtin::neg;
    if (what != builtin::add && what != builtin::sub && what != builtin::mul && !negates) return std::nullopt;
    const value_id a = f_.operand(v, 0), b = negates ? a : f_.operand(v, 1);
    if (what == builtin::mul) return product(a, b, budget);
    std::optional<index_sum> made = negates ? index_sum() : sum(a, budget);
    const std::optional<index_sum> other = made ? sum(b, budget) : std::nullopt;
    if (!other) return std::nullopt;
    made->add(*other, what == builtin::add ? 1 : -1);
    return made;
}

std::optional<index_sum> loop_index::product(value_id a, value_id b, int& budget) const {
    const std::optional<index_sum> first = sum(a, budget);
    if (!first) return std::nullopt;
    const std::optional<index_sum> second = sum(b, budget);
    if (!second) return std::nullopt;
    const auto is_constant = [](const index_sum& s) { return s.terms.empty(); };
    const auto is_factor = [](const index_sum& s) {
        return s.terms.size() == 1 && s.terms[0].variable == none && s.constant == 0;
    };
    const index_sum *left = &*first, *right = &*second;
    index_sum made;
    if (is_constant(*left)) std::swap(left, right);
    if (is_constant(*right)) {
        made.add(*left, right->constant);
        return made;
    }
    if (is_factor(*left)) std::swap(left, right);
    if (!is_factor(*right)) return std::nullopt;
    const index_sum::term& factor = right->terms[0];
    for (const index_sum::term& t : left->terms) {
        if (t.factor != none) return std::nullopt;
        made.add({t.variable, factor.factor, product_of_two(t.coefficient, factor.coefficient)});
    }
    made.add({none, factor.factor, product_of_two(left->constant, factor.coefficient)});
    return made;
}

value_id index_values::value_of(const index_sum& sum, builder& to) const {
    value_id made = none;
    for (const index_sum::term& t : sum.terms) {
        const value_id own = product(t, to);
        made = made == none ? own : to.apply(builtin::add, made, own);
    }
    if (made == none || sum.constant != 0) {
        const value_id own = to.constant(static_cast<std::uint64_t>(sum.constant));
        made = made == none ? own : to.apply(builtin::add, made, own);
    }
    return made;
}

value_id index_values::product(const index_sum::term& t, builder& to) const {
    value_id made = t.variable != none ? value_of_variable(t.variable) : none;
    if (t.factor != none) {
        value_id own = hoisted(t.factor, to);
        if (to.type_of(own) != scalar::i64) own = to.make(opcode::convert, scalar::i64, {own});
        made = made == none ? own : to.apply(builtin::mul, made, own);
    }
    if (t.coefficient == 1) return made;
    return to.apply(builtin::mul, made, to.constant(static_cast<std::uint64_t>(t.coefficient)));
}

value_id index_values::value_of_variable(value_id loop) const {
    const auto at = std::find_if(variables_.begin(), variables_.end(),
                                 [&](const variable& each) { return each.loop == loop; });
    return at != variables_.end() ? at->value : loop;
}

/// Loop-invariant values that are computed inside the loops are computed again ahead of them.
value_id index_values::hoisted(value_id v, builder& to) const {
    const bool is_inside = std::any_of(loops_.begin(), loops_.end(), [&](value_id loop) {
        const block& body = f_.blocks[f_.code[loop].blocks[0]];
        return std::find(body.begin(), body.end(), v) != body.end();
    });
    return is_inside ? to.copy(v, [&](value_id o) { return hoisted(o, to); }) : v;
}

}  // namespace balm::ir
