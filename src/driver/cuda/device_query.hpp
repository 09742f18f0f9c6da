#pragma once
// Takes a CUDA device, gives what Balm knows of it. Nothing is started on it.

#include "balm/device_info.hpp"
#include "driver/cuda/driver_api.hpp"

namespace balm::cuda {

device_info query_device(CUdevice);

/// An attribute's value, zero where the driver does not answer.
int attribute_of(CUdevice, CUdevice_attribute);

}  // namespace balm::cuda
