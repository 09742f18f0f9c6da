// Feeds fields to libsodium's BLAKE2b.

#include "base/hash.hpp"

#include <sodium/crypto_generichash_blake2b.h>

#include <algorithm>

namespace balm::runtime {
namespace {

using blake2b_state = crypto_generichash_blake2b_state;
constexpr std::size_t digest_bytes = 32;

unsigned char* as_octets(std::byte* bytes) noexcept { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* as_octets(const std::byte* bytes) noexcept {
    return reinterpret_cast<const unsigned char*>(bytes);
}
blake2b_state* as_state(std::byte* bytes) noexcept { return reinterpret_cast<blake2b_state*>(bytes); }

std::optional<std::uint64_t> nibble_of(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return static_cast<std::uint64_t>(digit - '0');
    if (digit >= 'a' && digit <= 'f') return static_cast<std::uint64_t>(digit - 'a' + 10);
    return std::nullopt;
}

}  // namespace

std::string to_hex(const digest& value) {
    std::string text;
    text.reserve(2 * digest_bytes);
    for (const std::uint64_t word : value.words)
        for (int byte = 0; byte < 8; ++byte)
            for (const int shift : {8 * byte + 4, 8 * byte})
                text += "0123456789abcdef"[(word >> shift) & 15u];
    return text;
}

std::optional<digest> digest_from_hex(std::string_view text) noexcept {
    if (text.size() != 2 * digest_bytes) return std::nullopt;
    digest value;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto nibble = nibble_of(text[i]);
        if (!nibble) return std::nullopt;
        value.words[i / 16] |= *nibble << (8 * (i % 16 / 2) + (i % 2 == 0 ? 4 : 0));
    }
    return value;
}

digest digest_of(std::span<const std::byte> bytes) noexcept {
    hasher whole;
    whole.append(bytes);
    return whole.result();
}

hasher::hasher() noexcept {
    static_assert(sizeof(blake2b_state) == sizeof state_ && alignof(blake2b_state) <= 64);
    crypto_generichash_blake2b_init(as_state(state_.data()), nullptr, 0, digest_bytes);
}

hasher& hasher::bytes(std::span<const std::byte> field) noexcept {
    number(field.size());
    append(field);
    return *this;
}

hasher& hasher::text(std::string_view field) noexcept {
    return bytes(std::as_bytes(std::span(field.data(), field.size())));
}

void hasher::append(std::span<const std::byte> raw) noexcept {
    if (raw.size() > buffer_.size() - pending_) {
        flush();
        if (raw.size() > buffer_.size()) {
            crypto_generichash_blake2b_update(as_state(state_.data()), as_octets(raw.data()), raw.size());
            return;
        }
    }
    std::copy(raw.begin(), raw.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(pending_));
    pending_ += raw.size();
}

void hasher::flush() noexcept {
    crypto_generichash_blake2b_update(as_state(state_.data()), as_octets(buffer_.data()), pending_);
    pending_ = 0;
}

digest hasher::result() const noexcept {
    hasher last = *this;
    last.flush();
    std::array<std::byte, digest_bytes> bytes{};
    crypto_generichash_blake2b_final(as_state(last.state_.data()), as_octets(bytes.data()), bytes.size());
    digest value;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        value.words[i / 8] |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * (i % 8));
    return value;
}

}  // namespace balm::runtime
