#pragma once
// Algorithms under the names of VexCL's header for CLOGS. They are Balm's, on every device.

#include "vexcl/scan.hpp"
#include "vexcl/sort.hpp"

namespace vex {
namespace clogs {

using vex::exclusive_scan;
using vex::sort;
using vex::sort_by_key;

}  // namespace clogs
}  // namespace vex
