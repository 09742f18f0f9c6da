#pragma once
// Kernels that the fake devices know by their names. Others leave memory as it is.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace balm::test {

struct known_kernel {
    std::string_view name;
    std::array<std::size_t, 2> parameter_bytes;
    /// Parameters are numbers or addresses.
    void (*run)(std::size_t items, const std::array<std::uint64_t, 2>& parameters);
};

/// Null where no device knows it.
const known_kernel* find_kernel(std::string_view name);

}  // namespace balm::test
