#pragma once
// A kernel with its arguments, ready to be launched: what `mat_mult(2, a, b, r)` gives and execute() takes.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace balm::ir {
struct function;
}
namespace balm::runtime {
class storage;
}

namespace balm {

/// One argument, bound to a parameter of the same position.
struct bound_argument {
    enum class kind : std::uint8_t { value, memory, local };
    kind what = kind::value;
    std::uint32_t size = 0;                         ///< bytes of the value, or of local memory
    std::uint32_t alignment = 1;                    ///< of local memory
    alignas(16) std::array<std::byte, 16> bytes{};  ///< the value
    std::shared_ptr<runtime::storage> memory;
    std::shared_ptr<const std::vector<std::byte>> long_value;  ///< a value that does not fit into `bytes`
};

/// A kernel with its arguments, of any number of dimensions.
struct bound_call {
    std::shared_ptr<const ir::function> function;
    std::vector<bound_argument> arguments;
};

/// A kernel of N dimensions with its arguments.
template <int N>
struct bound_kernel : bound_call {};

/// A size for each of N dimensions, the fastest-varying first: `{width, height}`.
template <int N>
using extent = std::array<std::size_t, static_cast<std::size_t>(N)>;

/// Where a grid of N dimensions begins; made by `balm::offset(…)`, never from braces, which are sizes.
template <int N>
struct grid_offset {
    grid_offset() {}  // NOLINT(modernize-use-equals-default): = default would allow braces
    std::array<std::int64_t, static_cast<std::size_t>(N)> start{};
};
/// Lets a grid begin elsewhere than at 0: global_id runs from here, group_id and local_id from 0.
///
///     device.execute(kernel(a), {64, 64}, balm::offset(8, 0), written);
template <std::integral... Starts>
grid_offset<static_cast<int>(sizeof...(Starts))> offset(Starts... start) {
    grid_offset<static_cast<int>(sizeof...(Starts))> made;
    made.start = {static_cast<std::int64_t>(start)...};
    return made;
}

}  // namespace balm
