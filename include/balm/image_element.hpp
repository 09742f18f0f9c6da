#pragma once
// Elements of images: one, two or four numbers of 8, 16 or 32 bits, and normalised integers, which kernels
// see as fractions.

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "balm/device_type.hpp"
#include "balm/short_vector.hpp"
#include "balm/structure.hpp"

namespace balm {

/// An image element whose 8- or 16-bit integers kernels see as fractions: unsigned ones as 0 to 1, signed
/// ones as -1 to 1. The host sees the integers.
///
///     auto photo = device.image<balm::normalised<balm::uchar4>>(height, width);  // Float4 in kernels
template <class E>
struct normalised {
    E value;
};

namespace detail {

/// The host type of an image's element, and whether it is normalised.
template <class T>
struct image_element {
    using host = T;
    static constexpr bool is_normalised = false;
};
template <class E>
struct image_element<normalised<E>> {
    using host = E;
    static constexpr bool is_normalised = true;
};
template <scalar_type T>
struct image_element<T> {
    using host = canonical<T>;
    static constexpr bool is_normalised = false;
};

template <class T>
using image_host = typename image_element<T>::host;

template <class H>
constexpr bool is_image_host() {
    if constexpr (scalar_type<H> || vector_type<H> || std::same_as<H, half>) {
        constexpr scalar s = element_scalar<H>();
        return s != scalar::boolean && size_of(s) <= 4 &&
               (lanes_of<H> == 1 || lanes_of<H> == 2 || lanes_of<H> == 4);
    } else {
        return false;
    }
}
template <class T>
constexpr bool is_image_element() {
    using H = image_host<T>;
    if constexpr (is_image_host<H>())
        return !image_element<T>::is_normalised ||
               (is_integer(element_scalar<H>()) && size_of(element_scalar<H>()) < 4);
    else
        return false;
}

/// The host type of the value that kernels see of an element: float for half and normalised integers.
template <class T>
constexpr auto image_value() {
    using H = image_host<T>;
    constexpr bool as_float = image_element<T>::is_normalised || element_scalar<H>() == scalar::f16;
    if constexpr (!as_float)
        return H{};
    else if constexpr (lanes_of<H> == 1)
        return float{};
    else
        return vec<float, lanes_of<H>>{};
}

}  // namespace detail

/// Valid elements of images: float, half, and integers of 8, 16 and 32 bits; vectors of two and four of
/// these; and balm::normalised integers of 8 and 16 bits.
template <class T>
concept image_element_type = detail::is_image_element<T>();

namespace detail {

/// Refuses invalid elements.
template <class T>
constexpr bool check_image_element() {
    static_assert(image_element_type<T>,
                  "Balm: an image element must be float, half or an integer of 8, 16 or 32 bits, a vector of "
                  "two or four of these, or a balm::normalised integer of 8 or 16 bits");
    return true;
}

/// The type of an image with elements of T and this number of dimensions.
template <image_element_type T>
constexpr trace::type type_of_image(int dimensions) {
    using H = image_host<T>;
    return trace::image_type(trace::type(element_scalar<H>(), static_cast<std::uint8_t>(lanes_of<H>)),
                             dimensions, image_element<T>::is_normalised);
}

}  // namespace detail
}  // namespace balm
