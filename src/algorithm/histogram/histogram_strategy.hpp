#pragma once
// For tests: how histograms share out elements.

namespace balm::array {

/// From now on histograms on all devices are those of GPUs, or each device's own again.
void force_histograms_of_gpus(bool everywhere);

}  // namespace balm::array
