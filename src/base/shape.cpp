// Checks of shapes and strides, and their messages.

#include "balm/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ostream>

#include "balm/error.hpp"
#include "balm/host_array.hpp"

namespace balm {

shape::shape(std::span<const std::size_t> sizes) : dimensions_(static_cast<int>(sizes.size())) {
    if (sizes.empty() || sizes.size() > max_dimensions)
        throw usage_error(
            fmt::format("An array of {} dimensions was requested; an array has 1 to {} dimensions.",
                        sizes.size(), max_dimensions));
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    check();
}

void shape::refuse() const {
    // A size beyond the signed numbers was most likely negative.
    std::string text;
    bool is_negative = false;
    for (int d = 0; d < dimensions_; ++d) {
        const auto size = static_cast<std::int64_t>((*this)[d]);
        is_negative = is_negative || size < 0;
        text += fmt::format("{}{}", d == 0 ? "" : " x ", size);
    }
    throw usage_error(
        fmt::format("An array of {} elements was requested; {}.", text,
                    is_negative ? "a size cannot be negative"
                                : "the product of these sizes exceeds 2^62; a size may have overflowed"));
}

strides::strides(std::span<const std::int64_t> each) : dimensions_(static_cast<int>(each.size())) {
    if (each.empty() || each.size() > shape::max_dimensions)
        throw usage_error(
            fmt::format("Strides for {} dimensions were given; an array has 1 to {} dimensions.", each.size(),
                        shape::max_dimensions));
    std::copy(each.begin(), each.end(), each_.begin());
}

std::string to_string(const shape& of) {
    std::string text = fmt::format("{}", of[0]);
    for (int i = 1; i < of.dimensions(); ++i) text += fmt::format(" x {}", of[i]);
    return text;
}

std::ostream& operator<<(std::ostream& to, const shape& of) { return to << to_string(of); }

void detail::check_mdspan(const shape& of, std::span<const std::size_t> sizes) {
    bool fits = static_cast<std::size_t>(of.dimensions()) == sizes.size();
    std::string wanted;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const bool is_free = sizes[d] == SIZE_MAX;
        fits = fits && (is_free || sizes[d] == of[static_cast<int>(d)]);
        wanted += fmt::format("{}{}", d == 0 ? "" : " x ", is_free ? "?" : std::to_string(sizes[d]));
    }
    if (!fits)
        throw usage_error(fmt::format(
            "A host array of {} elements cannot be viewed as an mdspan of {}; the shapes must match.",
            to_string(of), wanted));
}

std::size_t detail::bytes_of(const shape& extents, std::size_t element_size) {
    const std::optional<std::size_t> bytes = checked_product(extents.count(), element_size);
    if (!bytes || *bytes > SIZE_MAX / 2)
        throw usage_error(
            fmt::format("An array of {} elements of {} bytes was requested; that is 2^63 bytes or more: did "
                        "a size overflow?",
                        to_string(extents), element_size));
    return *bytes;
}

}  // namespace balm
