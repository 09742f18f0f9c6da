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

/// Elements from which on devices exchange parts of one array; the first device transforms fewer, which takes
/// less time than the exchange.
std::size_t least_exchanged();
/// For tests: from now on it is so many; 0: the usual number again.
void force_least_exchanged(std::size_t);

}  // namespace balm::array
