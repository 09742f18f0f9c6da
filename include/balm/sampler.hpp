#pragma once
// How an image is sampled between its elements and beyond its edges.

#include <cstdint>

namespace balm {

/// How a sample is computed from the elements around its position.
enum class image_filter : std::uint8_t {
    nearest,  ///< the element that contains the position
    linear    ///< the 2, 4 or 8 elements around it, weighted by distance; floating-point values only
};

/// The elements beyond the edges of an image.
enum class address_mode : std::uint8_t {
    clamp_to_edge,    ///< the element at the edge
    clamp_to_border,  ///< zeros
    repeat,           ///< the image, repeated; with normalised coordinates only
    mirrored_repeat   ///< the image, mirrored every second time; with normalised coordinates only
};

/// The unit of positions.
enum class image_coordinates : std::uint8_t {
    elements,   ///< the first element spans [0, 1), its centre is 0.5
    normalised  ///< the whole image spans [0, 1) in each dimension
};

/// How kernels sample an image: `image.sampled({.filter = balm::image_filter::linear})`. GPUs interpolate
/// with weights of 8 fractional bits (CUDA C++ Programming Guide, Linear Filtering), CPUs with float weights.
struct sampler {
    image_filter filter = image_filter::nearest;
    address_mode address = address_mode::clamp_to_edge;
    image_coordinates coordinates = image_coordinates::elements;
    friend bool operator==(const sampler&, const sampler&) = default;
};

}  // namespace balm
