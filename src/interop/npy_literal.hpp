#pragma once
// The Python literals in the header of a .npy file: strings without escapes, True and False, tuples of
// integers.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "interop/byte_source.hpp"

namespace balm::interop {

/// A word of a file for messages: printable and short.
std::string shown(std::string_view word);
/// "(2, 3)", "(2,)", as Python writes a tuple.
std::string tuple_text(const std::vector<std::size_t>& sizes);

/// Reads literals one by one. Refuses, in the name of the file, what is none.
class literal_reader {
public:
    literal_reader(const byte_source& from, std::string_view text) : from_(from), text_(text) {}

    const byte_source& from() const { return from_; }
    /// What is not yet read.
    std::string_view rest() const { return text_; }
    [[noreturn]] void refuse(std::string_view why) const;

    /// Whether `c` follows, after spaces.
    bool begins_with(char c);
    bool takes(char c);
    void take(char c);
    /// `what` says in the message what should be there.
    std::string_view take_string(std::string_view what);
    bool take_bool();
    /// Sizes whose product, zeros aside, is at most 2^62.
    std::vector<std::size_t> take_sizes();

private:
    void skip_space();
    std::string next_words() const;

    const byte_source& from_;
    std::string_view text_;
};

}  // namespace balm::interop
