// Edit distances, by dynamic programming over the prefixes of both words.

#include "nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace balm::tool {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> two_rows_up(b.size() + 1), row_up(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(two_rows_up, row_up);
        std::swap(row_up, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = row_up[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, row_up[j] + 1, row[j - 1] + 1});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], two_rows_up[j - 2] + 1);
        }
    }
    return row.back();
}

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
    const std::size_t most = std::clamp<std::size_t>(word.size() / 3, 1, 4);
    std::optional<std::string> nearest;
    std::size_t smallest = most + 1;
    for (const std::string& each : known)
        if (const std::size_t distance = edit_distance(word, each); distance < smallest) {
            smallest = distance;
            nearest = each;
        }
    return nearest;
}

}  // namespace balm::tool
