#pragma once
// Comparisons of numbers of any types, and bins of equal width, in exact arithmetic on the host.

#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace balm::test {

/// The order of sorted arrays of mixed types: NaNs are last and equal.
template <class A, class B>
bool is_less_exactly(A a, B b) {
    using number = long double;
    static_assert(std::numeric_limits<number>::digits >= 64, "integers must be exact");
    const auto x = static_cast<number>(a), y = static_cast<number>(b);
    return !std::isnan(x) && (std::isnan(y) || x < y);
}

/// A sum of products of integers below 2^32 and finite doubles, without rounding: digits of 24 bits of a
/// number in units of 2^-1200.
class exact_sum {
public:
    void add(std::int64_t factor, double x) {
        int exponent = 0;
        const auto whole = static_cast<std::int64_t>(std::ldexp(std::frexp(x, &exponent), 53));
        const int position = exponent - 53 + 1200;
        add_at(position, factor * (whole % half));
        add_at(position + half_bits, factor * (whole / half));
    }
    bool is_negative() const {
        std::int64_t carry = 0;
        for (const std::int64_t each : digits_) carry = (each + carry) >> digit_bits;
        return carry < 0;
    }

private:
    static constexpr int digit_bits = 24, half_bits = 26;
    static constexpr std::int64_t half = std::int64_t{1} << half_bits;

    void add_at(int position, std::int64_t value) {
        const std::int64_t sign = value < 0 ? -1 : 1, unit = std::int64_t{1} << position % digit_bits;
        auto k = static_cast<std::size_t>(position / digit_bits);
        for (std::int64_t left = sign * value; left > 0; left >>= digit_bits)
            digits_[k++] += sign * unit * (left & ((1 << digit_bits) - 1));
    }

    std::array<std::int64_t, 112> digits_{};
};

/// The bin of x, of bins of equal width in [low, high); -1 outside.
template <std::floating_point T>
std::int64_t exact_bin(T x, std::size_t bins, T low, T high) {
    if (!(x >= low && x < high)) return -1;
    // Whether x is at least low + k (high - low) / bins.
    const auto count = static_cast<std::int64_t>(bins);
    const auto reaches = [&](std::int64_t k) {
        exact_sum distance;
        distance.add(count, static_cast<double>(x));
        distance.add(k - count, static_cast<double>(low));
        distance.add(-k, static_cast<double>(high));
        return !distance.is_negative();
    };
    std::int64_t bin = 0, end = count;
    while (end - bin > 1) {
        const std::int64_t middle = bin + (end - bin) / 2;
        (reaches(middle) ? bin : end) = middle;
    }
    return bin;
}
template <std::integral T, std::integral L, std::integral H>
std::int64_t exact_bin(T x, std::size_t bins, L low, H high) {
    __extension__ using wide = __int128;
    if (std::cmp_less(x, low) || !std::cmp_less(x, high)) return -1;
    const wide distance = wide{x} - wide{low}, range = wide{high} - wide{low};
    return static_cast<std::int64_t>(distance * static_cast<wide>(bins) / range);
}

}  // namespace balm::test
