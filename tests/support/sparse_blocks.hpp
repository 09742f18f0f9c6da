#pragma once
// Random sparse matrices of dense blocks, as blocks and as single entries.

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "balm/balm.hpp"
#include "support/sparse_matrices.hpp"

namespace balm::test {

/// Blocks in CSR, their values in row-major order.
template <class T>
struct host_blocks {
    std::size_t rows = 0, columns = 0, block_rows = 1, block_columns = 1;
    std::vector<std::int64_t> pointers{0}, column_indices;
    std::vector<T> values;

    void add(std::size_t column, std::mt19937_64& random) {
        column_indices.push_back(static_cast<std::int64_t>(column));
        for (std::size_t k = 0; k < block_rows * block_columns; ++k) {
            T value = small_number<T>(random);
            if (value == T{}) value = T(1);
            values.push_back(value);
        }
    }
    void end_row() {
        pointers.push_back(static_cast<std::int64_t>(column_indices.size()));
        ++rows;
    }
    /// Entry by entry: the oracle.
    host_matrix<T> entries() const {
        host_matrix<T> m;
        m.columns = columns * block_columns;
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t i = 0; i < block_rows; ++i) {
                for (auto k = static_cast<std::size_t>(pointers[r]);
                     k < static_cast<std::size_t>(pointers[r + 1]); ++k)
                    for (std::size_t j = 0; j < block_columns; ++j)
                        m.add(static_cast<std::size_t>(column_indices[k]) * block_columns + j,
                              values[(k * block_rows + i) * block_columns + j]);
                m.end_row();
            }
        return m;
    }
};

/// Columns in no order; of several rows one has `longest` blocks, and some have none.
template <class T>
host_blocks<T> random_blocks(std::mt19937_64& random, std::size_t rows, std::size_t columns,
                             std::size_t block_rows, std::size_t block_columns, std::size_t longest) {
    host_blocks<T> m;
    m.columns = columns;
    m.block_rows = block_rows;
    m.block_columns = block_columns;
    const std::size_t special = rows > 0 ? random() % rows : 0;
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t count = columns == 0 ? 0 : r == special ? longest : random() % 6;
        for (std::size_t k = 0; k < count; ++k) m.add(random() % columns, random);
        m.end_row();
    }
    return m;
}

template <class T>
sparse_matrix<T> on_device(const context& ctx, const host_blocks<T>& m, storage how = storage::automatic) {
    return sparse_matrix<T>::from_blocks(ctx, m.rows, m.columns, {m.block_rows, m.block_columns}, m.pointers,
                                         m.column_indices, m.values, how);
}

}  // namespace balm::test
