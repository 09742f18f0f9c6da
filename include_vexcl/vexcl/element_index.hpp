#pragma once
// The index of each element, as an expression.

#include <cstddef>
#include <cstdint>

#include "vexcl/detail/expression.hpp"
#include "vexcl/operations.hpp"

namespace vex {

/// offset, offset + 1, …, of type std::int64_t. `size` is the number of elements; 0 if other operands or the
/// target determine it.
///
///     x = sin(0.1 * vex::element_index());
inline const expression<std::int64_t> element_index(std::size_t offset = 0, std::size_t size = 0) {
    const auto first = static_cast<std::int64_t>(offset);
    return {size == 0 ? balm::element_index(first) : balm::element_index(first, size), {}};
}

}  // namespace vex
