#pragma once
// Transforms of real numbers along one dimension whose elements are on several devices.

#include "algorithm/fft/fft_transform.hpp"

namespace balm::array {

/// The first n / 2 + 1 elements of the transforms of n real numbers, n even, along the fastest dimension, by
/// a complex transform of half the size in four steps; times `scale`.
void transform_reals_in_four_steps(const tape&, const fft_lines&, long double scale,
                                   const vector_state& model, vector_state& into);
/// The inverse: n real elements from the first n / 2 + 1 of each transform. `scale` is its only factor.
void transform_back_to_reals_in_four_steps(const tape&, const fft_lines&, long double scale,
                                           const vector_state& model, vector_state& into);

}  // namespace balm::array
