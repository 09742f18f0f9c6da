#pragma once
// OpenCL's own header, whose types the interface names; the newest version, as the header has it by itself.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif

#include <CL/cl.h>
