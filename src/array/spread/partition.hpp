#pragma once
// How many of a vector's elements each device of a context gets.

#include <cstddef>
#include <span>
#include <vector>

#include "balm/context.hpp"

namespace balm::array {

/// The first element of each device's part, and finally `size`. Parts are in proportion to the weights, in
/// whole blocks of 64 elements. Equal arguments yield equal partitions. A part may be empty.
std::vector<std::size_t> partition(std::size_t size, std::span<const double> weights);

/// Bytes per second that a kernel reads and writes on the device, rounded to steps of 9 %, so that equal
/// devices have equal bandwidths. Measured once, and kept in the kernel cache.
double bandwidth_of(const std::shared_ptr<runtime::device_state>&);

/// The weights of a context's devices: those passed to weighted(), else their bandwidths.
std::vector<double> weights_of(const context&);

}  // namespace balm::array
