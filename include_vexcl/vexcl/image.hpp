#pragma once
// VexCL's header of images: of the C++ bindings of OpenCL, which Balm's headers do without. Programs sample
// images through balm::image.

#include "vexcl/vector.hpp"
