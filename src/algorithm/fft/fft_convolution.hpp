#pragma once
// For tests: how convolutions of two arrays are computed.

#include <cstdint>

namespace balm::array {

enum class convolution_way : std::uint8_t { cheapest, by_sums, by_transforms };
/// From now on all convolutions are computed this way, where it can be.
void force_convolutions(convolution_way);

}  // namespace balm::array
