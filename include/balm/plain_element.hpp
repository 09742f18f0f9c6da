#pragma once
// Element types for exchange with other programs: NumPy files, DLPack tensors.

#include <concepts>
#include <cstdint>

#include "balm/complex_value.hpp"
#include "balm/short_vector.hpp"
#include "balm/types.hpp"

namespace balm {

/// Element types that NumPy files and DLPack tensors have: numbers, truth values, half, complex numbers, and
/// short vectors, whose lanes are an additional last dimension.
template <class T>
concept plain_element = scalar_type<T> || complex_type<T> || vector_type<T> || std::same_as<T, half>;

namespace detail {

/// The layout of an element: the kind of its numbers (b, i, u, f, c), their size in bytes, the number of
/// lanes (1 if it is not a short vector), and the number of lanes that memory has room for.
struct element_layout {
    char kind = 'f';
    std::uint8_t bytes = 4;
    std::uint8_t lanes = 1;
    std::uint8_t lanes_in_memory = 1;
};
template <class T>
constexpr element_layout layout_of_number() {
    const auto bytes = static_cast<std::uint8_t>(sizeof(T));
    if constexpr (std::same_as<T, half>)
        return {'f', bytes, 1, 1};
    else if constexpr (complex_type<T>)
        return {'c', bytes, 1, 1};
    else
        return {is_floating(scalar_of<T>)         ? 'f'
                : scalar_of<T> == scalar::boolean ? 'b'
                : is_signed(scalar_of<T>)         ? 'i'
                                                  : 'u',
                bytes, 1, 1};
}
template <plain_element T>
constexpr element_layout layout_of() {
    if constexpr (vector_type<T>) {
        element_layout made = layout_of_number<typename T::value_type>();
        made.lanes = static_cast<std::uint8_t>(T::size());
        made.lanes_in_memory = static_cast<std::uint8_t>(lanes_in_memory(T::size()));
        return made;
    } else {
        return layout_of_number<T>();
    }
}

}  // namespace detail

}  // namespace balm
