#pragma once
// Which dimensions a transform runs along.

#include <vector>

#include "algorithm/fft/fft_transform.hpp"
#include "balm/along.hpp"
#include "balm/fft.hpp"

namespace balm::array {

/// The transformed dimensions of more than one element, fastest first; if there is none, one of one element.
/// Throws usage_error for dimensions that do not exist or are named twice.
std::vector<fft_lines> dimensions_of(const shape& box, const dimension_list& over);

/// The same, including dimensions of one element.
std::vector<fft_lines> named_lines(const shape& box, const dimension_list& over);
/// Which dimensions are named; all if `over` names none. Throws usage_error as dimensions_of does.
std::vector<bool> named_dimensions(const shape& box, const dimension_list& over);
/// The last named dimension.
int last_dimension(const shape& box, const dimension_list& over);

/// The dimensions of a transform of real numbers: the last one, of real numbers, and the others, of complex
/// numbers, half as many along the last one.
struct real_dimensions {
    fft_lines real;
    std::vector<fft_lines> others;
};
/// `box`: extents of the complex numbers; `count`: real numbers along the last dimension.
real_dimensions real_dimensions_of(const shape& box, const dimension_list& over, std::size_t count);

/// The factor of a transform along a dimension of this many numbers.
long double factor_of(fft_norm, bool is_inverse, std::size_t count);

/// The box with another extent along one dimension.
shape with_extent(const shape& box, int dimension, std::size_t count);

}  // namespace balm::array
