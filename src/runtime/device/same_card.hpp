#pragma once
// Whether two devices are one piece of hardware, which drivers of several backends offer.

#include "balm/device_info.hpp"

namespace balm::runtime {

/// Whether these are the same card seen through two backends.
bool is_same_card(const device_info&, const device_info&);

}  // namespace balm::runtime
