#pragma once
// Matrices over several devices. Every sparse::matrix supports this; VexCL has a separate class for it.

#include "vexcl/sparse/matrix.hpp"

namespace vex {
namespace sparse {

/// See sparse::matrix.
template <class Matrix, class Rhs = typename rhs_of<typename Matrix::val_type>::type>
class distributed : public Matrix {
public:
    using Matrix::Matrix;
};

}  // namespace sparse
}  // namespace vex
