#include "ir/passes/turns.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "ir/with_type.hpp"

namespace balm::ir {

namespace {

/// LLVM unrolls up to so many turns without knowing their number (UnrollMaxUpperBound).
constexpr std::int64_t few_turns = 8;
/// Of one loop: the operands of sums of sums would be walked again and again.
constexpr int max_operations = 256;

/// A value lies between them. Numbers beyond `far` are not told apart.
struct bounds {
    std::int64_t least, most;

    bool lie_in(bounds whole) const { return whole.least <= least && most <= whole.most; }
    bounds joined(bounds other) const { return {std::min(least, other.least), std::max(most, other.most)}; }
};
constexpr std::int64_t far = std::int64_t{1} << 40;
constexpr bounds anything = {-far, far};
constexpr std::int64_t short_step = 1024;
constexpr bounds told_apart = {1 - far, far - 1};

bounds bounds_of(type t) {
    if (t.is_pointer() || t.is_image() || t.lanes > 1) return anything;
    return with_type(t.element, [](auto id) -> bounds {
        using T = typename decltype(id)::type;
        if constexpr (!std::is_integral_v<T> || sizeof(T) == sizeof far)
            return anything;
        else
            return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
    });
}

bounds constant_bounds(type t, std::uint64_t bits) {
    return with_type(t.element, [&](auto id) -> bounds {
        using T = typename decltype(id)::type;
        if constexpr (!std::is_integral_v<T>)
            return anything;
        else {
            const auto value = static_cast<std::int64_t>(static_cast<T>(bits));
            const bool is_far = value > far || value < (std::is_signed_v<T> ? -far : 0);
            return is_far ? anything : bounds{value, value};
        }
    });
}

bounds product(bounds a, bounds b) {
    constexpr bounds factor = {-(std::int64_t{1} << 31), std::int64_t{1} << 31};
    if (!a.lie_in(factor) || !b.lie_in(factor)) return anything;
    const auto [least, most] =
        std::minmax({a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most});
    return {least, most};
}

std::int64_t magnitude(bounds of) { return std::max(std::abs(of.least), std::abs(of.most)); }

/// Of a row of builtins.def with two operands.
bounds apply(builtin what, bounds a, bounds b) {
    const bool are_counts = a.least >= 0 && b.least >= 0;
    const bool is_shift = b.lie_in({0, 31});
    constexpr std::int64_t one = 1;
    switch (what) {
        case builtin::add: return {a.least + b.least, a.most + b.most};
        case builtin::sub: return {a.least - b.most, a.most - b.least};
        case builtin::mul: return product(a, b);
        case builtin::div: {  // by 0: 0
            if (are_counts && b.least > 0) return {a.least / b.most, a.most / b.least};
            return {are_counts ? 0 : -magnitude(a), magnitude(a)};
        }
        case builtin::rem: {  // by 0: the dividend
            const std::int64_t most = b.least > 0 ? std::min(b.most - 1, magnitude(a)) : magnitude(a);
            return {a.least < 0 ? -most : 0, a.most > 0 ? most : 0};
        }
        case builtin::shl: return is_shift ? product(a, {one << b.least, one << b.most}) : anything;
        case builtin::shr:
            return is_shift ? bounds{a.least >> (a.least < 0 ? b.least : b.most),
                                     a.most >> (a.most < 0 ? b.most : b.least)}
                            : anything;
        case builtin::bit_and:
            if (are_counts) return {0, std::min(a.most, b.most)};
            return a.least >= 0 ? bounds{0, a.most} : b.least >= 0 ? bounds{0, b.most} : anything;
        case builtin::bit_or:
        case builtin::bit_xor: {
            const auto most = static_cast<std::uint64_t>(std::max(a.most, b.most));
            return are_counts ? bounds{0, static_cast<std::int64_t>(std::bit_ceil(most + 1)) - 1} : anything;
        }
        case builtin::min: return {std::min(a.least, b.least), std::min(a.most, b.most)};
        case builtin::max: return {std::max(a.least, b.least), std::max(a.most, b.most)};
        default: return anything;
    }
}

builtin opposite(builtin comparison) {
    switch (comparison) {
        case builtin::less: return builtin::greater_equal;
        case builtin::less_equal: return builtin::greater;
        case builtin::greater: return builtin::less_equal;
        case builtin::greater_equal: return builtin::less;
        case builtin::equal: return builtin::not_equal;
        default: return builtin::equal;
    }
}

class turn_bounds {
public:
    explicit turn_bounds(const function& f) : f_(f) {
        for (value_id v = 0; v < f.code.size(); ++v)
            if (f.code[v].op == opcode::cell)
                written_[v].push_back(f.operand(v, 0));
            else if (f.code[v].op == opcode::write_cell)
                written_[f.operand(v, 0)].push_back(f.operand(v, 1));
    }
    bounds turns(value_id loop) {
        const bounds found =
            f_.code[loop].op == opcode::while_ ? turns_while(f_.operand(loop, 0), true) : counted_turns(loop);
        return {std::max<std::int64_t>(found.least, 0), std::max<std::int64_t>(found.most, 0)};
    }
    /// Whether the variable of a for_ loop may exceed its type's range after the last turn. Steps of 1 and -1
    /// lead to the loop's end.
    bool may_overflow(value_id loop) {
        operations_left_ = max_operations;
        const bounds end = of(f_.operand(loop, 1)), step = of(f_.operand(loop, 2));
        if (step.lie_in({-1, 1}) || takes_years(loop)) return false;
        if (!end.lie_in(told_apart) || !step.lie_in(told_apart)) return true;
        const scalar t = f_.code[loop].result.element;
        if (size_of(t) == 8) return !is_signed(t) && (end.least < 0 || step.least < 0);
        const bounds behind = {end.least + 1 + std::min<std::int64_t>(step.least, 0),
                               end.most - 1 + std::max<std::int64_t>(step.most, 0)};
        return !behind.lie_in(bounds_of(t).joined({0, 0}));
    }

