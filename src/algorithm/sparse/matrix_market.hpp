#pragma once
// The Matrix Market format as text, from and to entries in host memory.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace balm::array {

/// Entries in the order of the file, counted from 0. In symmetric files each one off the diagonal is followed
/// by its mirror image.
template <class T>
struct market_matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<std::int64_t> row_indices, column_indices;
    std::vector<T> values;
};

/// T is an entry type of sparse_matrix; complex types are complex_value. Throws usage_error, whose message
/// begins with the name and the line.
template <class T>
market_matrix<T> parse_matrix_market(std::string_view text, std::string_view name);

/// The elements of a dense file, in row-major order.
template <class T>
struct market_array {
    std::size_t rows = 0, columns = 0;
    std::vector<T> values;
};
template <class T>
market_array<T> parse_matrix_market_array(std::string_view text, std::string_view name);

/// The lines before the entries.
template <class T>
std::string matrix_market_head(std::size_t rows, std::size_t columns, std::size_t entries);
/// Appends the line of an entry; row and column count from 0.
template <class T>
void print_market_entry(std::string& to, std::int64_t row, std::int64_t column, const T& value);

}  // namespace balm::array
