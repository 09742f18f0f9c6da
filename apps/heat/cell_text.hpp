#pragma once
// Arrays of cells as text, converted by all cores. Text comes in and numbers go out, or the other way round.
// Here because in text a world of 5000 x 5000 is 325 MB, and the time of a pipeline would be that of its
// numbers.
//
// What is unusual is left to the caller, who knows the words for it: parsing stops before a token that is no
// valid value.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace heat {

/// A longer token is no number.
inline constexpr std::size_t longest_token = 64;

inline bool is_space(char character) noexcept {
    return character == ' ' || (character >= '\t' && character <= '\r');
}
inline bool is_kind(std::uint32_t flags) noexcept { return flags <= insulator; }
inline bool is_temperature(float value) noexcept { return value >= 0.0f && value <= 1.0f; }

/// True and the value if the whole token is one number. Numbers too small for a float are zero, as istream
/// reads them; too large ones are none.
bool parse_number(std::string_view token, std::uint32_t& value);
bool parse_number(std::string_view token, float& value);

/// The threads that converting many cells is worth: one a core, at most 16.
unsigned conversion_threads();

/// How far parsing came.
struct text_progress {
    std::size_t bytes = 0;    ///< consumed: white space and values
    std::uint64_t lines = 0;  ///< newlines among them
};

/// Appends the values at the front of `text`, `limit` at most; each must be followed by white space within
/// `text`. Stops before the first token that is no `cell_kind`, or no number from 0 to 1. -0 becomes 0.
text_progress parse_flags(std::string_view text, std::size_t limit, std::vector<std::uint32_t>& values,
                          unsigned threads);
text_progress parse_temperatures(std::string_view text, std::size_t limit, std::vector<float>& values,
                                 unsigned threads);

/// Bytes of a cell in text, which are " 0" and " 0.12345678". A newline follows the last cell of each row.
inline constexpr std::size_t flags_bytes = 2, temperature_bytes = 11;

/// Newlines among the cells [first, last) of a world with rows of `width` cells.
std::size_t newlines(std::size_t first, std::size_t last, std::size_t width);

/// Writes the cells from `first` on as text, temperatures as printf's %.8f. `text` has room for all of their
/// bytes and newlines.
void print_flags(std::span<const std::uint32_t> values, std::size_t first, std::size_t width, char* text,
                 unsigned threads);
void print_temperatures(std::span<const float> values, std::size_t first, std::size_t width, char* text,
                        unsigned threads);

}  // namespace heat
