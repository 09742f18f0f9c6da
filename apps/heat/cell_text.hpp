#pragma once
// Converts arrays of cells to and from text on several cores. In: text or numbers. Out: the other. A world of
// 5000 x 5000 is 325 MB of text, whose conversion would dominate the time of a pipeline.
//
// Errors are left to the caller, who can describe them: parsing stops before a token that is not a valid
// value.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "world.hpp"

namespace heat {

/// A longer token is not a number.
inline constexpr std::size_t longest_token = 64;

inline bool is_space(char character) noexcept {
    return character == ' ' || (character >= '\t' && character <= '\r');
}
inline bool is_kind(std::uint32_t flags) noexcept { return flags <= insulator; }
inline bool is_temperature(float value) noexcept { return value >= 0.0f && value <= 1.0f; }

/// Returns whether the whole token is one number, and sets the value if it is. Numbers too small for a float
/// are zero, as istream reads them; too large ones are not numbers.
bool parse_number(std::string_view token, std::uint32_t& value);
bool parse_number(std::string_view token, float& value);

/// The number of threads for converting many cells: one per core, at most 16.
unsigned conversion_threads();

/// How far parsing got.
struct text_progress {
    std::size_t bytes = 0;    ///< consumed: white space and values
    std::uint64_t lines = 0;  ///< newlines among them
};

/// Appends the values at the start of `text`, at most `limit`; each must be followed by white space within
/// `text`. Stops before the first token that is not a `cell_kind`, or not a number from 0 to 1. -0 becomes 0.
text_progress parse_flags(std::string_view text, std::size_t limit, std::vector<std::uint32_t>& values,
                          unsigned threads);
text_progress parse_temperatures(std::string_view text, std::size_t limit, std::vector<float>& values,
                                 unsigned threads);

/// Bytes of a cell as text, " 0" and " 0.12345678". A newline follows the last cell of each row.
inline constexpr std::size_t flags_bytes = 2, temperature_bytes = 11;

/// Newlines among the cells [first, last) of a world with rows of `width` cells.
std::size_t newlines(std::size_t first, std::size_t last, std::size_t width);

/// Writes the cells from `first` on as text, temperatures as printf's %.8f. `text` must have room for all of
/// their bytes and newlines.
void print_flags(std::span<const std::uint32_t> values, std::size_t first, std::size_t width, char* text,
                 unsigned threads);
void print_temperatures(std::span<const float> values, std::size_t first, std::size_t width, char* text,
                        unsigned threads);

}  // namespace heat
