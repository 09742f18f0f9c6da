#pragma once
// In: bytes, text and numbers, a field at a time. Out: a cryptographic digest. It identifies programs, in
// memory and on disk, and verifies that the data read from disk are those that were written: the author of a
// kernel's text cannot forge the digest of another text.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace balm::runtime {

/// 256 bits of BLAKE2b, as four little-endian numbers.
struct digest {
    std::array<std::uint64_t, 4> words{};

    friend bool operator==(const digest&, const digest&) = default;
    // clang-tidy 14 misreads a defaulted <=>.
    friend auto operator<=>(const digest&, const digest&) = default;  // NOLINT(modernize-use-nullptr)
};

/// What tables in memory hash of a digest (table_hash.hpp): each of its words is as good as all.
constexpr std::uint64_t code(const digest& value) { return value.words[0]; }

/// 64 lower-case hexadecimal digits, the first byte first.
std::string to_hex(const digest& value);

/// The inverse of to_hex; nullopt for any other text.
std::optional<digest> digest_from_hex(std::string_view text) noexcept;

/// The unkeyed 256-bit BLAKE2b digest of the bytes (RFC 7693).
digest digest_of(std::span<const std::byte> bytes) noexcept;

/// The digest of a sequence of fields. Bytes and texts are preceded by their length, so that ("ab", "c") and
/// ("a", "bc") differ; numbers are written in base 128, the least significant digit first, each but the last
/// with its highest bit set (LEB128), since most are small. The kinds of the fields so far must determine the
/// kind of the next one: a variable number of fields is preceded by its count.
///
///     digest key = hasher{}.text(source).text(options).number(width).result();
class hasher {
public:
    hasher() noexcept;

    hasher& bytes(std::span<const std::byte> field) noexcept;
    hasher& text(std::string_view field) noexcept;
    hasher& number(std::uint64_t field) noexcept {
        if (pending_ + most_digits > buffer_.size()) flush();
        for (; field >= 128; field /= 128) buffer_[pending_++] = static_cast<std::byte>(field | 128u);
        buffer_[pending_++] = static_cast<std::byte>(field);
        return *this;
    }

    /// The digest of the fields so far; more may follow.
    digest result() const noexcept;

private:
    static constexpr std::size_t most_digits = 10;  // of 64 bits, 7 to a digit

    friend digest digest_of(std::span<const std::byte> bytes) noexcept;
    void append(std::span<const std::byte> raw) noexcept;
    void flush() noexcept;

    // Storage for libsodium's crypto_generichash_blake2b_state, whose header is not included here.
    alignas(64) std::array<std::byte, 384> state_{};
    std::array<std::byte, 256> buffer_{};  // numbers are many and short
    std::size_t pending_ = 0;
};

}  // namespace balm::runtime
