// What the programs that page_program.py writes include: checks of what the comments and outputs of a page
// say.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <balm/balm.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <fstream>
#include <iostream>
#include <numbers>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Snippets declare names again, and declare what only a reader uses.
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-local-typedefs"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"

namespace balm::test {

/// What goes to std::cout while this lives.
class printed {
public:
    printed() : before_(std::cout.rdbuf(text_.rdbuf())) {}
    printed(const printed&) = delete;
    printed& operator=(const printed&) = delete;
    ~printed() { std::cout.rdbuf(before_); }

    /// The text since the last call.
    std::string take() {
        std::string text = text_.str();
        text_.str("");
        return text;
    }

private:
    std::ostringstream text_;
    std::streambuf* before_;
};

/// The text with single blanks, as pages may break and indent it.
inline std::string single_spaced(const std::string& text) {
    std::istringstream words(text);
    std::string line, word;
    while (words >> word) line += (line.empty() ? "" : " ") + word;
    return line;
}

/// The values as a stream shows them, separated by commas.
template <class... T>
std::string shown(const T&... values) {
    std::ostringstream text;
    text << std::boolalpha;
    const char* comma = "";
    ((text << std::exchange(comma, ", ") << values), ...);
    return single_spaced(text.str());
}

/// A message without the C++ file and line that it begins with, and those that vectors are " of".
inline std::string without_place(std::string message) {
    if (const std::size_t place = message.find(": "); place < message.find(' ')) message.erase(0, place + 2);
    for (std::size_t at = 0; (at = message.find(" of ", at)) != std::string::npos;) {
        const std::size_t first = at + 4, end = std::min(message.find_first_of(" ,)", first), message.size());
        if (message.find(':', first) < end) message.erase(at, end - at);
        at = std::min(first, message.size());
    }
    return message;
}

}  // namespace balm::test

#define SNIPPET_SHOWS(text, ...) EXPECT_EQ(balm::test::single_spaced(text), balm::test::shown(__VA_ARGS__));
#define SNIPPET_PRINTED(text) \
    EXPECT_EQ(balm::test::single_spaced(text), balm::test::single_spaced(snippet_output.take()));
#define SNIPPET_THROWS(text, error) \
    EXPECT_EQ(balm::test::without_place(text), balm::test::without_place(error.what()));
#define SNIPPET_DID_NOT_THROW(type) ADD_FAILURE() << "this snippet did not throw " type;
