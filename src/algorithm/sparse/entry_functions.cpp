// Functions of the entries of matrices: scalings, sums, elementwise products, rows, the diagonal. In and out:
// CSR on one device.

#include <algorithm>
#include <utility>

#include "algorithm/sparse/assembly.hpp"
#include "algorithm/sparse/device_entries.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using vector_handle = std::shared_ptr<vector_state>;

template <class I>
vector<I> row_of_each(const device_csr& m) {
    return segment_numbers<I>(vector<I>(m.starts), m.rows, m.entries);
}
auto range_of(std::size_t first, std::size_t count) {
    return slice(signed_of(first), signed_of(first + count));
}

template <class T, class I>
const auto& scaled_entry() {
    static const auto& made =
        *new auto(function("scaled_entry(entry, values, factors, places)", [](Index k, In<T> values,
                                                                              In<T> factors, In<I> places) {
            return Var<T>(Var<T>(values[k]) * Var<T>(factors[cast<std::int64_t>(places[k])]));
        }));
    return made;
}
template <class T>
const auto& multiplied_entry() {
    static const auto& made = *new auto(function(
        "multiplied_entry(entry, values, factor)",
        [](Index k, In<T> values, In<T> factor) { return Var<T>(Var<T>(values[k]) * Var<T>(factor[0])); }));
    return made;
}
template <class T>
const auto& negated_entry() {
    static const auto& made = *new auto(function(
        "negated_entry(entry, values)", [](Index k, In<T> values) { return Var<T>(-Var<T>(values[k])); }));
    return made;
}
/// The entry of b in the same place as each entry of a; -1 if there is none. Columns of both ascend.
template <class I>
const auto& same_place() {
    static const auto& made =
        *new auto(function("same_place(entry, rows, columns, b_starts, b_columns)",
                           [](Index k, In<I> rows, In<I> columns, In<I> b_starts, In<I> b_columns) {
                               const Index row = cast<std::int64_t>(rows[k]);
                               const Var<I> column = columns[k];
                               Index at = cast<std::int64_t>(b_starts[row]);
                               const Index end = cast<std::int64_t>(b_starts[row + 1]);
                               Index left = end - at;
                               BALM_WHILE (left > 0) {
                                   const Index half = (left + 1) >> 1;
                                   at += select(Var<I>(b_columns[at + half - 1]) < column, half, Index(0));
                                   left -= half;
                               }
                               Index found = -1;
                               BALM_IF (at < end && Var<I>(b_columns[at]) == column) {
                                   found = at;
                               }
                               return found;
                           }));
    return made;
}
template <class T>
const auto& product_of_entries() {
    static const auto& made =
        *new auto(function("product_of_entries(entry, from_a, from_b, a, b)",
                           [](Index k, In<std::int64_t> from_a, In<std::int64_t> from_b, In<T> a, In<T> b) {
                               const Index at = from_a[k];
                               return Var<T>(Var<T>(a[at]) * Var<T>(b[from_b[at]]));
                           }));
    return made;
}
template <class T, class I>
const auto& diagonal_entry() {
    static const auto& made =
        *new auto(function("diagonal_entry(row, starts, columns, values)", [](Index row, In<I> starts,
                                                                              In<I> columns, In<T> values) {
            Var<T> sum;
            for (Var<I> k : named("k", range(Var<I>(starts[row]), Var<I>(starts[row + 1]))))
                BALM_IF (cast<std::int64_t>(columns[k]) == row) {
                    sum += Var<T>(values[k]);
                }
            return sum;
        }));
    return made;
}

template <class T, class I>
device_csr hadamard_of(const device_csr& a, const device_csr& b) {
    const auto& device = a.starts->device_handle();
    device_csr made = a;
    made.entries = 0;
    vector<I> starts = elements_on<I>(device, a.rows + 1);
    made.starts = starts.state();
    starts = I{0};
    if (a.entries == 0 || b.entries == 0) return made;
    const vector<I> columns(a.column_indices);
    vector<std::int64_t> places = elements_on<std::int64_t>(device, a.entries);
    places = same_place<I>()(numbers_to(a.entries), row_of_each<I>(a), columns, vector<I>(b.starts),
                             vector<I>(b.column_indices));
    const vector<std::int64_t> common = copy_if(numbers_to(a.entries), places >= std::int64_t{0});
    made.entries = common.size();
    if (made.entries == 0) return made;
    starts = cast<I>(lower_bound(common, cast<std::int64_t>(vector<I>(a.starts))));
    vector<I> kept = elements_on<I>(device, made.entries);
    kept = columns[common];
    vector<T> products = elements_on<T>(device, made.entries);
    products = product_of_entries<T>()(numbers_to(made.entries), common, places, vector<T>(a.values),
                                       vector<T>(b.values));
    made.column_indices = kept.state();
    made.values = products.state();
    return made;
}

}  // namespace

