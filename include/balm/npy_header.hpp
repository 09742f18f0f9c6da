#pragma once
// What the header of a .npy file says of its array.

#include <cstdint>
#include <string>

#include "balm/function_ref.hpp"
#include "balm/shape.hpp"

namespace balm {

/// The order of an array's elements in a file: C's, the last index fastest, or Fortran's, the first one.
enum class npy_order : std::uint8_t { rows, columns };

/// What the header of a .npy file says.
struct npy_header {
    /// The type as NumPy writes it: "<f4" are 32-bit floating-point numbers, little-endian.
    std::string type;
    /// The array's dimensions. An array of none, which is one element, has one here.
    shape extents;
    npy_order order = npy_order::rows;
};

namespace detail {
/// Makes the array that is read, of these extents, and returns its elements.
using npy_place = function_ref<void*(const shape&)>;
}  // namespace detail

}  // namespace balm
