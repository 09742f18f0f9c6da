#pragma once
// How transforms divide the work on each kind of device.

#include "algorithm/fft/fft_division.hpp"
#include "algorithm/fft/fft_kernels.hpp"

namespace balm::array {

/// For tests: how transforms are computed, whatever the device is.
struct forced_fft {
    fft_shape shape;
    fft_limits limits;
};
/// For tests: computes all later transforms this way; null: as each device does by itself.
void force_ffts(const forced_fft*);

/// The number of elements from which on devices exchange parts of one array. The first device transforms
/// smaller arrays, which takes less time than the exchange.
std::size_t least_exchanged();
/// For tests: sets this number; 0 restores it.
void force_least_exchanged(std::size_t);

}  // namespace balm::array
