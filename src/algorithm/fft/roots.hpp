#pragma once
// Roots of unity, computed on the host: exact but for the rounding to the element type.

#include <cstdint>
#include <vector>

#include "balm/types.hpp"

namespace balm::array {

/// A complex number of the host's widest type.
struct wide_complex {
    long double re = 1, im = 0;
};

/// exp(-2 π i k / n). The angle is reduced to an octant in integers, so that both parts are correct to the
/// last bits of a long double, and numbers that are 0, 1 or equal to each other are so exactly.
wide_complex root_of_unity(std::uint64_t k, std::uint64_t n);

/// The numbers as pairs of an element type (f32 or f64), in their memory layout.
std::vector<std::byte> as_elements(scalar, const std::vector<wide_complex>&);

}  // namespace balm::array
