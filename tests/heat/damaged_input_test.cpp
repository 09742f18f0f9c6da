// Damaged worlds: each gets one clear line, and never a crash or an allocation of what it merely claims.

#include <cmath>
#include <cstring>

#include "generate.hpp"
#include "golden.hpp"

namespace {

using heat_test::parse;
using heat_test::print;

// The message with which an input is refused, "" if it is not.
std::string refusal(const std::string& bytes) {
    try {
        parse(bytes);
    } catch (const heat::format_error& fault) {
        EXPECT_LE(fault.offset(), bytes.size());
        return fault.what();
    }
    return "";
}

heat::world small_world() {
    heat::world world = heat::make_random(3, 2, 0.1f, 1);
    world.properties = {0, 1, 2, 2, 0, 1};
    world.state = {0.0f, 1.0f, 0.25f, 0.5f, 0.75f, 0.125f};
    return world;
}

struct damage {
    const char* bytes;
    const char* expected;  // part of the message
};

const damage text_damages[] = {
    {"", "empty"},
    {"\n", "not a heat world"},
    {"HPCEHeatWorldV1\n1 1 0.1\n-\n 0\n-\n 0\nEnd\n", "HPCEHeatWorldV1"},
    {"HPCEHeatWorldV01 1 0.1\n-\n 0\n-\n 0\nEnd\n", "not a heat world"},
    {"\x1b[2J\x01\xff\n1 1 0.1\n-\n 0\n-\n 0\nEnd\n", "\"?[2J??\""},
    {"HPCEHeatWorldV0\n-1 1 0.1\n-\n 0\n-\n 0\nEnd\n", "the width \"-1\""},
    {"HPCEHeatWorldV0\n1 -1 0.1\n-\n 0\n-\n 0\nEnd\n", "the height \"-1\""},
    {"HPCEHeatWorldV0\n0 1 0.1\n-\n-\nEnd\n", "the width \"0\""},
    {"HPCEHeatWorldV0\n1 0 0.1\n-\n-\nEnd\n", "the height \"0\""},
    {"HPCEHeatWorldV0\n1.5 1 0.1\n-\n 0\n-\n 0\nEnd\n", "the width \"1.5\""},
    {"HPCEHeatWorldV0\n99999999999999999999 1 0.1\n-\n 0\n-\n 0\nEnd\n", "whole number from 1 to 4294967295"},
    {"HPCEHeatWorldV0\n4294967295 4294967295 0.1\n-\n 0\n-\n 0\nEnd\n", "the flags of cell (1, 0)"},
    {"HPCEHeatWorldV0\n1 1 nan\n-\n 0\n-\n 0\nEnd\n", "propagation constant \"nan\""},
    {"HPCEHeatWorldV0\n1 1 inf\n-\n 0\n-\n 0\nEnd\n", "propagation constant"},
    {"HPCEHeatWorldV0\n1 1 1e60\n-\n 0\n-\n 0\nEnd\n", "propagation constant"},
    {"HPCEHeatWorldV0\n1 1 -0.1\n-\n 0\n-\n 0\nEnd\n", "propagation constant \"-0.1\""},
    {"HPCEHeatWorldV0\n1 1 0.1x\n-\n 0\n-\n 0\nEnd\n", "propagation constant \"0.1x\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n 0\n-\n 0\nEnd\n", "\"0\" instead of a \"-\" before the cells' flags"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n 0\nEnd\n", "before the temperatures"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-0\n-\n 0\nEnd\n", "\"-0\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0 0\n-\n 0\nEnd\n", "before the temperatures"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 3\n-\n 0\nEnd\n", "the flags of cell (0, 0) are \"3\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 4\n-\n 0\nEnd\n", "flags"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n -1\n-\n 0\nEnd\n", "flags"},
    {"HPCEHeatWorldV0\n2 1 0.1\n-\n 0\n-\n 0 0\nEnd\n", "the flags of cell (1, 0) are \"-\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n nan\nEnd\n", "the temperature of cell (0, 0) is \"nan\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n inf\nEnd\n", "temperature"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 1e60\nEnd\n", "temperature"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 1.00000012\nEnd\n", "1.00000012"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n -0.5\nEnd\n", "line 6, byte 32"},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n zero\nEnd\n", "\"zero\""},
    {"HPCEHeatWorldV0\n2 1 0.1\n-\n 0 0\n-\n 0\nEnd\n", "the temperature of cell (1, 0) is \"End\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 0 0\nEnd\n", "\"0\" instead of \"End\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 0\nend\n", "\"end\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 0\nEnd", "before the newline after \"End\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 0\nEnd\nHPCEHeatWorldV0\n", "after \"End\""},
    {"HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n 0\nEnd 0\n", "after \"End\""},
};

TEST(H5_damaged_input, text_is_refused_in_one_clear_line) {
    for (const damage& damage : text_damages) {
        const std::string message = refusal(damage.bytes);
        EXPECT_NE(message.find(damage.expected), std::string::npos)
            << "input: " << damage.bytes << "\nexpected: " << damage.expected << "\nmessage: " << message;
        EXPECT_EQ(message.find('\n'), std::string::npos);
        EXPECT_LT(message.size(), 200u);
    }
}

TEST(H5_damaged_input, a_token_without_end_is_refused) {
    const std::string head = "HPCEHeatWorldV0\n1 1 0.1\n-\n 0\n-\n ";
    EXPECT_NE(refusal(head + std::string(3'000'000, '0') + "\nEnd\n").find("temperature"), std::string::npos);
    EXPECT_NE(refusal(std::string(3'000'000, 'H')).find("not a heat world"), std::string::npos);
}

// A binary world with four bytes replaced.
std::string patched(std::size_t offset, const void* bytes) {
    std::string result = print(small_world(), heat::format::binary);
    std::memcpy(result.data() + offset, bytes, 4);
    return result;
}

TEST(H5_damaged_input, binary_is_refused_in_one_clear_line) {
    const std::string head = "HPCEHeatWorldV0Binary\n3 2 0.1\n";
    const std::size_t flags = head.size() + 1, temperatures = flags + 6 * 4 + 1;
    ASSERT_EQ(print(small_world(), heat::format::binary).size(), temperatures + 6 * 4 + 4);

    for (std::uint32_t wrong : {3u, 4u, 0x100u, 0xFFFFFFFFu})
        EXPECT_NE(refusal(patched(flags + 4 * 4, &wrong)).find("the flags of cell (1, 1)"),
                  std::string::npos);
    for (float wrong : {std::nanf(""), HUGE_VALF, -HUGE_VALF, -1e-30f, 1.0000001f})
        EXPECT_NE(refusal(patched(temperatures + 2 * 4, &wrong)).find("the temperature of cell (2, 0)"),
                  std::string::npos)
            << wrong;
    EXPECT_NE(refusal(patched(head.size(), "0\0\0\0")).find("\"-\""), std::string::npos);
    EXPECT_NE(refusal(patched(temperatures - 1, "0\0\0\0")).find("\"-\""), std::string::npos);
    EXPECT_NE(refusal(print(small_world(), heat::format::binary) + "x").find("after \"End\""),
              std::string::npos);
    EXPECT_NE(refusal(print(small_world(), heat::format::binary) + '\0').find("after \"End\""),
              std::string::npos);
}

TEST(H5_damaged_input, a_claimed_size_is_not_allocated) {
    for (const std::string header : {"HPCEHeatWorldV0", "HPCEHeatWorldV0Binary"})
        for (const std::string size : {"4294967295 4294967295", "1000000 1000000", "4294967295 1"})
            EXPECT_NE(refusal(header + "\n" + size + " 0.1\n-\n").find("the input ends before"),
                      std::string::npos);
}

TEST(H5_damaged_input, truncation_at_every_byte_is_refused) {
    for (heat::format format : {heat::format::text, heat::format::binary}) {
        const std::string whole = print(small_world(), format);
        EXPECT_EQ(refusal(whole), "");
        for (std::size_t length = 0; length < whole.size(); ++length)
            EXPECT_NE(refusal(whole.substr(0, length)), "") << "after " << length << " bytes";
    }
}

// Reading in pieces must not show: the world is larger than the reader's buffer, and cut off anywhere.
TEST(H5_damaged_input, truncation_of_a_large_world_is_refused) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 generator(seed);
    const heat::world world = heat::make_random(700, 500, 0.1f, seed);
    for (heat::format format : {heat::format::text, heat::format::binary}) {
        const std::string whole = print(world, format);
        for (int i = 0; i < 20; ++i) EXPECT_NE(refusal(whole.substr(0, generator() % whole.size())), "");
    }
}

TEST(H5_damaged_input, flipped_bits_are_refused_or_give_a_valid_world) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 generator(seed);
    for (heat::format format : {heat::format::text, heat::format::binary}) {
        const std::string whole = print(small_world(), format);
        for (int i = 0; i < 20000; ++i) {
            std::string damaged = whole;
            for (std::uint64_t flips = 1 + generator() % 4; flips > 0; --flips)
                damaged[generator() % damaged.size()] ^= static_cast<char>(1 << (generator() % 8));
            try {
                heat::check(parse(damaged));  // any other exception than the next one fails the test
            } catch (const heat::format_error& fault) {
                EXPECT_EQ(std::string(fault.what()).find('\n'), std::string::npos);
            }
        }
    }
}

}  // namespace
