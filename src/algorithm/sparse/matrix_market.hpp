#pragma once
// The Matrix Market format as text: in and out are entries in host memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace balm::array {

/// Entries in the order of the file, counted from 0; of symmetric files each with its mirror image behind it.
template <class T>
struct market_matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<std::int64_t> row_indices, column_indices;
    std::vector<T> values;
};

/// T is a type of sparse_matrix; complex ones are complex_value. Throws usage_error, which begins with the
/// name and the line.
template <class T>
market_matrix<T> parse_matrix_market(std::string_view text, std::string_view name);

/// The lines ahead of the entries.
template <class T>
std::string matrix_market_head(std::size_t rows, std::size_t columns, std::size_t entries);
/// Appends the line of an entry, whose row and column count from 0.
template <class T>
void print_market_entry(std::string& to, std::int64_t row, std::int64_t column, const T& value);

}  // namespace balm::array
