#pragma once
// Products of matrices and vectors are operator* of sparse::matrix.

#include "vexcl/sparse/matrix.hpp"
