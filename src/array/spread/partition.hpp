#pragma once
// How many of a vector's elements each device of a context gets.

#include <cstddef>
#include <span>
#include <vector>

#include "balm/context.hpp"

namespace balm::array {

/// Where each device's elements begin, and how many there are at the end: in proportion to the weights, in
/// whole blocks of 64 elements. The same for equal arguments. A device may have none.
std::vector<std::size_t> partition(std::size_t size, std::span<const double> weights);

/// Bytes that a kernel reads and writes in a second on the device, in steps of 9 %, so that equal devices
/// have equal numbers. Measured once, and kept in the cache of kernels.
double bandwidth_of(const std::shared_ptr<runtime::device_state>&);

/// The weights of a context's devices: those it was given, else their bandwidths.
std::vector<double> weights_of(const context&);

}  // namespace balm::array
