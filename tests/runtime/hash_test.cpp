// In: digests published and made by another implementation. Out: proof that ours are those, however the
// bytes arrive, and that fields are kept apart: the identities of programs and the disk cache rest on it.

#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/table_hash.hpp"
#include "runtime/program/disk_cache.hpp"
#include "support/scratch_directory.hpp"

namespace {

using balm::runtime::digest;
using balm::runtime::digest_from_hex;
using balm::runtime::digest_of;
using balm::runtime::hasher;
using balm::runtime::to_hex;
using balm::test::bytes_of;

std::string counting(int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text.push_back(static_cast<char>(i));
    return text;
}

/// In LEB128, by its definition: the groups of seven bits up to the highest one set, all but the last marked.
void append_number(std::vector<std::byte>& to, std::uint64_t value) {
    int digits = 1;
    while (digits < 10 && value >> (7 * digits) != 0) ++digits;
    for (int i = 0; i < digits; ++i)
        to.push_back(static_cast<std::byte>((value >> (7 * i) & 0x7f) | (i + 1 < digits ? 0x80u : 0u)));
}

// Computed with Python's hashlib.blake2b(…, digest_size=32).
TEST(B5_hash, agrees_with_another_implementation) {
    EXPECT_EQ(to_hex(digest_of(bytes_of(""))),
              "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    EXPECT_EQ(to_hex(digest_of(bytes_of("abc"))),
              "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    EXPECT_EQ(to_hex(digest_of(bytes_of("hello, balm"))),
              "e9c4b8056b771601ce44b9044aeb8f7010b99a349cd145fc630bb4fe5325b64f");
    EXPECT_EQ(to_hex(digest_of(bytes_of(counting(128)))),
              "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1");
    EXPECT_EQ(to_hex(digest_of(bytes_of(counting(129)))),
              "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9");
    EXPECT_EQ(to_hex(digest_of(bytes_of(counting(1000)))),
              "c636324d47d89f2b2434dc2c994100663fbbaea880ff020fc5de89dd0f77a1ec");
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
        for (int field = 0; field < 12; ++field) {
            if (random() % 2 == 0) {
                const std::uint64_t number =
                    (random() * std::uint64_t{0x9e3779b97f4a7c15u}) >> (random() % 64);
                asked_often.number(number);
                asked_once.number(number);
                append_number(stream, number);
                continue;
            }
            std::string text(random() % (random() % 4 == 0 ? 600 : 70), '\0');
            for (char& letter : text) letter = static_cast<char>(random());
            asked_often.text(text);
            (void)asked_often.result();
            asked_once.bytes(bytes_of(text));
            append_number(stream, text.size());
            const auto raw = bytes_of(text);
            stream.insert(stream.end(), raw.begin(), raw.end());
        }
        ASSERT_EQ(asked_often.result(), asked_once.result());
        ASSERT_EQ(asked_once.result(), digest_of(stream));
    }
}

TEST(B5_hash, changes_with_every_bit) {
    std::string text = counting(100);
    const digest original = digest_of(bytes_of(text));
    for (std::size_t bit = 0; bit < 8 * text.size(); ++bit) {
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
        EXPECT_NE(digest_of(bytes_of(text)), original) << "bit " << bit;
        text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
    }
}

// Two sources that MurmurHash3, unkeyed, cannot tell apart: the second comment is solved for the first one's
// state (48 bytes, no search). Whoever can write a comment must not be able to choose a key.
TEST(B5_hash, tells_forged_comments_apart) {
    const std::string honest = "int f = 1;//lhhojandfjdkngjjpmbphmnfllcodfml\n";
    const std::string forged =
        "int f = 2;//lhhojandfjdkngjj"
        "\xe8\xc9\x9d\xb5\xde\x39\xb5\xe8\x45\x32\xca\x1f\x69\x60\xef\x55\n";
    const auto key_of = [](const std::string& source) {
        return balm::runtime::make_key({"kind", source, "options", "device", "driver", "balm"});
    };
    EXPECT_NE(key_of(honest), key_of(forged));
}

TEST(B5_hash, hex_text_goes_there_and_back) {
    const digest value = digest_of(bytes_of("abc"));
    EXPECT_EQ(digest_from_hex(to_hex(value)), value);
    EXPECT_EQ(to_hex({}), std::string(64, '0'));
    EXPECT_EQ(to_hex(digest{{0x0123456789abcdefu, 0, 0, 1}}),
              "efcdab8967452301" + std::string(32, '0') + "01" + std::string(14, '0'));
}

TEST(B5_hash, refuses_text_that_is_no_digest) {
    for (const std::string& text :
         {std::string(), std::string(63, '0'), std::string(65, '0'), std::string(63, '0') + "g",
          std::string(63, '0') + "A", "0x" + std::string(62, '0'), "-" + std::string(63, '0')}) {
        EXPECT_FALSE(digest_from_hex(text)) << text;
    }
}

// ---- hashes for tables in memory

enum class colour : std::uint8_t { red, green };
struct inner {
    bool is_long = false;
    std::array<std::uint32_t, 3> extents{};
};
struct with_its_own {
    int counts = 0, does_not_count = 0;
    void add_to(balm::runtime::table_hash& hash) const { hash.add(counts); }
};
struct plan {
    colour shade = colour::red;
    std::int64_t count = 0;
    inner first, second;
    std::vector<int> radices;
    std::optional<int> room;
    with_its_own other;
    digest function;
};
std::uint64_t table_hash_of(const plan& p) { return balm::runtime::table_hash().add(p).value(); }

TEST(B5_hash, of_a_plan_counts_each_member) {
    const std::function<void(plan&)> changes[] = {
        [](plan&) {},
        [](plan& p) { p.shade = colour::green; },
        [](plan& p) { p.count = 1; },
        [](plan& p) { p.first.is_long = true; },
        [](plan& p) { p.second.is_long = true; },
        [](plan& p) { p.first.extents[2] = 1; },
        [](plan& p) { p.radices = {0}; },
        [](plan& p) {
            p.radices = {0, 0};
        },
        [](plan& p) { p.room = 0; },
        [](plan& p) { p.room = 1; },
        [](plan& p) { p.other.counts = 1; },
        [](plan& p) { p.function.words[0] = 1; },
    };
    std::set<std::uint64_t> different;
    for (const auto& change : changes) {
        plan p;
        change(p);
        EXPECT_TRUE(different.insert(table_hash_of(p)).second) << different.size();
    }
    plan p;
    p.other.does_not_count = 1;
    EXPECT_TRUE(different.contains(table_hash_of(p)));
}

}  // namespace
