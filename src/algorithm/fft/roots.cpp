#include "algorithm/fft/roots.hpp"

#include <cmath>
#include <cstring>
#include <utility>

namespace balm::array {

wide_complex root_of_unity(std::uint64_t k, std::uint64_t n) {
    constexpr long double two_pi = 6.283185307179586476925286766559005768L;
    k %= n;
    // The angle as a multiple of 2 π / (8 n): reflected until it is at most an eighth of a turn.
    std::uint64_t at = 8 * k;
    const bool is_below = at > 4 * n;  // below the real axis: the conjugate
    if (is_below) at = 8 * n - at;
    const bool is_left = at > 2 * n;
    if (is_left) at = 4 * n - at;
    const bool is_steep = at > n;
    if (is_steep) at = 2 * n - at;
    const long double angle = two_pi * static_cast<long double>(at) / (8 * static_cast<long double>(n));
    long double x = std::cos(angle), y = std::sin(angle);
    if (at == n) y = x;  // the two may differ in their last bit
    if (is_steep) std::swap(x, y);
    if (is_left) x = -x;
    return {x, is_below ? y : -y};
}

namespace {

template <class T>
std::vector<std::byte> rounded(const std::vector<wide_complex>& list) {
    std::vector<T> parts;
    parts.reserve(2 * list.size());
    for (const wide_complex& each : list) {
        parts.push_back(static_cast<T>(each.re));
        parts.push_back(static_cast<T>(each.im));
    }
    std::vector<std::byte> bytes(parts.size() * sizeof(T));
    std::memcpy(bytes.data(), parts.data(), bytes.size());
    return bytes;
}

}  // namespace

std::vector<std::byte> as_elements(scalar element, const std::vector<wide_complex>& list) {
    return element == scalar::f32 ? rounded<float>(list) : rounded<double>(list);
}

}  // namespace balm::array
