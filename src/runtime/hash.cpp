// In: bytes, text and numbers, a field at a time. Out: a 128-bit fingerprint. It is MurmurHash3_x64_128
// (Austin Appleby, SMHasher, MurmurHash3.cpp, public domain), made incremental; names follow that source.

#include "runtime/hash.hpp"

#include <algorithm>
#include <bit>

namespace balm::runtime {
namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5u;
constexpr std::uint64_t c2 = 0x4cf5ad432745937fu;

// Little-endian on every machine: a cache directory may be shared between kinds of machines.
std::uint64_t load64(const std::byte* from) noexcept {
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i) value = (value << 8) | std::to_integer<std::uint64_t>(from[i]);
    return value;
}

std::uint64_t scramble_low(std::uint64_t k) noexcept { return std::rotl(k * c1, 31) * c2; }

std::uint64_t scramble_high(std::uint64_t k) noexcept { return std::rotl(k * c2, 33) * c1; }

std::uint64_t fmix64(std::uint64_t k) noexcept {
    k ^= k >> 33;
    k *= 0xff51afd7ed558ccdu;
    k ^= k >> 33;
    k *= 0xc4ceb9fe1a85ec53u;
    k ^= k >> 33;
    return k;
}

std::optional<std::uint64_t> parse_hex64(std::string_view digits) noexcept {
    std::uint64_t value = 0;
    for (char digit : digits) {
        if (digit >= '0' && digit <= '9') {
            value = value * 16 + static_cast<std::uint64_t>(digit - '0');
        } else if (digit >= 'a' && digit <= 'f') {
            value = value * 16 + static_cast<std::uint64_t>(digit - 'a' + 10);
        } else {
            return std::nullopt;
        }
    }
    return value;
}

}  // namespace

std::string to_hex(const hash128& value) {
    std::string text(32, '0');
    for (std::size_t i = 0; i < 16; ++i) {
        text[i] = "0123456789abcdef"[(value.high >> (60 - 4 * i)) & 15u];
        text[16 + i] = "0123456789abcdef"[(value.low >> (60 - 4 * i)) & 15u];
    }
    return text;
}

std::optional<hash128> hash_from_hex(std::string_view text) noexcept {
    if (text.size() != 32) return std::nullopt;
    auto high = parse_hex64(text.substr(0, 16));
    auto low = parse_hex64(text.substr(16));
    if (!high || !low) return std::nullopt;
    return hash128{*low, *high};
}

hash128 hash_bytes(std::span<const std::byte> bytes, std::uint32_t seed) noexcept {
    hasher whole(seed);
    whole.append(bytes);
    return whole.result();
}

hasher& hasher::bytes(std::span<const std::byte> field) noexcept {
    std::array<std::byte, 8> length;
    for (std::size_t i = 0; i < length.size(); ++i) {
        length[i] = static_cast<std::byte>(std::uint64_t{field.size()} >> (8 * i));
    }
    append(length);
    append(field);
    return *this;
}

hasher& hasher::text(std::string_view field) noexcept {
    return bytes(std::as_bytes(std::span(field.data(), field.size())));
}

hasher& hasher::number(std::uint64_t field) noexcept {
    if (length_ % pending_.size() == 0) {  // its length and its digits are one block
        length_ += pending_.size();
        mix(8, field);
        return *this;
    }
    std::array<std::byte, 8> digits;
    for (std::size_t i = 0; i < digits.size(); ++i) digits[i] = static_cast<std::byte>(field >> (8 * i));
    return bytes(digits);
}

void hasher::append(std::span<const std::byte> raw) noexcept {
    const std::size_t held = length_ % pending_.size();
    length_ += raw.size();
    if (held != 0) {
        const std::size_t taken = std::min(pending_.size() - held, raw.size());
        std::copy_n(raw.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
        raw = raw.subspan(taken);
        if (held + taken < pending_.size()) return;
        mix_block(pending_.data());
    }
    for (; raw.size() >= pending_.size(); raw = raw.subspan(pending_.size())) mix_block(raw.data());
    std::copy(raw.begin(), raw.end(), pending_.begin());
}

void hasher::mix_block(const std::byte* block) noexcept { mix(load64(block), load64(block + 8)); }

void hasher::mix(std::uint64_t k1, std::uint64_t k2) noexcept {
    low_ ^= scramble_low(k1);
    low_ = (std::rotl(low_, 27) + high_) * 5 + 0x52dce729u;
    high_ ^= scramble_high(k2);
    high_ = (std::rotl(high_, 31) + low_) * 5 + 0x38495ab5u;
}

hash128 hasher::result() const noexcept {
    std::array<std::byte, 16> tail{};
    std::copy_n(pending_.begin(), length_ % pending_.size(), tail.begin());

    std::uint64_t h1 = low_ ^ scramble_low(load64(tail.data()));
    std::uint64_t h2 = high_ ^ scramble_high(load64(tail.data() + 8));
    h1 ^= length_;
    h2 ^= length_;
    h1 += h2;
    h2 += h1;
    h1 = fmix64(h1);
    h2 = fmix64(h2);
    h1 += h2;
    h2 += h1;
    return {h1, h2};
}

}  // namespace balm::runtime
