#pragma once
// The operators and built-in functions of the device, and the one rule for their operand and result types,
// which C++ overload resolution, the tracing of kernels and the building of expressions share.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "balm/types.hpp"

namespace balm {

/// apply(symbol, row) for each binary operator: `BALM_BINARY_OPERATORS(define)`.
#define BALM_BINARY_OPERATORS(apply)                                                                    \
    apply(+, add) apply(-, sub) apply(*, mul) apply(/, div) apply(%, rem) apply(<<, shl) apply(>>, shr) \
        apply(&, bit_and) apply(|, bit_or) apply(^, bit_xor) apply(<, less) apply(>, greater)           \
            apply(<=, less_equal) apply(>=, greater_equal) apply(==, equal) apply(!=, not_equal)
/// The same for each compound assignment.
#define BALM_COMPOUND_ASSIGNMENTS(apply)                                                          \
    apply(+=, add) apply(-=, sub) apply(*=, mul) apply(/=, div) apply(%=, rem) apply(&=, bit_and) \
        apply(|=, bit_or) apply(^=, bit_xor) apply(<<=, shl) apply(>>=, shr)

/// Define a template that applies a row by apply<row>(…): a binary operator, or a function of one to three
/// operands. The macros BALM_OPERAND and BALM_OPERANDS name the concepts of one operand and of several.
#define BALM_APPLY_OPERATOR(symbol, id)                                      \
    template <class L, class R>                                              \
    requires BALM_OPERANDS<L, R>                                             \
    auto operator symbol(L&& l, R&& r) {                                     \
        return apply<builtin::id>(static_cast<L&&>(l), static_cast<R&&>(r)); \
    }
#define BALM_APPLY_1(id)                                \
    template <BALM_OPERAND A>                           \
    auto id(A&& a) {                                    \
        return apply<builtin::id>(static_cast<A&&>(a)); \
    }
#define BALM_APPLY_2(id)         \
    template <class A, class B>  \
    requires BALM_OPERANDS<A, B> \
    auto id(A&& a, B&& b) { return apply<builtin::id>(static_cast<A&&>(a), static_cast<B&&>(b)); }
#define BALM_APPLY_3(id)                                                                          \
    template <class A, class B, class C>                                                          \
    requires BALM_OPERANDS<A, B, C>                                                               \
    auto id(A&& a, B&& b, C&& c) {                                                                \
        return apply<builtin::id>(static_cast<A&&>(a), static_cast<B&&>(b), static_cast<C&&>(c)); \
    }

/// One row of builtins.def: an operator or a built-in function.
enum class builtin : std::uint16_t {
#define BALM_OPERATOR(id, ...) id,
#define BALM_BUILTIN(id, ...) id,
#include "balm/builtins.def"
    count
};

namespace detail {

/// The operand and result types of a row; see builtins.def.
enum class rule : std::uint8_t {
    number,
    integer,
    shift,
    bits,
    logic,
    compare,
    floating,
    predicate,
    scale,
    exponent,
    same,
    whole,
    distance,
    upsample,
    word,
    single,
    payload,
    to_f32,
    to_f64,
    bits_i32,
    bits_u32,
    bits_i64,
    bits_u64,
    bits_f32,
    bits_f64
};

inline constexpr rule rules[] = {
#define BALM_OPERATOR(id, symbol, arity, precedence, rule_) rule::rule_,
#define BALM_BUILTIN(id, arity, rule_, ...) rule::rule_,
#include "balm/builtins.def"
};
constexpr rule rule_of(builtin b) { return rules[static_cast<std::size_t>(b)]; }

/// Whether a row keeps i8 … u16 if all its operands have the same type, as OpenCL's integer functions do;
/// operators promote them to i32, as C++ does.
constexpr bool keeps_small_integers(builtin b) {
    const rule r = rule_of(b);
    return r == rule::same || r == rule::whole || r == rule::distance || r == rule::upsample;
}
/// The type of a host scalar as an operand of a row, once it has adopted the type `entering`.
constexpr scalar weak_operand(builtin b, scalar entering) {
    return keeps_small_integers(b) || entering == scalar::boolean ? entering : promote(entering);
}
/// Whether a row operates on bits, not on numbers: a host constant such as 0x80000000u is then a bit pattern.
constexpr bool takes_bit_patterns(builtin b) {
    return rule_of(b) == rule::bits || b == builtin::bit_not || b == builtin::bitselect;
}

/// An operand as the rules see it, in kernels and in array expressions.
struct operand_type {
    scalar type;           ///< of a device value, an array's elements or a vector's lanes; else the host type
    bool is_weak = false;  ///< a host scalar: adopts the type of the operand beside it, within its kind
};

/// The common type of the operands that are not weak; `nothing` if all are.
constexpr scalar strong_type(std::initializer_list<operand_type> operands) {
    scalar strong = scalar::nothing;
    for (const operand_type& each : operands) {
        if (each.is_weak || each.type == scalar::nothing || each.type == strong) continue;
        strong = strong == scalar::nothing ? each.type : common_scalar(strong, each.type);
    }
    return strong;
}
/// The type that an operand takes beside operands of the strong type.
constexpr scalar entering_type(operand_type o, scalar strong) {
    const bool adapts = o.is_weak && strong != scalar::nothing && kind_of(o.type) <= kind_of(strong);
    return adapts ? strong : o.type;
}
/// The same for an operand of a row, which mostly promotes small integers to i32: `Char x; x + 200` is
/// computed as in C++.
constexpr scalar entering_type(builtin b, operand_type o, scalar strong) {
    const scalar entering = entering_type(o, strong);
    return o.is_weak ? weak_operand(b, entering) : entering;
}
/// The type of `condition ? a : b`, from the types of its branches.
constexpr scalar chosen_type(scalar a, scalar b) { return a == b ? a : common_scalar(a, b); }

/// Whether a host constant exceeds the range of the signed type that it adopts: `Int x; x > 3000000000u`
/// would compare with a negative number.
template <class T, class H>
constexpr bool wraps_as([[maybe_unused]] H value) {
    if constexpr (std::signed_integral<T> && std::integral<H> && sizeof(H) >= sizeof(T))
        return value > H{0} &&
               static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    else
        return false;
}

/// The unsigned integer of the same width, and the integer twice as wide.
constexpr scalar unsigned_of(scalar s) {
    return is_integer(s) && is_signed(s) ? static_cast<scalar>(static_cast<int>(s) + 1) : s;
}
constexpr scalar doubled(scalar s) { return static_cast<scalar>(static_cast<int>(s) + 2); }
/// The result type of the bits_ rules.
constexpr scalar reinterpreted(rule r) {
    constexpr scalar results[] = {scalar::i32, scalar::u32, scalar::i64,
                                  scalar::u64, scalar::f32, scalar::f64};
    return results[static_cast<int>(r) - static_cast<int>(rule::bits_i32)];
}

/// The types of a row's operands after conversion, and of its result; `nothing` if the row does not accept
/// the operands.
struct resolution {
    scalar first = scalar::nothing;  ///< type of the operands
    scalar last = scalar::nothing;   ///< type of the last operand (a shift count, an exponent)
    scalar result = scalar::nothing;
};

constexpr resolution resolve(builtin b, const scalar* operands, std::size_t count) {
    scalar common = operands[0];
    for (std::size_t k = 1; k < count; ++k)
        common =
            common == operands[k] && common == scalar::boolean ? common : common_scalar(common, operands[k]);
    const bool all_boolean = common == scalar::boolean;
    const scalar number = promote(common);
    const scalar floating = is_floating(common) ? common : scalar::f64;
    const scalar left = promote(operands[0]);
    const scalar right = promote(operands[count - 1]);
    bool all_same = operands[0] != scalar::boolean;
    for (std::size_t k = 1; k < count; ++k) all_same = all_same && operands[k] == operands[0];
    const scalar kept = all_same ? operands[0] : number;
    const resolution refused{};
    switch (rule_of(b)) {
        case rule::number: return {number, number, number};
        case rule::integer: return is_floating(common) ? refused : resolution{number, number, number};
        case rule::shift:
            return is_floating(left) || is_floating(right) ? refused : resolution{left, right, left};
        case rule::bits:
            return all_boolean           ? resolution{common, common, common}
                   : is_floating(common) ? refused
                                         : resolution{number, number, number};
        case rule::logic: return {scalar::boolean, scalar::boolean, scalar::boolean};
        case rule::compare:
            return all_boolean ? resolution{common, common, scalar::boolean}
                               : resolution{number, number, scalar::boolean};
        case rule::floating: return {floating, floating, floating};
        case rule::predicate: return {floating, floating, scalar::boolean};
        case rule::scale: {
            const scalar base = is_floating(operands[0]) ? operands[0] : scalar::f64;
            return is_floating(right) ? refused : resolution{base, scalar::i32, base};
        }
        case rule::exponent: return {floating, floating, scalar::i32};
        case rule::same: return {kept, kept, kept};
        case rule::whole: return is_floating(kept) ? refused : resolution{kept, kept, kept};
        case rule::distance: return is_floating(kept) ? refused : resolution{kept, kept, unsigned_of(kept)};
        case rule::upsample: {
            const bool fits = is_integer(operands[0]) && is_integer(operands[1]) &&
                              size_of(operands[0]) == size_of(operands[1]) && size_of(operands[0]) < 8;
            return fits ? resolution{operands[0], unsigned_of(operands[0]), doubled(operands[0])} : refused;
        }
        case rule::word:
            return is_integer(number) && size_of(number) == 4 ? resolution{number, number, number} : refused;
        case rule::single: return common == scalar::f32 ? resolution{common, common, common} : refused;
        case rule::payload: {
            const scalar code = unsigned_of(number);
            const scalar result = code == scalar::u32 ? scalar::f32 : scalar::f64;
            return is_floating(number) ? refused : resolution{code, code, result};
        }
        case rule::to_f32: return {number, number, scalar::f32};
        case rule::to_f64: return {number, number, scalar::f64};
        case rule::bits_i32:
        case rule::bits_u32:
        case rule::bits_i64:
        case rule::bits_u64:
        case rule::bits_f32:
        case rule::bits_f64: {
            const scalar result = reinterpreted(rule_of(b));
            return size_of(operands[0]) == size_of(result) ? resolution{operands[0], operands[0], result}
                                                           : refused;
        }
    }
    return refused;
}

/// The type of operand k of a row on vectors of this element type: the same for all but exponents and the
/// low halves of upsample.
constexpr scalar lane_operand(builtin b, scalar element, std::size_t k, std::size_t count) {
    if (k + 1 < count || count == 1) return element;
    return rule_of(b) == rule::scale      ? scalar::i32
           : rule_of(b) == rule::upsample ? unsigned_of(element)
                                          : element;
}
/// The same for vectors, lane by lane: nothing is promoted.
constexpr resolution resolve_lanes(builtin b, const scalar* operands, std::size_t count) {
    const scalar element = operands[0];
    scalar same[4] = {};
    for (std::size_t k = 0; k < count; ++k) same[k] = lane_operand(b, element, k, count);
    const resolution promoted = resolve(b, same, count);
    const bool is_kept =
        keeps_small_integers(b) || rule_of(b) == rule::word || promoted.first == scalar::boolean;
    if (promoted.result == scalar::nothing || promoted.first != (is_kept ? element : promote(element)) ||
        (element == scalar::boolean && promoted.first != element))
        return {};
    return {element, same[count - 1], promoted.result == promoted.first ? element : promoted.result};
}

/// The result type of a row; `nothing` if it does not accept these operands.
template <class... Scalars>
constexpr scalar result_of(builtin b, Scalars... operands) {
    const scalar list[] = {operands...};
    return resolve(b, list, sizeof...(operands)).result;
}

}  // namespace detail
}  // namespace balm
