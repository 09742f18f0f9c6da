// In: published and independently computed hashes. Out: proof that ours is that hash, however the bytes
// arrive, and that fields are told apart: the disk cache rests on it.

#include "runtime/hash.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace {

using balm::runtime::hash128;
using balm::runtime::hash_bytes;
using balm::runtime::hash_from_hex;
using balm::runtime::hasher;
using balm::runtime::to_hex;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

std::string counting(int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text.push_back(static_cast<char>(i));
    return text;
}

void append_little_endian(std::vector<std::byte>& to, std::uint64_t value) {
    for (int i = 0; i < 8; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

// SMHasher's own check of an implementation (KeysetTest.cpp, VerificationTest): keys {}, {0}, {0, 1} …,
// seeds 256 - length, the hashes hashed again. The value is the one in SMHasher's table (main.cpp).
TEST(B5_hash, gives_smhashers_verification_value) {
    std::vector<std::byte> hashes;
    for (int length = 0; length < 256; ++length) {
        const hash128 hash = hash_bytes(bytes_of(counting(length)), static_cast<std::uint32_t>(256 - length));
        append_little_endian(hashes, hash.low);
        append_little_endian(hashes, hash.high);
    }
    EXPECT_EQ(hash_bytes(hashes).low & 0xffffffffu, 0x6384ba69u);
}

// Computed with the Python package mmh3 5.3.1.
TEST(B5_hash, agrees_with_another_implementation) {
    EXPECT_EQ(hash_bytes(bytes_of("")), (hash128{0, 0}));
    EXPECT_EQ(hash_bytes(bytes_of("a")), (hash128{0x85555565f6597889u, 0xe6b53a48510e895au}));
    EXPECT_EQ(hash_bytes(bytes_of("hello, balm")), (hash128{0xf0b5b565e9af31e9u, 0x0b45e22c2ebabab1u}));
    EXPECT_EQ(hash_bytes(bytes_of(counting(16))), (hash128{0x444924b591903f30u, 0xab906456762fe845u}));
    EXPECT_EQ(hash_bytes(bytes_of(counting(33))), (hash128{0x7d41281bfaba4612u, 0x55ac8073a7d6a30bu}));
}

TEST(B5_hash, keeps_fields_apart) {
    const auto two = [](const std::string& first, const std::string& second) {
        return hasher{}.text(first).text(second).result();
    };
    EXPECT_NE(two("ab", "c"), two("a", "bc"));
    EXPECT_NE(two("abc", ""), two("", "abc"));
    EXPECT_NE(two("", ""), hasher{}.text("").result());
    EXPECT_NE(hasher{}.text("").result(), hasher{}.result());
    EXPECT_NE(two("a", "b"), two("b", "a"));
    EXPECT_EQ(two("ab", "c"), two("ab", "c"));
}

TEST(B5_hash, depends_on_the_fields_only_not_on_when_it_is_asked) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int turn = 0; turn < 200; ++turn) {
        hasher asked_often;
        hasher asked_once;
        // The oracle: the same stream laid out by hand and hashed in one go.
        std::vector<std::byte> stream;
        for (int field = 0; field < 8; ++field) {
            if (random() % 2 == 0) {
                const std::uint64_t number = random() * std::uint64_t{0x9e3779b97f4a7c15u};
                asked_often.number(number);
                asked_once.number(number);
                append_little_endian(stream, sizeof number);
                append_little_endian(stream, number);
                continue;
            }
            std::string text(random() % 70, '\0');
            for (char& letter : text) letter = static_cast<char>(random());
            asked_often.text(text);
            (void)asked_often.result();
            asked_once.bytes(bytes_of(text));
            append_little_endian(stream, text.size());
            const auto raw = bytes_of(text);
            stream.insert(stream.end(), raw.begin(), raw.end());
        }
        ASSERT_EQ(asked_often.result(), asked_once.result());
        ASSERT_EQ(asked_once.result(), hash_bytes(stream));
    }
}

TEST(B5_hash, changes_with_every_bit) {
    std::string text = counting(100);
    const hash128 original = hash_bytes(bytes_of(text));
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_NE(hash_bytes(bytes_of(text)), original) << "bit " << bit;
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    }
}

TEST(B5_hash, hex_text_goes_there_and_back) {
    const hash128 value{0x0123456789abcdefu, 0xfedcba9876543210u};
    EXPECT_EQ(to_hex(value), "fedcba98765432100123456789abcdef");
    EXPECT_EQ(hash_from_hex(to_hex(value)), value);
    EXPECT_EQ(to_hex({}), std::string(32, '0'));
}

TEST(B5_hash, refuses_text_that_is_no_hash) {
    for (const std::string& text :
         {std::string(), std::string(31, '0'), std::string(33, '0'), std::string(31, '0') + "g",
          std::string(31, '0') + "A", "0x" + std::string(30, '0'), "-" + std::string(31, '0')}) {
        EXPECT_FALSE(hash_from_hex(text)) << text;
    }
}

}  // namespace