device_csr scaled(const device_csr& m, const vector_handle& factors, factors_of by) {
    if (m.entries == 0) return m;
    return with_types(m.value, m.index, [&]<class T, class I>() {
        const vector<T> values(m.values), of(factors);
        vector<T> products = elements_on<T>(m.starts->device_handle(), m.entries);
        const auto entries = numbers_to(m.entries);
        if (by == factors_of::all)
            products = multiplied_entry<T>()(entries, values, of);
        else if (by == factors_of::rows)
            products = scaled_entry<T, I>()(entries, values, of, row_of_each<I>(m));
        else
            products = scaled_entry<T, I>()(entries, values, of, vector<I>(m.column_indices));
        device_csr made = m;
        made.values = products.state();
        return made;
    });
}

device_csr added(const device_csr& a, const device_csr& b, bool is_difference) {
    const std::size_t count = a.entries + b.entries;
    return with_types(a.value, a.index, [&]<class T, class I>() {
        const auto& device = a.starts->device_handle();
        vector<I> rows = elements_on<I>(device, count), columns = elements_on<I>(device, count);
        vector<T> values = elements_on<T>(device, count);
        std::size_t first = 0;
        for (const device_csr* each : {&a, &b}) {
            if (each->entries == 0) continue;
            const auto range = range_of(first, each->entries);
            copy_elements(*rows.state(), first, *row_of_each<I>(*each).state(), 0, each->entries);
            copy_elements(*columns.state(), first, *each->column_indices, 0, each->entries);
            if (each == &b && is_difference)
                values(range) = negated_entry<T>()(numbers_to(b.entries), vector<T>(b.values));
            else
                copy_elements(*values.state(), first, *each->values, 0, each->entries);
            first += each->entries;
        }
        return combined(a.rows, a.columns, cast<std::int64_t>(rows), cast<std::int64_t>(columns),
                        values.state(), count, a.index);
    });
}

device_csr hadamard(device_csr a, device_csr b) {
    a = with_ascending_columns(std::move(a));
    b = with_ascending_columns(std::move(b));
    return with_types(a.value, a.index, [&]<class T, class I>() { return hadamard_of<T, I>(a, b); });
}

device_csr some_rows(const device_csr& m, std::size_t first, std::size_t last) {
    return with_types(m.value, m.index, [&]<class T, class I>() {
        const auto& device = m.starts->device_handle();
        device_csr made = m;
        made.rows = last - first;
        const vector<I> of(m.starts);
        vector<I> starts = elements_on<I>(device, made.rows + 1);
        const I begin = of[first], end = of[last];
        starts = of(range_of(first, made.rows + 1)) - begin;
        made.starts = starts.state();
        made.entries = static_cast<std::size_t>(end - begin);
        made.column_indices = elements_on<I>(device, made.entries).state();
        made.values = elements_on<T>(device, made.entries).state();
        if (made.entries == 0) return made;
        const auto from = static_cast<std::size_t>(begin);
        copy_elements(*made.column_indices, 0, *m.column_indices, from, made.entries);
        copy_elements(*made.values, 0, *m.values, from, made.entries);
        return made;
    });
}

vector_handle diagonal_of(const device_csr& m) {
    return with_types(m.value, m.index, [&]<class T, class I>() {
        const std::size_t count = std::min(m.rows, m.columns);
        vector<T> made(std::make_shared<vector_state>(m.starts->device_handle(), m.value, count));
        if (count > 0)
            made = diagonal_entry<T, I>()(numbers_to(count), vector<I>(m.starts), vector<I>(m.column_indices),
                                          vector<T>(m.values));
        return made.state();
    });
}

}  // namespace balm::array
