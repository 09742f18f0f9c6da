#pragma once
// What atomic operations make of an element.

#include <cstdint>

#include "ir/ir.hpp"

namespace balm::test {

/// An element after an atomic operation with these values, all as bits of the scalar type.
std::uint64_t after_atomic(ir::atomic_op, scalar, std::uint64_t old, std::uint64_t a, std::uint64_t b);

}  // namespace balm::test
