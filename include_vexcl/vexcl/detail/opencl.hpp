#pragma once
// The OpenCL header, whose types are part of the interface. Targets OpenCL 3.0, which is
// the header's default, but without its warning.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif

#include <CL/cl.h>
