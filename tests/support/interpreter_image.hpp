#pragma once
// Reads and writes elements of images as OpenCL 1.2, section 8.2 defines it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "balm/device_type.hpp"
#include "balm/sampler.hpp"

namespace balm::test {

/// An image that a kernel is given. Its elements are scalars or vectors of 32-bit numbers, x fastest.
struct interpreter_image {
    trace::type what;
    std::span<std::byte> memory;
    std::array<std::int64_t, 3> extents;
    sampler through;
};

using image_position = std::array<std::int64_t, 3>;

/// The element at a position: zeros beyond the edges.
void read_image(const interpreter_image&, const image_position&, std::span<std::uint64_t> lanes);
/// What its sampler makes of coordinates. Throws std::runtime_error for a linear filter of integers.
void sample_image(const interpreter_image&, const std::array<float, 3>&, std::span<std::uint64_t> lanes);
/// Does nothing beyond the edges.
void write_image(const interpreter_image&, const image_position&, std::span<const std::uint64_t> lanes);

}  // namespace balm::test
