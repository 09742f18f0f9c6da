#pragma once
// How products of sparse matrices are computed: by Balm, for numbers and short vectors.

namespace vex {
namespace sparse {}
}  // namespace vex
