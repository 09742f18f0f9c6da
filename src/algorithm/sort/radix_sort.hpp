#pragma once
// Sorts vectors on their device by the digits of their keys.

#include <cstddef>

#include "algorithm/sort/sort_key.hpp"
#include "array/vector_state.hpp"

namespace balm::array {

/// Sorts keys, with values that move with them unless null, in place, and keeps the order of equal keys.
/// Keys are scalars, values of 1, 2, 4 or 8 bytes; both are on one device.
void radix_sort(vector_state& keys, bool is_descending, vector_state* values);
/// The same within each of the rows, which are of `row` elements.
void radix_sort_rows(vector_state& keys, bool is_descending, vector_state* values, std::size_t row);
/// Whether the device sorts rows of so many elements.
bool can_sort_rows(runtime::device_state&, std::size_t row);

/// Whether values of so many bytes move with keys.
constexpr bool can_move_with_keys(std::size_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace balm::array
