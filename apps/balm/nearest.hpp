#pragma once
// Suggests a known word for a misspelt one. In: a word and the known words. Out: the nearest of them.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace balm::tool {

/// The optimal string alignment distance: the number of letters to substitute, insert, delete, or swap with
/// their neighbour, to turn one word into the other, if no letter is edited twice (Boytsov 2011, "Indexing
/// methods for approximate dictionary searching", section 2.1).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word with the smallest distance; the first of several. None if the distance is above a third of
/// the word's length, clamped to 1 to 4 letters: that is another word, not a misspelling.
std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

}  // namespace balm::tool
