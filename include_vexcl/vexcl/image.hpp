#pragma once
// VexCL's header for images of OpenCL's C++ bindings, which are not supported: use balm::image instead.

#include "vexcl/vector.hpp"
