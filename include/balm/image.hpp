#pragma once
// Images: device memory of one to three dimensions that kernels sample, between its elements and beyond its
// edges, through hardware samplers.

#include <cstddef>
#include <memory>
#include <utility>

#include "balm/buffer.hpp"
#include "balm/image_element.hpp"
#include "balm/sampler.hpp"
#include "balm/shared_state.hpp"

namespace balm {

namespace detail {

memory_part image_allocate(const std::shared_ptr<runtime::device_state>&, const shape&, trace::type image);
/// Throws usage_error if an image of this type does not support the sampler.
void check_sampler(trace::type image, const sampler&);

}  // namespace detail

/// A box of elements within an image, from `image.region(origin, extents)`. It can be written, read, copied
/// and filled like an image. A handle, which keeps the memory alive.
template <class T>
class image_region : public device_elements<T, access::mixed> {
public:
    /// Use image.region(…).
    explicit image_region(detail::memory_part part) : device_elements<T, access::mixed>(std::move(part)) {}
};

/// An image with a sampler, from `image.sampled(…)`: the argument for a kernel's Sampled<T, N>. A handle,
/// which keeps the memory alive.
template <class T, int N>
class sampled_image {
public:
    using value_type = T;
    static constexpr int dimensions = N;

    /// Use image.sampled(…).
    sampled_image(detail::memory_part part, const sampler& through)
        : part_(std::move(part)), sampler_(through) {}

    const detail::memory_part& part() const {
        if (!part_.memory) detail::moved_from(part_.kind);
        return part_;
    }
    const sampler& through() const { return sampler_; }

private:
    detail::memory_part part_;
    sampler sampler_;
};

/// Elements of T on one device, in N = 1, 2 or 3 dimensions, for kernels that read them by position
/// (InImage), sample them (Sampled) or write them (OutImage). The shape is row-major, as for buffers:
/// {height, width} in two dimensions, {depth, height, width} in three; a sampler's x runs along a row. Images
/// are freed like buffers, but not pooled.
///
/// Images support the operations of buffers: write, read, copy_to (from and to images, buffers and regions of
/// either) and fill, blocking and asynchronous. On the host an element of balm::normalised<E> is an E.
///
///     auto photo = device.image<balm::normalised<balm::uchar4>>(height, width);
///     photo.write(pixels);
///     device.execute(blur(photo.sampled({.filter = balm::image_filter::linear}), out), {width, height});
///     balm::host_array<balm::uchar4> tile = photo.region({8, 8}, {4, 4}).read();
template <class T, int N>
class image : public device_elements<detail::image_host<T>, access::mixed> {
    static_assert(detail::check_image_element<T>());
    static_assert(N >= 1 && N <= 3, "Balm: an image has 1, 2 or 3 dimensions");
    using elements = device_elements<detail::image_host<T>, access::mixed>;

public:
    using image_value_type = T;
    static constexpr int dimensions = N;

    /// Use device.image<T>(…). Throws usage_error if the device does not support such images, or none of this
    /// size, and out_of_memory_error.
    image(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : elements(detail::image_allocate(on, extents, detail::type_of_image<T>(N))) {}

    /// The number of elements in a row.
    std::size_t width() const { return this->shape()[N - 1]; }
    /// The number of rows; 1 in one dimension.
    std::size_t height() const { return N < 2 ? 1 : this->shape()[N - 2]; }
    /// The number of planes; 1 in fewer than three dimensions.
    std::size_t depth() const { return N < 3 ? 1 : this->shape()[0]; }

    /// A box of `extents` elements whose first is at `origin`, both in the order of the shape: {row, column},
    /// {rows, columns}. Throws usage_error if it is not inside the image, or if the dimensions differ.
    image_region<detail::image_host<T>> region(const balm::shape& origin, const balm::shape& extents) const {
        return image_region<detail::image_host<T>>(detail::part_region(this->part(), origin, extents));
    }
    /// The image with a sampler, for a kernel's Sampled<T, N>. Throws usage_error for the two repeating
    /// address modes without normalised coordinates, and for linear filtering of integers that are not
    /// normalised: no device supports these.
    sampled_image<T, N> sampled(const sampler& through = {}) const {
        detail::check_sampler(detail::type_of_image<T>(N), through);
        return {this->part(), through};
    }

    /// Frees the memory once the commands that use it have completed. Every later use, through this handle or
    /// a copy, throws usage_error. Freeing it again has no effect.
    void free() { detail::storage_free(*this->part().memory); }
};

}  // namespace balm