    bounds of_value(value_id v) {
        operations_left_ = max_operations;
        return of(v);
    }

private:
    /// Whether the range's end is too far away to be reached: in 64 bits, by short steps from a number that
    /// is not large (2^53 iterations), or in those of a grid, whose work-items would share 2^63 iterations.
    bool takes_years(value_id loop) {
        if (size_of(f_.code[loop].result.element) < 8) return false;
        const bool is_signed_loop = is_signed(f_.code[loop].result.element);
        const auto is_place = [&](value_id v) {
            const instruction& i = f_.code[v];
            return i.op == opcode::place ||
                   (i.op == opcode::convert && f_.code[f_.operand(v, 0)].op == opcode::place);
        };
        const auto is_within = [&](value_id v, std::int64_t most) {
            return is_place(v) || of(v).lie_in({is_signed_loop ? -most : 0, most});
        };
        return is_within(f_.operand(loop, 0), far - 1) && is_within(f_.operand(loop, 2), short_step);
    }
    bounds counted_turns(value_id loop) {
        const bounds begin = of(f_.operand(loop, 0)), end = of(f_.operand(loop, 1));
        const bounds step = of(f_.operand(loop, 2));
        const auto turns_up = [](bounds from, bounds to, bounds by) -> bounds {
            const auto of_span = [](std::int64_t span, std::int64_t one) { return (span + one - 1) / one; };
            return {of_span(to.least - from.most, by.most), of_span(to.most - from.least, by.least)};
        };
        if (step.least > 0) return turns_up(begin, end, step);
        if (step.most < 0) return turns_up(end, begin, {-step.most, -step.least});
        return anything;
    }
    /// Of a loop that runs while the condition holds, or does not hold.
    bounds turns_while(value_id condition, bool holds) {
        if (--operations_left_ < 0) return anything;
        const instruction& i = f_.code[condition];
        const auto either = [&](value_id v) { return turns_while(v, holds); };
        switch (i.op) {
            case opcode::constant: return (i.bits != 0) == holds ? anything : bounds{0, 0};
            case opcode::logic_and:
            case opcode::logic_or: {
                const bounds a = either(f_.operand(condition, 0)), b = either(f_.operand(condition, 1));
                if ((i.op == opcode::logic_and) == holds) return {0, std::min(a.most, b.most)};
                return {std::max(a.least, b.least), a.most + b.most};
            }
            case opcode::builtin: break;
            default: return anything;
        }
        const auto what = static_cast<builtin>(i.detail);
        if (what == builtin::logical_not) return turns_while(f_.operand(condition, 0), !holds);
        if (info(what).takes != detail::rule::compare) return anything;
        return turns_of(holds ? what : opposite(what), f_.operand(condition, 0), f_.operand(condition, 1));
    }
    /// While a number that changes by 1 or more a turn compares so with another.
    bounds turns_of(builtin comparison, value_id left, value_id right) {
        const bounds a = of(left), b = of(right);
        const bounds up = {b.least - a.most, b.most - a.least}, down = {a.least - b.most, a.most - b.least};
        switch (comparison) {
            case builtin::less: return up;
            case builtin::less_equal: return {up.least + 1, up.most + 1};
            case builtin::greater: return down;
            case builtin::greater_equal: return {down.least + 1, down.most + 1};
            case builtin::not_equal: return up.most > 0 && down.most > 0 ? anything : up.joined(down);
            default: return anything;
        }
    }

