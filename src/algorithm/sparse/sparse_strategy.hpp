#pragma once
// For tests: which devices' storage matrices get.

namespace balm::array {

/// From now on matrices on all devices are stored as on GPUs, or as suits each device again.
void force_matrices_of_gpus(bool everywhere);
bool are_matrices_of_gpus();

}  // namespace balm::array
