#pragma once
// The transform of some lines on one device: divides it into passes, finds or traces their kernels, launches
// them.

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

/// What a transform of one dimension does besides.
struct fft_manner {
    bool swaps_in = false, swaps_out = false;  ///< of parts: an inverse transform swaps first and last of all
    long double scale = 1;
};

/// Transforms the elements of a tape, complex or real, into a vector of complex ones. Where that is a single
/// pass, the tape may read elements of the vector in their places only; else any of them.
void transform_lines(const tape&, const fft_lines&, const fft_manner&, vector_state& into);
/// Transforms along one dimension after the other; an inverse transform has no factor but `scale`.
void transform_dimensions(const tape&, std::span<const fft_lines>, bool is_inverse, long double scale,
                          vector_state& into);
/// Whether a single pass does it.
bool is_single_pass(runtime::device_state&, const fft_lines&);
/// The passes in words.
std::string describe_lines(runtime::device_state&, scalar element, const fft_lines&);

/// exp(-2 π i (first + k step) / n) for k below `count`, in the device's memory.
struct root_list {
    std::size_t n, count, step = 1, first = 0;
};
std::shared_ptr<vector_state> root_table(runtime::device_state&, scalar element, const root_list&);

/// The fine half of the bits of numbers below n.
int turn_bits(std::size_t n);
/// exp(-2 π i k / n) for k below 2^turn_bits(n), then for multiples of that: two factors of any root.
std::shared_ptr<vector_state> turn_table(runtime::device_state&, scalar element, std::size_t n);

/// Throws usage_error where the sizes are more than kernels count.
void check_sizes(const fft_lines&);

/// The vector as an expression.
tape of_vector(const std::shared_ptr<vector_state>&);
/// Not owned: it outlives what is done with it.
std::shared_ptr<vector_state> borrowed(vector_state&);

}  // namespace balm::array
