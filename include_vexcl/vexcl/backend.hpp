#pragma once
// What VexCL keeps of a backend: devices, queues, events, memory of one device, text of kernels, kernels.

#include "vexcl/backend/context.hpp"
#include "vexcl/backend/device_vector.hpp"
#include "vexcl/backend/event.hpp"
#include "vexcl/backend/kernel.hpp"
#include "vexcl/backend/program_header.hpp"
#include "vexcl/backend/source.hpp"
