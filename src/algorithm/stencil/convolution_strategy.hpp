#pragma once
// For tests: how convolutions with weights in memory distribute elements.

namespace balm::array {

/// From now on all devices compute such convolutions as GPUs do; false restores each device's own strategy.
void force_convolutions_of_gpus(bool everywhere);

}  // namespace balm::array
