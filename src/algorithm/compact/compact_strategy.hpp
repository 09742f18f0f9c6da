#pragma once
// For tests: how compactions share out elements.

#include "algorithm/scan/scan_strategy.hpp"

namespace balm::array {

/// From now on compactions on all devices go this way; null: each device's own again.
void force_compactions(const forced_scan*);

}  // namespace balm::array
