#pragma once
// Subexpressions that repeat have equal scalars. Each such scalar is one argument of the kernel, like equal
// vectors, so that the subexpression is one value. In: a tape. Out: the numbers of its scalars.

#include <cstdint>

#include "balm/expr.hpp"

namespace balm::array {

/// A number for each of a tape's vectors; equal vectors have the same one.
using leaf_numbers = detail::inline_vector<std::uint16_t, 20>;
/// A number for each scalar or offset of an index in the steps; a repetition has that of the first.
using scalar_numbers = detail::inline_vector<std::uint16_t, 4>;

/// Whether a step is a scalar or an offset of an index, which kernels take as an argument.
inline bool is_argument(const step& s) { return s.what == step::kind::scalar || s.what == step::kind::index; }

/// Empty if nothing repeats: then each has its own number.
///
/// A scalar that equals another one is a repetition only if the operations around both are the same, too:
/// `s * x + t * y` remains one kernel, whatever s and t are.
scalar_numbers repeated_scalars(const tape&, const leaf_numbers&);

}  // namespace balm::array
