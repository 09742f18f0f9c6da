// Cells to text and back in pieces on several threads: what one thread gives, and what iostreams and printf
// give.

#include "cell_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "generate.hpp"
#include "golden.hpp"

namespace {

using heat_test::parse;
using heat_test::print;

// Numbers as people write them, and spaces of all kinds between.
std::string random_text(std::mt19937_64& generator, std::size_t count, bool is_flags) {
    static const char* const flags[] = {"0", "1", "2", "0", "1", "2", "0", "00", "001", "0002"};
    static const char* const odd[] = {
        "0",           "1",     "0.5",    "1.0",    "1e-3",       "1.00000000",    "0.00000000",
        "-0.0",        "1e-60", ".25",    "0.125",  "0.99999999", "0.12345678e-2", "5e-1",
        "0.123456789", "00.25", "0.2500", "1.0e+0", "0.00000001", "0.999999994"};
    static const char* const spaces[] = {" ", " ", " ", " ", " ", "  ", "\n", "\r\n", " \n\t ", "\v\f "};
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text += spaces[generator() % 10];
        if (is_flags) {
            text += flags[generator() % 10];
        } else if (generator() % 4 == 0) {
            text += odd[generator() % 20];
        } else {
            std::array<char, 32> digits;
            std::snprintf(digits.data(), digits.size(), "%.8f",
                          static_cast<double>(generator() >> 11) * 0x1p-53);
            text += digits.data();
        }
    }
    return text + "\n";
}

template <class Value, class Parse>
void expect_parsed_alike(const std::string& text, std::size_t count, Parse parse_many) {
    std::vector<Value> expected;
    std::istringstream stream(text);
    for (std::string token; stream >> token;) {
        Value value{};
        ASSERT_TRUE(heat::parse_number(token, value)) << token;
        expected.push_back(value);
    }
    ASSERT_EQ(expected.size(), count);
    for (unsigned threads : {1u, 2u, 5u})
        for (std::size_t limit :
             {count, count + 1, count - 1, count / 2, count / 3, std::size_t{1}, std::size_t{0}}) {
            SCOPED_TRACE(testing::Message() << threads << " threads, limit " << limit);
            std::vector<Value> values = {1};  // appended to
            const heat::text_progress progress = parse_many(text, limit, values, threads);
            const std::size_t found = std::min(limit, count);
            ASSERT_EQ(values.size(), 1 + found);
            ASSERT_TRUE(std::equal(values.begin() + 1, values.end(), expected.begin()));
            // What is left begins with the next value.
            ASSERT_LE(progress.bytes, text.size());
            EXPECT_EQ(progress.lines,
                      static_cast<std::uint64_t>(std::count(
                          text.begin(), text.begin() + static_cast<std::ptrdiff_t>(progress.bytes), '\n')));
            std::istringstream rest(text.substr(progress.bytes));
            std::size_t left = 0;
            for (std::string token; rest >> token;) ++left;
            EXPECT_EQ(left, count - found);
        }
}

TEST(H1_cell_text, threads_parse_what_one_token_at_a_time_gives) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 generator(seed);
    expect_parsed_alike<std::uint32_t>(random_text(generator, 200'000, true), 200'000,
                                       [](auto&&... arguments) { return heat::parse_flags(arguments...); });
    expect_parsed_alike<float>(random_text(generator, 60'000, false), 60'000,
                               [](auto&&... arguments) { return heat::parse_temperatures(arguments...); });
}

TEST(H1_cell_text, eight_decimals_are_rounded_once) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 generator(seed);
    for (int i = 0; i < 200'000; ++i) {
        std::array<char, 32> text;
        const auto number = static_cast<unsigned>(generator() % 100'000'001) >> (generator() % 27);
        std::snprintf(text.data(), text.size(), "%u.%08u ", number / 100'000'000, number % 100'000'000);
        std::vector<float> values;
        heat::parse_temperatures(text.data(), 1, values, 1);
        ASSERT_EQ(values.size(), 1u);
        ASSERT_EQ(values[0], std::strtof(text.data(), nullptr)) << text.data();
    }
}

