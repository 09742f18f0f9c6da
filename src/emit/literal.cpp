// Infinities and NaNs, which have no literals, are printed as bits. The smallest integers have no positive
// counterpart to negate.

#include "emit/literal.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace balm::emit {

namespace {

text number(std::string digits, const char* suffix, bool negative) {
    if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    return {digits + suffix, negative ? int(unary) : int(primary)};
}

text integer(const dialect& language, scalar s, std::uint64_t bits) {
    const std::size_t width = 8 * size_of(s);
    const bool negative = is_signed(s) && (bits >> (width - 1) & 1);
    const std::string cast = size_of(s) < 4 ? "(" + type_name(language, s, 1) + ")" : "";
    const std::string suffix = std::string(is_signed(s) || width < 32 ? "" : "u") +
                               (width == 64 ? std::string(language.say.long_suffix) : "");
    if (!negative) return {cast + std::to_string(bits) + suffix, cast.empty() ? int(primary) : int(unary)};
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - width);
    const std::uint64_t magnitude = ((~bits & ones) + 1) & ones;
    if (width >= 32 && magnitude == (std::uint64_t{1} << (width - 1)))
        return {fmt::format("(-{}{} - 1)", magnitude - 1, suffix), primary};
    return {cast + "-" + std::to_string(magnitude) + suffix, unary};
}

}  // namespace

text literal(const dialect& language, scalar s, std::uint64_t bits) {
    const words& say = language.say;
    if (s == scalar::boolean) return {bits ? "true" : "false", primary};
    if (s == scalar::f32) {
        const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        if (!std::isfinite(x))
            return {fmt::format("{}0x{:x}{}", say.f32_bits, static_cast<std::uint32_t>(bits), say.f32_end),
                    primary};
        return number(fmt::format("{}", x), "f", std::signbit(x));
    }
    if (s == scalar::f64) {
        const double x = std::bit_cast<double>(bits);
        if (!std::isfinite(x)) return {fmt::format("{}0x{:x}{}", say.f64_bits, bits, say.f64_end), primary};
        return number(fmt::format("{}", x), "", std::signbit(x));
    }
    if (s == scalar::nothing) return {"0", primary};  // the null pointer
    return integer(language, s, bits);
}

std::string largest(const dialect& d, scalar type) {
    const std::size_t bits = 8 * size_of(type);
    const std::uint64_t value = ~std::uint64_t{0} >> (64 - bits + (is_signed(type) ? 1 : 0));
    const std::string_view wide = bits < 64 ? "" : d.say.long_suffix;
    return fmt::format("{}{}{}", value, is_signed(type) ? "" : "u", wide);
}
std::string smallest(const dialect& d, scalar type) {
    return is_signed(type) ? fmt::format("(-{} - 1)", largest(d, type)) : "0";
}

}  // namespace balm::emit
