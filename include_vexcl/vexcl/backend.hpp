#pragma once
// What VexCL keeps of a backend: devices, queues, memory of one device, text of kernels, kernels.

#include "vexcl/backend/context.hpp"
#include "vexcl/backend/device_vector.hpp"
