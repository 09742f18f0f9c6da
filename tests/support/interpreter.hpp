#pragma once
// Executes a kernel of the IR on the host with the oracle's arithmetic: the reference of the random tests.
// Knows nothing of the passes, the printers or any device. The work-items of a group run in lockstep, each
// instruction for all that reach it, so that barriers and sub-groups need no threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "balm/sampler.hpp"
#include "ir/ir.hpp"

namespace balm::test {

/// What a kernel's parameter is bound to: the bits of a scalar, global memory, local memory (of which only
/// the size counts), or an image with its sampler.
struct interpreter_argument {
    std::uint64_t bits = 0;
    std::span<std::byte> memory = {};
    std::array<std::int64_t, 3> extents{1, 1, 1};  ///< of an image, x first
    sampler through = {};
};

struct interpreter_grid {
    std::int64_t global[3] = {1, 1, 1};
    std::int64_t local[3] = {1, 1, 1};
};

/// Runs the kernel for every work-item of the grid, one group after the other. The arguments are those of the
/// parameters, then those of the module's constants (function::given). The indices of grid_range are shared
/// out in strides of the global size. Throws std::runtime_error for what is not interpreted (functions given
/// as text, print, half in memory, images of fractions, built-ins that combine the lanes of a vector), for an
/// access outside of the memory of its address space, for a barrier or sub-group operation that not all
/// work-items reach, and when a kernel does not end.
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
