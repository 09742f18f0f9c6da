#pragma once
// For tests: how convolutions of two arrays are computed.

#include <cstdint>

namespace balm::array {

enum class convolution_way : std::uint8_t { cheapest, by_sums, by_transforms };
/// Computes all later convolutions this way, if possible.
void force_convolutions(convolution_way);

}  // namespace balm::array
