#pragma once
// Functions that expand rows of a product of matrices: each product of an entry of A's row with one of B's
// becomes a triplet. They serve rows with very many products, or with many entries of A, each of which would
// be searched for every entry of the result. The triplets are sorted and added up like those of any matrix.

#include <cstdint>

#include "balm/balm.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array::row_products {

using namespace balm::dsl;

/// For entry e of the listed rows, whose entries are numbered row after row: its position in A, and its
/// number of products.
template <class I>
Index entry_of(const Index& e, const In<I>& owners, const In<I>& begins, const In<I>& list,
               const In<I>& a_starts) {
    const Var<I> owner = owners[e];
    return cast<std::int64_t>(a_starts[list[owner]]) + e - cast<std::int64_t>(begins[owner]);
}
template <class I>
const auto& entry_work() {
    static const auto& made = *new auto(function(
        "entry_work(e, owners, begins, list, a_starts, a_columns, b_starts)",
        [](Index e, In<I> owners, In<I> begins, In<I> list, In<I> a_starts, In<I> a_columns, In<I> b_starts) {
            const Var<I> middle = a_columns[entry_of<I>(e, owners, begins, list, a_starts)];
            return cast<std::int64_t>(Var<I>(b_starts[middle + I{1}]) - Var<I>(b_starts[middle]));
        }));
    return made;
}
template <class T, class I>
const auto& expand() {
    static const auto& made = *new auto(
        function("expand(p, entries, firsts, owners, begins, list, a_starts, a_columns, a_values, b_starts, "
                 "b_columns, b_values, rows, columns, products)",
                 [](Index p, In<std::int64_t> entries, In<std::int64_t> firsts, In<I> owners, In<I> begins,
                    In<I> list, In<I> a_starts, In<I> a_columns, In<T> a_values, In<I> b_starts,
                    In<I> b_columns, In<T> b_values, Out<I> rows, Out<I> columns, Out<T> products) {
                     const Index e = entries[p];
                     const Index k = entry_of<I>(e, owners, begins, list, a_starts);
                     const Index l = cast<std::int64_t>(b_starts[a_columns[k]]) + p - firsts[e];
                     rows[p] = owners[e];
                     columns[p] = b_columns[l];
                     products[p] = Var<T>(a_values[k]) * Var<T>(b_values[l]);
                 }));
    return made;
}
/// Copies rows that were computed separately into the result.
template <class T, class I>
const auto& copy_rows() {
    static const auto& made = *new auto(
        function("copy_rows(e, owners, begins, list, from_columns, from_values, starts, columns, values)",
                 [](Index e, In<I> owners, In<I> begins, In<I> list, In<I> from_columns, In<T> from_values,
                    In<I> starts, Out<I> columns, Out<T> values) {
                     const Index to = entry_of<I>(e, owners, begins, list, starts);
                     columns[to] = from_columns[e];
                     values[to] = from_values[e];
                 }));
    return made;
}

}  // namespace balm::array::row_products
