#pragma once
// The host's arithmetic for random array programs: C++'s conversions and operators on numbers that know how
// far they may be off.

#include <cstddef>
#include <vector>

#include "balm/builtin.hpp"
#include "balm/types.hpp"

namespace balm::test {

__extension__ using real = __float128;

/// What an element is known to be: within `error` of `value`; without an error the very number, a zero's sign
/// included, an infinity, or a NaN of whatever bits. Not known where the language leaves the result open
/// (signed overflow), or where a rounding error decides.
struct number {
    real value = 0;
    real error = 0;
    bool is_known = true;

    static number unknown() { return {0, 0, false}; }
    static number truth(bool b) { return {b ? real(1) : real(0), 0, true}; }
    /// What may be as far from zero, which has either sign.
    static number either_zero(real error);
    static number not_a_number();
    static number infinity();
    bool is_nan() const { return value != value; }
    bool is_finite() const;
};

/// The nearest number of a floating type to one within `error` of `value`.
number rounded(scalar type, real value, real error);
/// C++'s conversion; floating to integer saturates.
number converted(scalar to, scalar from, const number&);
/// The nearest end of the range for integers beyond it, too.
number saturated(scalar to, scalar from, const number&);
/// The bits as a type of the same size.
number reinterpreted(scalar to, scalar from, const number&);
/// A row of builtins.def on operands of one type (of shifts the count may be of another integer type).
number computed(builtin row, scalar type, const number* operands);

/// C++'s integral promotions and usual arithmetic conversions.
scalar promoted(scalar);
scalar common_type(scalar, scalar);

/// What a row takes and gives.
enum class row_class { number, integer, bits, shift, compare, floating, same, whole, predicate, logic };
struct row_rule {
    builtin row;
    const char* name;  ///< of an operator its symbol
    int arity;
    row_class takes;
    int weight;
    bool mixes;  ///< whether operands of different types are drawn
};
const std::vector<row_rule>& row_rules();
const row_rule& rule_for(builtin);
/// The type to which a row's operands are converted, and that of its result.
scalar operand_type(const row_rule&, scalar first, scalar second);
scalar result_type(const row_rule&, scalar operands);

}  // namespace balm::test
