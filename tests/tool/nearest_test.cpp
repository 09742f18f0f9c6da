// The distance of words, against its definition; the words that are guessed.

#include "nearest.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "support/devices.hpp"

namespace balm::test {
namespace {

using tool::edit_distance;
using tool::nearest_word;

/// By its recurrence, without a table.
std::size_t by_definition(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty()) return std::max(a.size(), b.size());
    const std::string_view shorter_a = a.substr(0, a.size() - 1), shorter_b = b.substr(0, b.size() - 1);
    std::size_t least = std::min({by_definition(shorter_a, b) + 1, by_definition(a, shorter_b) + 1,
                                  by_definition(shorter_a, shorter_b) + (a.back() == b.back() ? 0 : 1)});
    if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back())
        least = std::min(least, by_definition(a.substr(0, a.size() - 2), b.substr(0, b.size() - 2)) + 1);
    return least;
}

TEST(B10_nearest, distance_counts_edits_and_swaps) {
    EXPECT_EQ(edit_distance("", ""), 0u);
    EXPECT_EQ(edit_distance("", "abc"), 3u);
    EXPECT_EQ(edit_distance("devcies", "devices"), 1u);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
    EXPECT_EQ(edit_distance("ca", "abc"), 3u) << "no letter is edited twice";
    std::mt19937_64 random = seeded_random();
    const auto word = [&] {
        std::string letters(random() % 7, ' ');
        for (char& each : letters) each = static_cast<char>('a' + random() % 3);
        return letters;
    };
    for (int k = 0; k < 200; ++k) {
        const std::string a = word(), b = word();
        EXPECT_EQ(edit_distance(a, b), by_definition(a, b)) << a << ' ' << b;
    }
}

TEST(B10_nearest, guesses_misspellings_and_no_other_words) {
    const std::vector<std::string> known{"devices", "selftest", "bandwidth", "cache", "doctor"};
    EXPECT_EQ(nearest_word("devcies", known), "devices");
    EXPECT_EQ(nearest_word("self-test", known), "selftest");
    EXPECT_EQ(nearest_word("cahce", known), "cache");
    EXPECT_EQ(nearest_word("empty", known), std::nullopt);
    EXPECT_EQ(nearest_word("x", known), std::nullopt);
    EXPECT_EQ(nearest_word("devices", {}), std::nullopt);
}

}  // namespace
}  // namespace balm::test
