#pragma once
// How a transform is divided: into passes over memory, and each pass into stages in registers. Nothing here
// depends on what is transformed.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace balm::array {

/// How much of a transform a device holds at once.
struct fft_limits {
    std::size_t alone = 4096;     ///< the longest transform in one pass
    std::size_t together = 1024;  ///< the longest one in each of several passes
    int registers = 16;           ///< the most numbers that a work-item transforms in registers
};

/// The radices of the stages of a pass, each at most `most` or prime: as few as possible, with the smallest
/// sum.
std::vector<int> radices_of(std::size_t length, int most);

/// The lengths of the passes of a transform of n: as few as possible, and similar. Empty if n has a prime
/// factor that no stage supports.
std::vector<std::size_t> pass_lengths(std::size_t n, const fft_limits&);

/// A length of at least `least` whose transform is fast.
std::size_t quick_length(std::size_t least, const fft_limits&);
/// The length of the cyclic convolution that computes a transform of n (Bluestein): at least 2 n - 1, and
/// fast.
std::size_t convolution_length(std::size_t n, const fft_limits&);

}  // namespace balm::array
