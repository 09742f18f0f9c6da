#pragma once
// How a dialect spells types, built-ins, and the few operations for which it needs a function of ours:
// guarded division, saturating conversion, and what one dialect has and the other has not.

#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

/// A function printed ahead of the kernels that need it.
struct helper_function {
    std::string name;
    std::string text;
};

struct builtin_spelling {
    std::string pattern;                   ///< with $0, $1 … for the operands
    bool is_call = true;                   ///< else an expression whose operands bind as in a call's place
    std::vector<helper_function> helpers;  ///< that the pattern uses
};

/// The pattern with its operands in place.
std::string substitute(std::string_view pattern, const std::vector<std::string>& operands);

/// "a, b, c"
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");

/// "float", "unsigned long long" (CUDA), "double8" (OpenCL).
std::string type_name(runtime::dialect, scalar, int lanes = 1);

/// A helper function of the dialect, with its linkage.
helper_function make_helper(runtime::dialect, const std::string& name, const std::string& result,
                            const std::string& parameters, const std::string& body);

/// A built-in (no operator) on operands of this type.
builtin_spelling spell(runtime::dialect, builtin, scalar type);

/// Floating point to integer: NaN gives 0, what is out of range the nearest end.
helper_function saturating_conversion(runtime::dialect, scalar from, scalar to);

/// Integer `div` or `rem` for any divisor: x / 0 is 0, x % 0 is x, the smallest integer / -1 is itself.
helper_function guarded_division(runtime::dialect, builtin, scalar type);

/// The whole product of two u32, for compilers that take PTX.
helper_function wide_product(runtime::dialect);

/// The square root of an f32 between 2^-100 and 2^126, for compilers that take PTX. Rounds correctly.
helper_function root_of_normal(runtime::dialect);

}  // namespace balm::emit
