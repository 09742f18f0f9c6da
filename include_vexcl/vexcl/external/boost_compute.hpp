#pragma once
// Algorithms under the names of VexCL's header for Boost.Compute. They are Balm's, on every device. Where
// Boost.Compute is there, the program has its headers, as from VexCL's.

#if __has_include(<boost/compute.hpp>)
#include <boost/compute.hpp>
#endif

#include "vexcl/scan.hpp"
#include "vexcl/sort.hpp"

namespace vex {
namespace compute {

using vex::exclusive_scan;
using vex::inclusive_scan;
using vex::sort;

}  // namespace compute
}  // namespace vex
