#pragma once
// Transforms lines on one device: divides the transform into passes, finds or traces their kernels, and
// launches them.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "array/layout.hpp"

namespace balm::array {

/// A transform along a dimension of `count` elements, of arrays of outer * count * inner elements.
struct fft_lines {
    std::size_t outer, count, inner;
    std::size_t size() const { return outer * count * inner; }
};

/// Options of a transform along one dimension.
struct fft_manner {
    bool swaps_in = false, swaps_out = false;  ///< of parts; an inverse transform swaps first and last
    long double scale = 1;
};

/// Transforms the elements of a tape, complex or real, into a complex vector. The tape may read the vector:
/// any of its elements or, if the transform is a single pass, only those at the same positions.
void transform_lines(const tape&, const fft_lines&, const fft_manner&, vector_state& into);
/// Transforms along one dimension after the other; `scale` is the only factor, even of an inverse transform.
void transform_dimensions(const tape&, std::span<const fft_lines>, bool is_inverse, long double scale,
                          vector_state& into);
/// Whether the transform is a single pass.
bool is_single_pass(runtime::device_state&, const fft_lines&);
/// A description of the passes.
std::string describe_lines(runtime::device_state&, scalar element, const fft_lines&);

/// exp(-2 π i (first + k step) / n) for k below `count`, in the device's memory.
struct root_list {
    std::size_t n, count, step = 1, first = 0;
};
std::shared_ptr<vector_state> root_table(runtime::device_state&, scalar element, const root_list&);

/// Half of the bits of numbers below n, rounded up: those of the fine factor.
int turn_bits(std::size_t n);
/// exp(-2 π i k / n) for k below 2^turn_bits(n), then for multiples of that: any root is a product of two.
std::shared_ptr<vector_state> turn_table(runtime::device_state&, scalar element, std::size_t n);

/// Throws usage_error if count * inner exceeds 2^30.
void check_sizes(const fft_lines&);

/// The vector as an expression.
tape of_vector(const std::shared_ptr<vector_state>&);
/// A handle that does not own the vector, which must outlive it.
std::shared_ptr<vector_state> borrowed(vector_state&);

}  // namespace balm::array
