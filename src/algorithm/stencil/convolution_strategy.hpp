#pragma once
// For tests: how convolutions with weights in memory share out elements.

namespace balm::array {

/// From now on such convolutions on all devices are those of GPUs, or each device's own again.
void force_convolutions_of_gpus(bool everywhere);

}  // namespace balm::array
