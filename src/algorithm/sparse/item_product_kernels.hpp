#pragma once
// The kernels that multiply matrices on CPUs. A work-item computes a chunk of contiguous rows with its own
// hash table in global memory, or, if that is no longer, a table with a slot for each column (Nagasaka et
// al., 2017). Rows are counted, then computed. Both matrices are in CSR; the tables' rows begin as -1.

#include <cstdint>

#include "algorithm/sparse/column_hash.hpp"
#include "balm/balm.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array::row_products {

using namespace balm::dsl;

/// A work-item's table: the columns of the current row, and where the row's sums are.
template <class I>
struct table {
    InOut<I> columns, rows;
    Index first;
    UInt bits;
    Bool is_dense;

    /// The slot where a column is, or will be.
    Index slot_of(const Var<I>& column, const Var<I>& row) const {
        UInt at = select(is_dense, cast<unsigned>(column), hashed<I>(column, bits));
        Index slot = first + cast<std::int64_t>(at);
        BALM_WHILE (Var<I>(rows[slot]) == row && Var<I>(columns[slot]) != column) {
            at = (at + 1u) & ((UInt(1u) << bits) - 1u);
            slot = first + cast<std::int64_t>(at);
        }
        return slot;
    }
};

template <class I>
const auto& count_entries() {
    static const auto& made = *new auto(kernel<1>(
        "count_entries(chunks, table_rows, table_columns, bits, is_dense, a_starts, a_columns, b_starts, "
        "b_columns, counts)",
        [](In<std::int64_t> chunks, InOut<I> table_rows, InOut<I> table_columns, UInt bits, Bool is_dense,
           In<I> a_starts, In<I> a_columns, In<I> b_starts, In<I> b_columns, Out<I> counts) {
            const Index chunk = global_id(0);
            const table<I> own{table_columns, table_rows, chunk << cast<std::int64_t>(bits), bits, is_dense};
            for (Index row : named("row", range(Index(chunks[chunk]), Index(chunks[chunk + 1])))) {
                const Var<I> mark = cast<I>(row);
                Var<I> count;
                for (Var<I> k : named("k", range(Var<I>(a_starts[row]), Var<I>(a_starts[row + 1])))) {
                    const Var<I> middle = a_columns[k];
                    for (Var<I> l :
                         named("l", range(Var<I>(b_starts[middle]), Var<I>(b_starts[middle + I{1}])))) {
                        const Var<I> column = b_columns[l];
                        const Index slot = own.slot_of(column, mark);
                        BALM_IF (Var<I>(table_rows[slot]) != mark) {
                            table_rows[slot] = mark;
                            table_columns[slot] = column;
                            count += I{1};
                        }
                    }
                }
                counts[row] = count;
            }
        }));
    return made;
}

/// Shell's sort with Knuth's gaps.
template <class I>
void sort_columns(const InOut<I>& columns, const Var<I>& begin, const Var<I>& end) {
    Var<I> gap = I{1};
    BALM_WHILE (gap * I{9} < end - begin) {
        gap = gap * I{3} + I{1};
    }
    BALM_WHILE (gap > I{0}) {
        for (Var<I> k : named("k", range(begin + gap, end))) {
            const Var<I> moved = columns[k];
            Var<I> to = k;
            BALM_WHILE (to >= begin + gap && Var<I>(columns[to - gap]) > moved) {
                columns[to] = columns[to - gap];
                to -= gap;
            }
            columns[to] = moved;
        }
        gap = gap / I{3};
    }
}

template <class T, class I>
const auto& compute_rows() {
    static const auto& made = *new auto(kernel<1>(
        "compute_rows(chunks, table_rows, table_columns, table_sums, bits, is_dense, a_starts, a_columns, "
        "a_values, b_starts, b_columns, b_values, starts, columns, values)",
        [](In<std::int64_t> chunks, InOut<I> table_rows, InOut<I> table_columns, InOut<T> table_sums,
           UInt bits, Bool is_dense, In<I> a_starts, In<I> a_columns, In<T> a_values, In<I> b_starts,
           In<I> b_columns, In<T> b_values, In<I> starts, InOut<I> columns, Out<T> values) {
            const Index chunk = global_id(0);
            const table<I> own{table_columns, table_rows, chunk << cast<std::int64_t>(bits), bits, is_dense};
            for (Index row : named("row", range(Index(chunks[chunk]), Index(chunks[chunk + 1])))) {
                const Var<I> mark = cast<I>(row), begin = starts[row];
                Var<I> end = begin;
                for (Var<I> k : named("k", range(Var<I>(a_starts[row]), Var<I>(a_starts[row + 1])))) {
                    const Var<I> middle = a_columns[k];
                    const Var<T> factor = a_values[k];
                    for (Var<I> l :
                         named("l", range(Var<I>(b_starts[middle]), Var<I>(b_starts[middle + I{1}])))) {
                        const Var<I> column = b_columns[l];
                        const Index slot = own.slot_of(column, mark);
                        Var<T> sum;
                        BALM_IF (Var<I>(table_rows[slot]) == mark) {
                            sum = table_sums[slot];
                        }
                        BALM_ELSE {
                            table_rows[slot] = mark;
                            table_columns[slot] = column;
                            columns[end] = column;
                            end += I{1};
                        }
                        table_sums[slot] = sum + factor * Var<T>(b_values[l]);
                    }
                }
                sort_columns<I>(columns, begin, end);
                for (Var<I> k : named("k", range(begin, end)))
                    values[k] = table_sums[own.slot_of(Var<I>(columns[k]), mark)];
            }
        }));
    return made;
}

}  // namespace balm::array::row_products
