#pragma once
// How an image is looked at between its elements and beyond its edges.

#include <cstdint>

namespace balm {

/// What is taken of the elements around the place that is asked for.
enum class image_filter : std::uint8_t {
    nearest,  ///< the element in which the place lies
    linear    ///< the 2, 4 or 8 elements around it, weighed by their distance; floating values only
};

/// What lies beyond an image's edges.
enum class address_mode : std::uint8_t {
    clamp_to_edge,    ///< the element at the edge
    clamp_to_border,  ///< zeros
    repeat,           ///< the image again; with normalised coordinates only
    mirrored_repeat   ///< the image again, turned round each second time; with normalised coordinates only
};

/// What places are counted in.
enum class image_coordinates : std::uint8_t {
    elements,   ///< the first element is [0, 1), its centre 0.5
    normalised  ///< the whole image is [0, 1), in each dimension
};

/// How kernels see an image: `image.sampled({.filter = balm::image_filter::linear})`. GPUs weigh elements
/// with 8 bits of fraction (CUDA C++ Programming Guide, Linear Filtering); CPUs with those of float.
struct sampler {
    image_filter filter = image_filter::nearest;
    address_mode address = address_mode::clamp_to_edge;
    image_coordinates coordinates = image_coordinates::elements;
    friend bool operator==(const sampler&, const sampler&) = default;
};

}  // namespace balm
