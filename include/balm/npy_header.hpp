#pragma once
// The header of a .npy file, which describes its array.

#include <cstdint>
#include <string>

#include "balm/function_ref.hpp"
#include "balm/shape.hpp"

namespace balm {

/// The order of an array's elements in a file: C order, in which the last index varies fastest, or Fortran
/// order, in which the first one does.
enum class npy_order : std::uint8_t { rows, columns };

/// The header of a .npy file.
struct npy_header {
    /// The type as the file has it: "<f4" is a little-endian 32-bit floating-point number, and
    /// "[('mass', '<f4'), ('pos', '<f8', (3,))]" a structure.
    std::string type;
    /// The extents of the array. A zero-dimensional array, which is one element, has one dimension here.
    shape extents;
    npy_order order = npy_order::rows;
};

namespace detail {
/// Allocates the array to be read, of these extents, and returns its elements.
using npy_place = function_ref<void*(const shape&)>;
}  // namespace detail

}  // namespace balm
