#pragma once
// In: bytes, text and numbers, a field at a time. Out: a 128-bit fingerprint. It names programs in the
// disk cache and proves that what the disk gives back is what was written.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace balm::runtime {

struct hash128 {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    friend bool operator==(const hash128&, const hash128&) = default;
    // clang-tidy 14 misreads a defaulted <=>.
    friend auto operator<=>(const hash128&, const hash128&) = default;  // NOLINT(modernize-use-nullptr)
};

/// For unordered containers: the bits are already well mixed.
struct hash128_bucket {
    std::size_t operator()(const hash128& value) const noexcept {
        return static_cast<std::size_t>(value.low);
    }
};

/// 32 lower-case hexadecimal digits, `high` first.
std::string to_hex(const hash128& value);

/// The inverse of to_hex; nothing for text of any other form.
std::optional<hash128> hash_from_hex(std::string_view text) noexcept;

/// MurmurHash3_x64_128 of the bytes, exactly as published: a change within one 16-byte block always
/// changes the result, other changes with probability 1 - 2^-128. It resists accidents, not attackers.
/// Source: Austin Appleby, SMHasher, MurmurHash3.cpp (public domain).
hash128 hash_bytes(std::span<const std::byte> bytes, std::uint32_t seed = 0) noexcept;

/// Hashes a sequence of fields. Each goes in with its length before it, so that ("ab", "c") and
/// ("a", "bc") differ.
///
///     hash128 key = hasher{}.text(source).text(options).number(width).result();
class hasher {
public:
    explicit hasher(std::uint32_t seed = 0) noexcept : low_(seed), high_(seed) {}

    hasher& bytes(std::span<const std::byte> field) noexcept;
    hasher& text(std::string_view field) noexcept;
    hasher& number(std::uint64_t field) noexcept;

    /// The hash of the fields so far; more may follow.
    hash128 result() const noexcept;

private:
    friend hash128 hash_bytes(std::span<const std::byte> bytes, std::uint32_t seed) noexcept;

    void append(std::span<const std::byte> raw) noexcept;
    void mix_block(const std::byte* block) noexcept;
    void mix(std::uint64_t k1, std::uint64_t k2) noexcept;

    std::uint64_t low_;
    std::uint64_t high_;
    std::uint64_t length_ = 0;
    std::array<std::byte, 16> pending_{};
};

}  // namespace balm::runtime
