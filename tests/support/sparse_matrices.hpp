#pragma once
// Random sparse matrices of all shapes, and products on the host.

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "support/devices_random.hpp"

namespace balm::test {

/// A matrix in CSR. Values are small whole numbers, so that sums are exact in any order.
template <class T>
struct host_matrix {
    std::size_t rows = 0, columns = 0;
    std::vector<std::int64_t> pointers{0};
    std::vector<std::int64_t> column_indices;
    std::vector<T> values;

    void add(std::size_t column, T value) {
        column_indices.push_back(static_cast<std::int64_t>(column));
        values.push_back(value);
    }
    void end_row() {
        pointers.push_back(static_cast<std::int64_t>(values.size()));
        ++rows;
    }
    std::vector<T> times(const std::vector<T>& x) const {
        std::vector<T> y(rows);
        for (std::size_t r = 0; r < rows; ++r)
            for (auto k = static_cast<std::size_t>(pointers[r]);
                 k < static_cast<std::size_t>(pointers[r + 1]); ++k)
                y[r] += static_cast<T>(values[k] * x[static_cast<std::size_t>(column_indices[k])]);
        return y;
    }
};

enum class matrix_kind {
    nothing,       ///< no entries
    banded,        ///< a few diagonals, with gaps
    scattered,     ///< short rows, in no order, with duplicates
    some_empty,    ///< many empty rows
    dense_row,     ///< short rows, and one of all columns
    dense_column,  ///< each row has the first column
    power_law,     ///< few rows have most entries
    blocks,        ///< 3 x 3
    long_rows,     ///< few rows of many entries
    ends_empty     ///< the first and the last rows are empty
};
inline constexpr matrix_kind all_matrix_kinds[] = {
    matrix_kind::nothing,      matrix_kind::banded,    matrix_kind::scattered, matrix_kind::some_empty,
    matrix_kind::dense_row,    matrix_kind::power_law, matrix_kind::blocks,    matrix_kind::long_rows,
    matrix_kind::dense_column, matrix_kind::ends_empty};

template <class T>
host_matrix<T> random_matrix(std::mt19937_64& random, matrix_kind kind, std::size_t rows,
                             std::size_t columns) {
    host_matrix<T> m;
    m.columns = columns;
    const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
    const auto add_some = [&](std::size_t count) {
        for (std::size_t k = 0; columns > 0 && k < count; ++k) m.add(below(columns), small_number<T>(random));
    };
    std::vector<std::int64_t> offsets;
    for (int k = 0; k < 5; ++k)
        offsets.push_back(static_cast<std::int64_t>(below(rows + columns + 1)) -
                          static_cast<std::int64_t>(rows));
    const std::size_t special = rows > 0 ? below(rows) : 0;
    for (std::size_t r = 0; r < rows; ++r) {
        switch (kind) {
            case matrix_kind::nothing: break;
            case matrix_kind::banded:
                for (const std::int64_t offset : offsets) {
                    const std::int64_t c = static_cast<std::int64_t>(r) + offset;
                    if (c >= 0 && c < static_cast<std::int64_t>(columns) && below(8) > 0)
                        m.add(static_cast<std::size_t>(c), small_number<T>(random));
                }
                break;
            case matrix_kind::scattered: add_some(below(9)); break;
            case matrix_kind::some_empty:
                if (below(5) == 0) add_some(1 + below(4));
                break;
            case matrix_kind::dense_row:
                if (r == special)
                    for (std::size_t c = 0; c < columns; ++c) m.add(c, small_number<T>(random));
                else
                    add_some(below(4));
                break;
            case matrix_kind::dense_column:
                if (columns > 0) m.add(0, small_number<T>(random));
                add_some(below(3));
                break;
            case matrix_kind::power_law: add_some(below(1 + 20000 / (1 + (r * 7919) % rows))); break;
            case matrix_kind::blocks:
                for (std::size_t c = r / 3 % 7 * 3; c + 3 <= columns && c < r / 3 % 7 * 3 + 12; ++c)
                    m.add(c, small_number<T>(random));
                break;
            case matrix_kind::long_rows: add_some(1000 + below(200)); break;
            case matrix_kind::ends_empty:
                if (r > rows / 4 && r < rows - rows / 3) add_some(below(6));
                break;
        }
        m.end_row();
    }
    return m;
}

inline std::string words_of(matrix_kind kind) {
    constexpr const char* words[] = {"nothing",      "banded",    "scattered", "some empty", "dense row",
                                     "dense column", "power law", "blocks",    "long rows",  "ends empty"};
    return words[static_cast<std::size_t>(kind)];
}

}  // namespace balm::test
