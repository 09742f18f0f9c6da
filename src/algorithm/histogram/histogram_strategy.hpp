#pragma once
// For tests: how histograms divide the elements.

namespace balm::array {

/// Computes all later histograms as on GPUs if `everywhere`, else as each device does by itself.
void force_histograms_of_gpus(bool everywhere);

}  // namespace balm::array
