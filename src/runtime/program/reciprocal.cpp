#include "runtime/program/reciprocal.hpp"

#include <bit>
#include <cstring>

namespace balm::runtime {

namespace {

__extension__ using twice = unsigned __int128;

/// An integer's value, extended to 64 bits.
std::uint64_t extended(std::uint64_t bits, scalar type) {
    const auto unused = static_cast<int>(64 - 8 * size_of(type));
    bits <<= unused;
    return is_signed(type) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> unused)
                           : bits >> unused;
}

}  // namespace

std::uint64_t reciprocal_of(std::uint64_t d, reciprocal_part part) {
    const int log2 = d == 0 ? 0 : std::bit_width(d) - 1, least_power = d == 0 ? 64 : std::bit_width(d - 1);
    switch (part) {
        case reciprocal_part::narrow: return d == 0 ? 0 : ~std::uint64_t{0} / d;
        case reciprocal_part::wide:
            return d == 0 ? 0 : static_cast<std::uint64_t>(((twice{1} << (64 + log2)) - 1) / d);
        case reciprocal_part::wide_shift: return static_cast<std::uint64_t>(log2);
        case reciprocal_part::whole:
            return d == 0 ? 0 : static_cast<std::uint64_t>((((twice{1} << least_power) - d) << 64) / d) + 1;
        case reciprocal_part::whole_shift: return static_cast<std::uint64_t>(least_power);
        case reciprocal_part::none: break;
    }
    return 0;
}

argument reciprocal_argument(const argument& divisor, const parameter_origin& of) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, divisor.bytes.data(), size_of(of.given));  // little-endian hosts
    std::uint64_t d = extended(extended(bits, of.given), of.divides);
    if (is_signed(of.divides) && static_cast<std::int64_t>(d) < 0) d = 0 - d;
    argument made;
    made.set_number(reciprocal_of(d, of.part));
    return made;
}

}  // namespace balm::runtime
