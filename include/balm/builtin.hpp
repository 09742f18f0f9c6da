#pragma once
// The operators and built-in functions of the device by name, and the one rule for what types they take
// and give: used when C++ overloads are chosen, when kernels are traced and when expressions are built.

#include <cstddef>
#include <cstdint>

#include "balm/types.hpp"

namespace balm {

/// One row of builtins.def: an operator or a built-in function.
enum class builtin : std::uint16_t {
#define BALM_OPERATOR(id, ...) id,
#define BALM_BUILTIN(id, ...) id,
#include "balm/builtins.def"
    count
};

namespace detail {

/// What a row takes and gives; see builtins.def.
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
    exponent
};

inline constexpr rule rules[] = {
#define BALM_OPERATOR(id, symbol, arity, precedence, rule_) rule::rule_,
#define BALM_BUILTIN(id, arity, rule_, ...) rule::rule_,
#include "balm/builtins.def"
};
constexpr rule rule_of(builtin b) { return rules[static_cast<std::size_t>(b)]; }

/// The types of a row's operands after conversion, and of its result; `nothing` when the row does not take
/// what it was given.
struct resolution {
    scalar first = scalar::nothing;  ///< what the operands are converted to
    scalar last = scalar::nothing;   ///< what the last operand is converted to (a shift count, an exponent)
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
    }
    return refused;
}

/// The same for vectors, lane by lane. Nothing is promoted: all operands are of the vectors' element type, as
/// are shift counts; an exponent is i32.
constexpr resolution resolve_lanes(builtin b, const scalar* operands, std::size_t count) {
    const scalar element = operands[0];
    scalar same[4] = {};
    for (std::size_t k = 0; k < count; ++k) same[k] = element;
    if (rule_of(b) == rule::scale) same[count - 1] = scalar::i32;
    const resolution promoted = resolve(b, same, count);
    const scalar expected = promoted.first == scalar::boolean ? scalar::boolean : promote(element);
    if (promoted.result == scalar::nothing || promoted.first != expected ||
        (expected == scalar::boolean) != (element == scalar::boolean))
        return {};
    return {element, rule_of(b) == rule::scale ? scalar::i32 : element,
            promoted.result == promoted.first ? element : promoted.result};
}

/// The result type of a row; `nothing` when it does not take these operands.
template <class... Scalars>
constexpr scalar result_of(builtin b, Scalars... operands) {
    const scalar list[] = {operands...};
    return resolve(b, list, sizeof...(operands)).result;
}

}  // namespace detail
}  // namespace balm
