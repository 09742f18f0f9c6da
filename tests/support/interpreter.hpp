#pragma once
// Executes a kernel of the IR on the host, one work-item after the other, with the oracle's arithmetic: the
// reference of the random-program test. Knows nothing of the passes, the printers or any device.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ir/ir.hpp"

namespace balm::test {

/// What a kernel's parameter is bound to: the value's bits, or memory.
struct interpreter_argument {
    std::uint64_t bits = 0;
    std::span<std::byte> memory;
};

struct interpreter_grid {
    std::int64_t global[3] = {1, 1, 1};
    std::int64_t local[3] = {1, 1, 1};
};

/// Runs the kernel for every work-item of the grid. The indices of grid_range are shared out in strides of
/// the global size. Throws std::runtime_error for what it does not know (barriers, local memory), for an
/// access out of range, and when a work-item does not end.
void interpret(const ir::function& kernel, const interpreter_grid&, std::span<const interpreter_argument>);

/// An argument that is a host value, or a vector's memory.
template <scalar_type T>
interpreter_argument value_of(T value) {
    interpreter_argument made;
    static_assert(sizeof value <= sizeof made.bits);
    __builtin_memcpy(&made.bits, &value, sizeof value);  // little-endian, as all hosts of Balm
    return made;
}
template <class T>
interpreter_argument memory_of(std::vector<T>& elements) {
    return {0, std::as_writable_bytes(std::span(elements))};
}

}  // namespace balm::test
