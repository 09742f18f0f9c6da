#pragma once
// How transforms share out work on each kind of device.

#include "algorithm/fft/fft_division.hpp"
#include "algorithm/fft/fft_kernels.hpp"

namespace balm::array {

/// For tests: how transforms on all devices go, whatever the device is.
struct forced_fft {
    fft_shape shape;
    fft_limits limits;
};
/// For tests: from now on transforms go this way; null: each device's own again.
void force_ffts(const forced_fft*);

}  // namespace balm::array
