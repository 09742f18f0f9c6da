#pragma once
// The names in printed source: the user's words, made unique, and kept clear of what the dialects reserve.

#include <string>
#include <string_view>
#include <unordered_set>

namespace balm::emit {

/// Whether the word is one that C takes for a name.
bool is_identifier(std::string_view word) noexcept;

/// The names of one scope. Those of an inner scope hide none of the scope around it.
class name_set {
public:
    name_set() = default;
    /// `around` is complete, and outlives the set.
    explicit name_set(const name_set& around) : around_(&around) {}

    /// The word itself where it is free, else the word with the first free number.
    std::string unique(std::string_view word);
    /// Keeps a word that something else uses from being given.
    void reserve(const std::string& word) { taken_.insert(word); }

private:
    bool is_taken(const std::string& word) const;

    const name_set* around_ = nullptr;
    std::unordered_set<std::string> taken_;
};

}  // namespace balm::emit
