// Images: which of them devices support, and how their elements are laid out. Their transfers are those of
// regions (buffer.cpp).

#include "balm/image.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "balm/error.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::detail {

namespace {

using runtime::image_description;

std::string words_of(const image_description& d) {
    const char* kind = is_floating(d.element) ? "floating-point numbers"
                       : d.is_normalised      ? (is_signed(d.element) ? "signed normalised integers"
                                                                      : "unsigned normalised integers")
                       : is_signed(d.element) ? "signed integers"
                                              : "unsigned integers";
    return fmt::format("images of {} dimension{} whose elements are {} {} of {} bits", d.dimensions,
                       d.dimensions == 1 ? "" : "s", +d.lanes, kind, 8 * size_of(d.element));
}

image_description describe(const shape& extents, trace::type image) {
    image_description d;
    d.element = image.element;
    d.lanes = image.lanes;
    d.is_normalised = is_normalised(image);
    d.dimensions = static_cast<std::uint8_t>(image_dimensions(image));
    if (extents.dimensions() != d.dimensions)
        throw usage_error(fmt::format(
            "An image of {} dimension{} was requested with the shape {}, which has {}.", d.dimensions,
            d.dimensions == 1 ? "" : "s", to_string(extents), extents.dimensions()));
    for (int k = 0; k < d.dimensions; ++k)
        d.size[static_cast<std::size_t>(k)] = extents[d.dimensions - 1 - k];
    return d;
}

void check_size(const image_description& d, const shape& extents, const runtime::device_state& device) {
    const image_limits& limits = device.info().images;
    std::array<std::size_t, 3> most{limits.size_1d, 1, 1};
    if (d.dimensions == 2) most = {limits.size_2d[0], limits.size_2d[1], 1};
    if (d.dimensions == 3) most = limits.size_3d;
    for (std::size_t k = 0; k < d.dimensions; ++k)
        if (d.size[k] == 0 || d.size[k] > most[k])
            throw usage_error(
                fmt::format("An image of {} elements was requested on {}, which supports a {} of 1 to {} for "
                            "images of {} dimension{}. Use a smaller image, several images, or a buffer.",
                            to_string(extents), device.words(),
                            k == 0   ? "width"
                            : k == 1 ? "height"
                                     : "depth",
                            most[k], d.dimensions, d.dimensions == 1 ? "" : "s"));
}

}  // namespace

memory_part image_allocate(const std::shared_ptr<runtime::device_state>& on, const shape& extents,
                           trace::type image) {
    const image_description d = describe(extents, image);
    if (!on->info().has_images)
        throw usage_error(
            fmt::format("An image was requested on {}, which does not support images; use a buffer, or "
                        "choose a device with balm::filter::images.",
                        on->words()));
    check_size(d, extents, *on);
    if (!on->driver().has_images_of(d))
        throw usage_error(
            fmt::format("{} does not support {}; use vectors of four (except signed normalised integers), "
                        "which every device supports, or a buffer.",
                        on->words(), words_of(d)));
    memory_part part;
    part.memory = on->allocate_image(d, {"an image", extents, d.element_bytes()});
    part.element_size = d.element_bytes();
    part.extents = extents;
    part.row_pitch = d.size[0] * d.element_bytes();
    part.plane_pitch = part.row_pitch * d.size[1];
    part.kind = "an image";
    return part;
}

void check_sampler(trace::type image, const sampler& s) {
    const bool repeats = s.address == address_mode::repeat || s.address == address_mode::mirrored_repeat;
    if (repeats && s.coordinates != image_coordinates::normalised)
        throw usage_error(
            "An image is sampled with a repeating address mode and coordinates in elements, which no device "
            "supports; give the sampler .coordinates = balm::image_coordinates::normalised, or another "
            ".address.");
    if (s.filter == image_filter::linear && !is_floating(value_of_image(image).element))
        throw usage_error(
            fmt::format("An image of integers ({}) is sampled with linear filtering, which no device "
                        "supports; use balm::normalised<…> or float elements, or give the sampler .filter = "
                        "balm::image_filter::nearest.",
                        to_string(image.element)));
}

}  // namespace balm::detail
