#pragma once
// VexCL's interface over Balm: a program for VexCL includes this header and links balm::vexcl.

#include "vexcl/backend.hpp"
#include "vexcl/cast.hpp"
#include "vexcl/devlist.hpp"
#include "vexcl/element_index.hpp"
#include "vexcl/function.hpp"
#include "vexcl/operations.hpp"
#include "vexcl/types.hpp"
#include "vexcl/util.hpp"
#include "vexcl/vector.hpp"
#include "vexcl/vector_pointer.hpp"
