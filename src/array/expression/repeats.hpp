#pragma once
// Subexpressions that occur again have equal scalars: where they do, each is one argument of the kernel, as
// equal vectors are, so that the subexpression is one value. In: a tape. Out: the numbers of its scalars.

#include <cstdint>

#include "balm/expr.hpp"

namespace balm::array {

/// Numbers, one for each of a tape's vectors: the same vector has the same.
using leaf_numbers = detail::inline_vector<std::uint16_t, 20>;
/// Numbers, one for each scalar or offset of an index in the steps: what is a repetition has that of the
/// first.
using scalar_numbers = detail::inline_vector<std::uint16_t, 4>;

/// Whether a step is a scalar or an offset of an index, which kernels get as an argument.
inline bool is_argument(const step& s) { return s.what == step::kind::scalar || s.what == step::kind::index; }

/// None where nothing repeats: then each has its own.
///
/// A scalar that equals another one is a repetition only where the operations around them are the same as
/// well: `s * x + t * y` remains one kernel, whatever s and t are.
scalar_numbers repeated_scalars(const tape&, const leaf_numbers&);

}  // namespace balm::array
