// balm::half on the host: IEEE 754 binary16, section 3.6; conversion rounds once, to the nearest, ties to
// even.

#include <bit>

#include "balm/short_vector.hpp"

namespace balm {

half::half(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    const auto sign = static_cast<std::uint16_t>(f >> 16 & 0x8000);
    const std::uint32_t magnitude = f & 0x7fffffff;
    if (magnitude > 0x7f800000) {  // NaN: quiet, with the highest bits of its payload
        bits = static_cast<std::uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
    } else if (magnitude >= 0x477ff000) {  // 65520 and more round to infinity
        bits = static_cast<std::uint16_t>(sign | 0x7c00);
    } else if (magnitude < 0x38800000) {  // below 2^-14: subnormal; adding 0.5 aligns and rounds the digits
        const float aligned = std::bit_cast<float>(magnitude) + 0.5f;
        bits = static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3f000000));
    } else {
        const std::uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
        bits = static_cast<std::uint16_t>(sign | ((rounded - 0x38000000) >> 13));
    }
}

half::half(double value) {
    constexpr std::uint64_t lost = (std::uint64_t{1} << 29) - 1;  // rounds to odd, as trace::rounded_for_half
    const auto digits = std::bit_cast<std::uint64_t>(value);
    *this = half(static_cast<float>(std::bit_cast<double>((digits | ((digits & lost) + lost)) & ~lost)));
}

half::operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    const std::uint32_t exponent = bits >> 10 & 31, digits = bits & 0x3ff;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | digits << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | digits << 13);
    const float magnitude = static_cast<float>(digits) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
}

}  // namespace balm
