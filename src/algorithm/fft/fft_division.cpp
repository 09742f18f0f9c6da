#include "algorithm/fft/fft_division.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace balm::array {

namespace {

/// Calls give(list) with every non-increasing list of `count` divisors in [2, most] whose product is n.
template <class Give>
void for_each_product(std::size_t n, std::size_t most, std::size_t count, std::vector<std::size_t>& list,
                      Give& give) {
    if (count == 0) {
        if (n == 1) give(list);
        return;
    }
    const std::size_t before = list.empty() ? most : list.back();
    for (std::size_t d = std::min(before, n); d >= 2; --d) {
        if (n % d != 0) continue;
        list.push_back(d);
        for_each_product(n / d, most, count - 1, list, give);
        list.pop_back();
        // Smaller divisors cannot reach n either.
        if (std::pow(static_cast<double>(d), static_cast<double>(count)) < static_cast<double>(n)) break;
    }
}

/// Of the lists with the fewest divisors, the one with the smallest sum.
std::vector<std::size_t> fewest_divisors(std::size_t n, std::size_t most, std::size_t most_count) {
    if (n == 1) return {1};
    std::vector<std::size_t> best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (std::size_t count = 1; count <= most_count && best.empty(); ++count) {
        std::vector<std::size_t> list;
        const auto give = [&](const std::vector<std::size_t>& found) {
            const std::size_t sum = std::accumulate(found.begin(), found.end(), std::size_t{0});
            if (sum >= least) return;
            least = sum;
            best = found;
        };
        for_each_product(n, most, count, list, give);
    }
    return best;
}

std::size_t largest_prime_of(std::size_t n) {
    std::size_t largest = 1;
    for (std::size_t p = 2; p * p <= n; ++p)
        for (; n % p == 0; n /= p) largest = p;
    return n > 1 ? n : largest;
}

constexpr std::size_t largest_prime = 13;
constexpr std::size_t most_passes = 6, most_stages = 12;

}  // namespace

std::vector<int> radices_of(std::size_t length, int most) {
    const std::size_t largest = std::max(static_cast<std::size_t>(most), largest_prime_of(length));
    const std::vector<std::size_t> found = fewest_divisors(length, largest, most_stages);
    return {found.begin(), found.end()};
}

std::vector<std::size_t> pass_lengths(std::size_t n, const fft_limits& limits) {
    if (largest_prime_of(n) > largest_prime) return {};
    if (n <= limits.alone) return {n};
    return fewest_divisors(n, limits.together, most_passes);
}

std::size_t quick_length(std::size_t least, const fft_limits& limits) {
    std::size_t best = std::bit_ceil(least);
    for (const std::size_t odd : {3u, 5u, 7u, 9u, 15u, 21u, 25u, 27u, 35u, 45u}) {
        const std::size_t length = odd * std::bit_ceil((least + odd - 1) / odd);
        // Powers of two may have up to an eighth more elements.
        if (length + length / 8 < best &&
            pass_lengths(length, limits).size() <= pass_lengths(best, limits).size())
            best = length;
    }
    return best;
}

std::size_t convolution_length(std::size_t n, const fft_limits& limits) {
    return quick_length(2 * n - 1, limits);
}

}  // namespace balm::array