    bounds of(value_id v) {
        const bounds whole = bounds_of(f_.code[v].result);
        if (--operations_left_ < 0) return whole;
        const bounds found = computed(v);
        if (f_.code[v].result == type(scalar::i64))
            return {std::clamp(found.least, -far, far), std::clamp(found.most, -far, far)};
        return found.lie_in(whole) ? found : whole;
    }
    bounds computed(value_id v) {
        const instruction& i = f_.code[v];
        if (i.result.lanes > 1) return anything;
        switch (i.op) {
            case opcode::constant: return constant_bounds(i.result, i.bits);
            case opcode::convert: return of(f_.operand(v, 0));
            case opcode::select: return of(f_.operand(v, 1)).joined(of(f_.operand(v, 2)));
            case opcode::parameter:
                return f_.parameters[i.bits].is_small ? bounds{0, std::numeric_limits<std::int32_t>::max()}
                                                      : bounds_of(i.result);
            case opcode::grid_for: return {0, of(f_.operand(v, 0)).most};
            case opcode::for_: return of(f_.operand(v, 0)).joined(of(f_.operand(v, 1)));
            case opcode::read_cell: return of_cell(f_.operand(v, 0));
            case opcode::builtin:
                if (i.operand_count == 2)
                    return applied(v, static_cast<builtin>(i.detail), of(f_.operand(v, 0)),
                                   of(f_.operand(v, 1)));
                break;
            default: break;
        }
        return anything;
    }
    /// Large u64 have negative bounds, which only sums and products take for numbers modulo 2^64.
    bounds applied(value_id v, builtin what, bounds a, bounds b) const {
        const bool may_be_large = f_.code[v].result == type(scalar::u64) && (a.least < 0 || b.least < 0);
        switch (what) {
            case builtin::add:
            case builtin::sub:
            case builtin::mul:
            case builtin::shl:
            case builtin::bit_and: return apply(what, a, b);
            case builtin::rem:
                if (may_be_large) return b.least > 0 ? bounds{0, b.most - 1} : anything;
                return apply(what, a, b);
            default: return may_be_large ? anything : apply(what, a, b);
        }
    }
    /// Of what a variable is given, besides what is computed from the variable itself, as a loop's counter
    /// is.
    bounds of_cell(value_id cell) {
        if (std::find(inside_.begin(), inside_.end(), cell) != inside_.end()) {
            meets_itself_ = true;
            return anything;
        }
        inside_.push_back(cell);
        const bool before = std::exchange(meets_itself_, false);
        bounds all = {far, -far};
        for (value_id written : written_[cell]) {
            const bounds found = of(written);
            if (!std::exchange(meets_itself_, false)) all = all.joined(found);
        }
        meets_itself_ = before;
        inside_.pop_back();
        return all.least <= all.most ? all : anything;
    }

    const function& f_;
    std::map<value_id, std::vector<value_id>> written_;  ///< to variables
    std::vector<value_id> inside_;                       ///< variables that are being looked at
    bool meets_itself_ = false;
    int operations_left_ = max_operations;
};

}  // namespace

bool lies_in(const function& f, value_id v, std::int64_t least, std::int64_t most) {
    return turn_bounds(f).of_value(v).lie_in({least, most});
}

void mark_overflowing_loops(function& f) {
    const auto is_loop = [](const instruction& i) { return i.op == opcode::for_; };
    if (std::none_of(f.code.begin(), f.code.end(), is_loop)) return;
    turn_bounds of(f);
    for (value_id v = 0; v < f.code.size(); ++v)
        if (is_loop(f.code[v])) f.code[v].bits = of.may_overflow(v) ? 1 : 0;
}

bool may_become_branches(const function& f, value_id loop) {
    if (f.code[loop].op == opcode::grid_for) return false;
    const bounds turns = turn_bounds(f).turns(loop);
    return turns.least < turns.most && turns.most <= few_turns;
}

}  // namespace balm::ir
