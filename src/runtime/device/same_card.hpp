#pragma once
// Whether two devices are the same hardware, offered by the drivers of two backends.

#include "balm/device_info.hpp"

namespace balm::runtime {

/// Whether these are the same card, seen through two backends.
bool is_same_card(const device_info&, const device_info&);

}  // namespace balm::runtime
