#pragma once
// Queries the properties of a CUDA device, without initialising it.

#include "balm/device_info.hpp"
#include "driver/cuda/driver_api.hpp"

namespace balm::cuda {

device_info query_device(CUdevice);

/// The value of an attribute; zero if the query fails.
int attribute_of(CUdevice, CUdevice_attribute);

}  // namespace balm::cuda
