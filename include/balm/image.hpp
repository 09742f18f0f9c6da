#pragma once
// Images: device memory of one to three dimensions that kernels sample, between its elements and beyond its
// edges, by what the hardware has for that.

#include <cstddef>
#include <memory>
#include <utility>

#include "balm/buffer.hpp"
#include "balm/image_element.hpp"
#include "balm/sampler.hpp"

namespace balm {

namespace detail {

memory_part image_allocate(const std::shared_ptr<runtime::device_state>&, const shape&, trace::type image);
/// Throws usage_error where an image of this type cannot be sampled so.
void check_sampler(trace::type image, const sampler&);

}  // namespace detail

/// A box of elements within an image: what `image.region(origin, extents)` gives. It is written, read, copied
/// and filled as an image is. A handle, which keeps the memory.
template <class T>
class image_region : public device_elements<T, access::mixed> {
public:
    /// Use image.region(…).
    explicit image_region(detail::memory_part part) : device_elements<T, access::mixed>(std::move(part)) {}
};

/// An image with the sampler through which a kernel sees it: what `image.sampled(…)` gives, for kernels'
/// Sampled<T, N>. A handle, which keeps the memory.
template <class T, int N>
class sampled_image {
public:
    using value_type = T;
    static constexpr int dimensions = N;

    /// Use image.sampled(…).
    sampled_image(detail::memory_part part, const sampler& through)
        : part_(std::move(part)), sampler_(through) {}

    const detail::memory_part& part() const { return part_; }
    const sampler& through() const { return sampler_; }

private:
    detail::memory_part part_;
    sampler sampler_;
};

/// Elements of T on one device, in N = 1, 2 or 3 dimensions, for kernels that read them by position
/// (InImage), sample them (Sampled) or write them (OutImage). The shape is row by row, as that of buffers:
/// {height, width} of two dimensions, {depth, height, width} of three; a sampler's x runs along a row. Freed
/// as a buffer is; not pooled.
///
/// What buffers can, images can: write, read, copy_to (from and to images, buffers and regions of either),
/// fill, blocking and asynchronous. On the host an element of balm::normalised<E> is an E.
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

    /// Use device.image<T>(…). Throws usage_error where the device has no such images, or none as large, and
    /// out_of_memory_error.
    image(const std::shared_ptr<runtime::device_state>& on, const balm::shape& extents)
        : elements(detail::image_allocate(on, extents, detail::type_of_image<T>(N))) {}

    /// Elements in a row.
    std::size_t width() const { return this->shape()[N - 1]; }
    /// Rows; 1 of one dimension.
    std::size_t height() const { return N < 2 ? 1 : this->shape()[N - 2]; }
    /// Planes; 1 of less than three dimensions.
    std::size_t depth() const { return N < 3 ? 1 : this->shape()[0]; }

    /// A box of `extents` elements whose first is at `origin`, both in the order of the shape: {row, column},
    /// {rows, columns}. Throws usage_error where it is not inside, or has other dimensions.
    image_region<detail::image_host<T>> region(const balm::shape& origin, const balm::shape& extents) const {
        return image_region<detail::image_host<T>>(detail::part_region(this->part(), origin, extents));
    }
    /// The image as a kernel's Sampled<T, N> sees it. Throws usage_error for the two repeating address modes
    /// without normalised coordinates, and for linear filtering of integers that do not count as fractions:
    /// no device has those.
    sampled_image<T, N> sampled(const sampler& through = {}) const {
        detail::check_sampler(detail::type_of_image<T>(N), through);
        return {this->part(), through};
    }

    /// Gives the memory back now, once the commands that use it are done. Every later use, through this
    /// handle or a copy, throws usage_error; twice is once.
    void free() { detail::storage_free(*this->part().memory); }
};

}  // namespace balm
