#pragma once
// The names of VexCL's header for Boost.Compute, implemented by Balm's algorithms on every device. Includes
// the headers of Boost.Compute if they are installed, as VexCL's header does.

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
