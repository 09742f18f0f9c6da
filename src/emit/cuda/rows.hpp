#pragma once
// CUDA's built-ins: the column `cuda` of builtins.def, and what depends on types.

#include "emit/dialect.hpp"

namespace balm::emit::cuda {

builtin_spelling row(const dialect&, builtin, scalar);

}  // namespace balm::emit::cuda
