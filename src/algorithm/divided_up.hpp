#pragma once

#include <cstddef>

namespace balm::array {

/// The quotient, rounded up.
constexpr std::size_t divided_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace balm::array
