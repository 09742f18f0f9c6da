#pragma once
// Spellings of built-ins that dialects share, and helper functions for the operations that need one: guarded
// division, saturating conversion, and built-ins that a dialect lacks.

#include <string>
#include <string_view>
#include <vector>

#include "emit/dialect.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

/// The pattern with its operands in place.
std::string substitute(std::string_view pattern, const std::vector<std::string>& operands);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

/// Whether it is abs, min, max or clamp, which C dialects name by the kind of type.
bool is_named_by_kind(builtin);
/// Spells one of these, except abs of signed integers. `suffix` is that of functions on floating types.
builtin_spelling spell_by_kind(builtin, scalar type, const std::string& suffix = {});

/// Whether a column of builtins.def names a helper function.
bool is_helper(std::string_view given);
/// The spelling in a column of builtins.def. `suffix` is appended to the row's own name.
builtin_spelling spell_given(const dialect&, std::string_view given, builtin, scalar type,
                             const std::string& suffix = {});

/// Converts floating point to an integer: NaN to 0, values out of range to the nearest end of the range.
helper_function saturating_conversion(const dialect&, scalar from, scalar to);

/// Integer `div` or `rem` for any divisor: x / 0 is 0, x % 0 is x, the smallest integer / -1 is itself.
helper_function guarded_division(const dialect&, builtin, scalar type);

/// `rint` that checks the size of its argument first. PoCL 3.1's converts it to an integer before it checks
/// whether that fits: if the argument is a constant that does not, nothing is left of the whole kernel.
helper_function guarded_rint(const dialect&, builtin, scalar type);

/// The unsigned integer, of 32 or 64 bits, that holds the bits of a value.
scalar word_of(scalar);
/// Function or cast from a value to its word, and back.
std::string word_function(const dialect&, scalar);
std::string value_function(const dialect&, scalar);

}  // namespace balm::emit
