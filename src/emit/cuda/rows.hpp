#pragma once
// CUDA's built-ins: the column `cuda` of builtins.def, and the spellings that depend on types.

#include "emit/dialect.hpp"

namespace balm::emit::cuda {

builtin_spelling row(const dialect&, builtin, scalar);

}  // namespace balm::emit::cuda
