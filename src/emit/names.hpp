#pragma once
// The names in printed source: the user's names, made unique and distinct from the words that the dialects
// reserve.

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace balm::emit {

/// Whether the word is a valid C identifier.
bool is_identifier(std::string_view word) noexcept;

/// The names of one scope. Names of an inner scope hide none of the enclosing scope.
class name_set {
public:
    name_set() = default;
    /// `around` must be complete and outlive the set.
    explicit name_set(const name_set& around) : around_(&around) {}

    /// The word itself if it is free. Otherwise a variant: an affix if the word is reserved, then the first
    /// free number if it is taken.
    std::string unique(std::string_view word);
    /// Marks a word as taken, so that unique() never returns it.
    void reserve(const std::string& word) { taken_.insert(word); }

private:
    bool is_taken(const std::string& word) const;
    /// A number up to which all that could follow the stem are taken.
    int last_number(const std::string& stem) const;

    const name_set* around_ = nullptr;
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, int> last_numbers_;  ///< by stem
};

}  // namespace balm::emit
