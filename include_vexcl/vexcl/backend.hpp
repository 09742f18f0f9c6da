#pragma once
// The interface of VexCL's backends: devices, queues, events, memory of one device, and custom kernels.

#include "vexcl/backend/context.hpp"
#include "vexcl/backend/device_vector.hpp"
#include "vexcl/backend/event.hpp"
#include "vexcl/backend/kernel.hpp"
#include "vexcl/backend/program_header.hpp"
#include "vexcl/backend/source.hpp"
