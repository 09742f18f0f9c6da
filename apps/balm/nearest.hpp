#pragma once
// Guesses what was meant by a word that is not known. A word and the words that are known come in, the
// nearest goes out.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace balm::tool {

/// The optimal string alignment distance: how many letters are to be changed, inserted, deleted, or swapped
/// with their neighbour, to make one word of the other, if no letter is edited twice (Boytsov 2011, "Indexing
/// methods for approximate dictionary searching", section 2.1).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The known word with the smallest distance; the first of several. None if the distance is more than a third
/// of the word's letters (but at least one letter, and at most four): that is another word, not a
/// misspelling.
std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

}  // namespace balm::tool
