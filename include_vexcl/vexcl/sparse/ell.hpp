#pragma once
// An alias of sparse::matrix under the name of a format. Balm chooses the actual format for the matrix and
// the device.

#include "vexcl/sparse/matrix.hpp"

namespace vex {
namespace sparse {

/// See sparse::matrix.
template <class Val, class Col = int, class Ptr = Col>
using ell = matrix<Val, Col, Ptr>;

}  // namespace sparse
}  // namespace vex
