#pragma once
// Products of matrices and vectors: operator* of the matrices.

#include "vexcl/sparse/matrix.hpp"
