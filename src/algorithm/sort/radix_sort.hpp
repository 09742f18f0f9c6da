#pragma once
// Sorts vectors on one device by the digits of their keys.

#include <cstddef>

#include "algorithm/sort/sort_key.hpp"
#include "array/vector_state.hpp"

namespace balm::array {

/// Sorts keys in place; values, unless null, move with them. Equal keys keep their order. Keys are scalars,
/// values have 1, 2, 4 or 8 bytes; both are on one device.
void radix_sort(vector_state& keys, bool is_descending, vector_state* values);
/// The same within each row of `row` elements.
void radix_sort_rows(vector_state& keys, bool is_descending, vector_state* values, std::size_t row);
/// Whether the device can sort rows of `row` elements.
bool can_sort_rows(runtime::device_state&, std::size_t row);

/// Whether values of this size can move with keys.
constexpr bool can_move_with_keys(std::size_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace balm::array
