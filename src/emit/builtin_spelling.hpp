#pragma once
// What dialects share in spelling built-ins, and the few operations for which they need a function of ours:
// guarded division, saturating conversion, and what one dialect has and the other has not.

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

/// abs, min, max, clamp: C's languages name them by kind of type.
bool is_named_by_kind(builtin);
/// One of these, but abs of signed integers. `suffix`: of functions on floating types.
builtin_spelling spell_by_kind(builtin, scalar type, const std::string& suffix = {});

/// Whether a column of builtins.def names a helper function.
bool is_helper(std::string_view given);
/// What a column of builtins.def says. `suffix`: behind the row's own name.
builtin_spelling spell_given(const dialect&, std::string_view given, builtin, scalar type,
                             const std::string& suffix = {});

/// Floating point to integer: NaN gives 0, what is out of range the nearest end.
helper_function saturating_conversion(const dialect&, scalar from, scalar to);

/// Integer `div` or `rem` for any divisor: x / 0 is 0, x % 0 is x, the smallest integer / -1 is itself.
helper_function guarded_division(const dialect&, builtin, scalar type);

/// `rint` that asks for the size of its argument first. PoCL 3.1's makes an integer of it before it asks
/// whether that fits: of an argument that is known and does not, nothing is left of the whole kernel.
helper_function guarded_rint(const dialect&, builtin, scalar type);

/// The unsigned integer in which the bits of a value pass: 32 or 64 bits.
scalar word_of(scalar);
/// Function or cast from a value to its word, and back.
std::string word_function(const dialect&, scalar);
std::string value_function(const dialect&, scalar);

}  // namespace balm::emit
