// What a shape refuses, and why.

#include "balm/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "balm/error.hpp"

namespace balm {

shape::shape(std::span<const std::size_t> sizes) : dimensions_(static_cast<int>(sizes.size())) {
    if (sizes.empty() || sizes.size() > max_dimensions)
        throw usage_error(fmt::format("An array of {} dimensions is asked for; it has one to {}.",
                                      sizes.size(), max_dimensions));
    std::copy(sizes.begin(), sizes.end(), sizes_.begin());
    check();
}

void shape::refuse() const {
    // What is beyond the signed numbers was one of them, most likely.
    std::string text;
    bool is_negative = false;
    for (int d = 0; d < dimensions_; ++d) {
        const auto size = static_cast<std::int64_t>((*this)[d]);
        is_negative = is_negative || size < 0;
        text += fmt::format("{}{}", d == 0 ? "" : " x ", size);
    }
    throw usage_error(fmt::format("An array of {} elements is asked for; {}.", text,
                                  is_negative ? "a size cannot be negative"
                                              : "the product of these sizes is above 2^62, more than any "
                                                "memory holds: did a size overflow?"));
}

strides::strides(std::span<const std::int64_t> each) : dimensions_(static_cast<int>(each.size())) {
    if (each.empty() || each.size() > shape::max_dimensions)
        throw usage_error(fmt::format("Strides of {} dimensions are given; an array has one to {}.",
                                      each.size(), shape::max_dimensions));
    std::copy(each.begin(), each.end(), each_.begin());
}

std::string to_string(const shape& of) {
    std::string text = fmt::format("{}", of[0]);
    for (int i = 1; i < of.dimensions(); ++i) text += fmt::format(" x {}", of[i]);
    return text;
}

std::size_t detail::bytes_of(const shape& extents, std::size_t element_size) {
    const std::optional<std::size_t> bytes = checked_product(extents.count(), element_size);
    if (!bytes || *bytes > SIZE_MAX / 2)
        throw usage_error(
            fmt::format("An array of {} elements of {} bytes is asked for; that is 2^63 bytes or more, which "
                        "no memory holds: did a size overflow?",
                        to_string(extents), element_size));
    return *bytes;
}

}  // namespace balm
