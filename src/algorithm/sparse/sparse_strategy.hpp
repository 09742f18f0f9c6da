#pragma once
// For tests: which kind of device matrices are stored for.

namespace balm::array {

/// From now on all devices store matrices as GPUs do; false restores each device's own storage.
void force_matrices_of_gpus(bool everywhere);
bool are_matrices_of_gpus();

}  // namespace balm::array