TEST(H1_cell_text, threads_print_what_printf_does) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    for (const auto& [width, height] : {std::pair{317u, 211u}, {1u, 30000u}, {30000u, 1u}}) {
        const heat::world world = heat::make_random(width, height, 0.1f, seed);
        std::string flags, temperatures;
        for (std::size_t i = 0; i < world.size(); ++i) {
            const char* const after = (i + 1) % width == 0 ? "\n" : "";
            std::array<char, 32> text;
            flags += " " + std::to_string(world.properties[i]) + after;
            std::snprintf(text.data(), text.size(), " %.8f%s", static_cast<double>(world.state[i]), after);
            temperatures += text.data();
        }
        for (unsigned threads : {1u, 3u}) {
            std::string found(flags.size(), '?');
            heat::print_flags(world.properties, 0, width, found.data(), threads);
            EXPECT_EQ(found, flags);
            // In two parts, the second of which begins within a row.
            found.assign(temperatures.size(), '?');
            const std::size_t first = world.size() / 3 + 1;
            const std::span<const float> state = world.state;
            heat::print_temperatures(state.first(first), 0, width, found.data(), threads);
            heat::print_temperatures(
                state.subspan(first), first, width,
                found.data() + first * heat::temperature_bytes + heat::newlines(0, first, width), threads);
            EXPECT_EQ(found, temperatures);
        }
    }
}

TEST(H5_cell_text, parsing_stops_before_what_is_no_value) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 generator(seed);
    const std::string text = random_text(generator, 40'000, false);
    for (const char* wrong :
         {"-", "nan", "1.00000012", "-0.5", "0.5x", "0.1234567x", "2", "0.12345678.", "1e60"})
        for (unsigned threads : {1u, 4u}) {
            std::size_t at = text.find_first_of(" \n", generator() % (text.size() - 100)) + 1;
            const std::string damaged = text.substr(0, at) + wrong + " " + text.substr(at);
            std::vector<float> values;
            const heat::text_progress progress = heat::parse_temperatures(damaged, 100'000, values, threads);
            EXPECT_EQ(damaged.compare(progress.bytes, std::strlen(wrong), wrong), 0) << wrong;
        }
    std::vector<float> values;
    EXPECT_EQ(heat::parse_temperatures("", 5, values, 1).bytes, 0u);
    EXPECT_EQ(heat::parse_temperatures("0.5", 5, values, 1).bytes, 0u)
        << "nobody knows whether 0.5 is all of it";
    EXPECT_EQ(heat::parse_temperatures(std::string(70, '0') + " ", 5, values, 1).bytes, 0u);
    EXPECT_TRUE(values.empty());
}

// Larger than a block of the reader: the line and the byte are counted across blocks and threads.
TEST(H5_cell_text, faults_deep_in_a_large_text_are_found_by_line_and_byte) {
    const std::uint64_t seed = heat_test::fresh_seed();
    SCOPED_TRACE(seed);
    std::mt19937_64 generator(seed);
    const std::string whole = print(heat::make_random(1500, 700, 0.1f, seed), heat::format::text);
    for (int i = 0; i < 6; ++i) {
        std::size_t at = generator() % (whole.size() - 100) + 60;
        while (whole[at - 1] != ' ') --at;
        std::string damaged = whole;
        damaged[at] = 'x';
        try {
            parse(damaged);
            FAIL() << "byte " << at << " is damaged";
        } catch (const heat::format_error& fault) {
            const auto line =
                1 + std::count(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at), '\n');
            EXPECT_EQ(fault.offset(), at);
            EXPECT_NE(std::string(fault.what())
                          .find("(line " + std::to_string(line) + ", byte " + std::to_string(at) + ")"),
                      std::string::npos)
                << fault.what();
        }
    }
    EXPECT_EQ(print(parse(whole), heat::format::text), whole);
}

}  // namespace
