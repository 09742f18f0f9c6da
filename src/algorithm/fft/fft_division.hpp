#pragma once
// How a transform is divided: into passes over memory, and each pass into stages in registers. Nothing here
// depends on what is transformed.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace balm::array {

/// What a device holds of a transform at once.
struct fft_limits {
    std::size_t alone = 4096;     ///< the longest transform that one pass does
    std::size_t together = 1024;  ///< the longest one of several passes
    int registers = 16;           ///< numbers that a work-item transforms in registers, at most
};

/// The radices of the stages of a pass, of which each is at most `most` or prime: as few as possible, and of
/// those the least in sum.
std::vector<int> radices_of(std::size_t length, int most);

/// The lengths of the passes that do a transform of n: as few as possible, and of about one length. Nothing,
/// where n has a prime factor that no stage does.
std::vector<std::size_t> pass_lengths(std::size_t n, const fft_limits&);

/// A length of at least so many elements whose transform is quick.
std::size_t quick_length(std::size_t least, const fft_limits&);
/// The length of the cyclic convolution that does a transform of n (Bluestein): at least 2 n - 1, and quick.
std::size_t convolution_length(std::size_t n, const fft_limits&);

}  // namespace balm::array
