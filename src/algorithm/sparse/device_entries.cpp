// Reads stored matrices into CSR on their device, transposes CSR, and sorts triplets into it.

#include "algorithm/sparse/device_entries.hpp"

#include <bit>
#include <complex>
#include <limits>

#include "algorithm/divided_up.hpp"
#include "algorithm/sparse/diagonal_slots.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/complex.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;
using device_handle = std::shared_ptr<runtime::device_state>;
using vector_handle = std::shared_ptr<vector_state>;

/// to[k] = from[positions[k]], for each k below `count`.
vector_handle gathered(const vector_handle& from, const expr<std::int64_t>& positions, std::size_t count) {
    auto to =
        std::make_shared<vector_state>(from->device_handle(), from->type(), std::max<std::size_t>(count, 1));
    if (count == 0) return to;
    vector_state elements(to->memory(), to->type(), count, 0);
    tape where = positions.tape(), of;
    of.push_vector(from);
    where.append_at(std::move(of));
    assign(elements, std::move(where));
    return to;
}

/// The numbers 0, 1, … that a sort moves with its keys.
template <class N>
vector<N> numbered(const device_handle& device, std::size_t count) {
    vector<N> made(std::make_shared<vector_state>(device, scalar_of<N>, count));
    made = cast<N>(element_index());
    return made;
}
/// Calls f with an integer of a type that can count this many.
template <class F>
decltype(auto) with_counter(std::size_t count, F&& f) {
    if (count <= std::numeric_limits<std::uint32_t>::max()) return f(std::uint32_t{});
    return f(std::int64_t{});
}

// ---- Stored matrices

template <class T>
const auto& length_in_diagonals() {
    static const auto& made =
        *new auto(function("length_in_diagonals(row, values, count, stride)", [](Index row, In<T> values,
                                                                                 Index count, Index stride) {
            Index length = 0;
            for (Index d : named("d", range(count)))
                length += select(diagonal_slots::is_entry(Var<T>(values[d * stride + row])), 1, 0);
            return length;
        }));
    return made;
}
template <class T, class I>
const auto& copy_from_diagonals() {
    static const auto& made = *new auto(
        function("copy_from_diagonals(row, values, offsets, count, stride, starts, columns, copies)",
                 [](Index row, In<T> values, In<std::int64_t> offsets, Index count, Index stride,
                    In<I> starts, Out<I> columns, Out<T> copies) {
                     Index next = cast<std::int64_t>(starts[row]);
                     for (Index d : named("d", range(count))) {
                         const Var<T> value = values[d * stride + row];
                         BALM_IF (diagonal_slots::is_entry(value)) {
                             columns[next] = cast<I>(row + offsets[d]);
                             copies[next] = value;
                             next += 1;
                         }
                     }
                 }));
    return made;
}
template <class I>
const auto& length_in_slices() {
    static const auto& made = *new auto(function(
        "length_in_slices(row, starts, columns)", [](Index row, In<std::int64_t> starts, In<I> columns) {
            const Index slice = row >> 5;
            const Index end = starts[slice + 1];
            Index k = starts[slice] + (row & (slice_rows - 1)), length = 0;
            BALM_WHILE (k < end && Var<I>(columns[k]) >= 0) {
                length += 1;
                k += static_cast<std::int64_t>(slice_rows);
            }
            return length;
        }));
    return made;
}
template <class T, class I>
const auto& copy_from_slices() {
    static const auto& made = *new auto(
        function("copy_from_slices(row, slices, from_columns, from_values, starts, columns, copies)",
                 [](Index row, In<std::int64_t> slices, In<I> from_columns, In<T> from_values, In<I> starts,
                    Out<I> columns, Out<T> copies) {
                     Index k = slices[row >> 5] + (row & (slice_rows - 1));
                     for (Var<I> to : named("to", range(Var<I>(starts[row]), Var<I>(starts[row + 1])))) {
                         columns[to] = from_columns[k];
                         copies[to] = from_values[k];
                         k += static_cast<std::int64_t>(slice_rows);
                     }
                 }));
    return made;
}

/// Writes where each row with entries begins, and the end of the last one.
template <class I>
const auto& begin_rows() {
    static const auto& made = *new auto(
        function("begin_rows(item, heads, first, begins)",
                 [](Index item, In<std::uint32_t> heads, In<std::int64_t> first, Out<I> begins) {
                     constexpr auto run = static_cast<std::int64_t>(tile_entries_of_item);
                     const UInt head = heads[item];
                     UInt left = head & ((1u << tile_entries_of_item) - 1);
                     Index next = first[item / static_cast<std::int64_t>(tile_items)] +
                                  cast<std::int64_t>(head >> static_cast<unsigned>(tile_entries_of_item));
                     BALM_WHILE (left != 0u) {
                         const UInt lowest = left & (0u - left);
                         begins[next] = cast<I>(item * run + cast<std::int64_t>(popcount(lowest - 1u)));
                         next += 1;
                         left = left ^ lowest;
                     }
                 }));
    return made;
}

template <class T, class I>
class extraction {
public:
    explicit extraction(const stored_matrix& from) : from_(from), device_(from.values->device_handle()) {
        made_.rows = from.rows;
        made_.columns = from.columns;
        made_.entries = from.kept;
        made_.value = from.value;
        made_.index = from.index;
        made_.ascends = from.ascends;
    }
    device_csr run() {
        switch (from_.how) {
            case storage::diagonals: from_diagonals(); break;
            case storage::slices: from_slices(); break;
            case storage::balanced:
                if (!from_.tiles.are_of_items) {
                    from_tiles();
                    break;
                }
                [[fallthrough]];
            default:
                made_.starts = from_.starts;
                made_.column_indices = from_.column_indices;
                made_.values = from_.values;
        }
        return made_;
    }

private:
    void make_room(const vector<I>& starts) {
        made_.starts = starts.state();
        made_.column_indices = elements_on<I>(device_, made_.entries).state();
        made_.values = elements_on<T>(device_, made_.entries).state();
    }

    void from_diagonals() {
        made_.ascends = true;
        const vector<T> values(from_.values);
        const std::size_t count = from_.offsets.size();
        vector<std::int64_t> offsets = elements_on<std::int64_t>(device_, count);
        if (count > 0) write(*offsets.state(), 0, from_.offsets.data(), count);
        const auto [starts, end] =
            starts_of<I>(length_in_diagonals<T>()(numbers_to(from_.rows), values, signed_of(count),
                                                  signed_of(from_.stride)),
                         from_.rows, device_);
        made_.entries = end;
        make_room(starts);
        if (end == 0) return;
        vector<I> columns(made_.column_indices);
        vector<T> copies(made_.values);
        eval(copy_from_diagonals<T, I>()(numbers_to(from_.rows), values, offsets, signed_of(count),
                                         signed_of(from_.stride), starts, columns, copies));
    }

    void from_slices() {
        const vector<I> from_columns(from_.column_indices);
        const vector<T> from_values(from_.values);
        vector<std::int64_t> slices;
        if (from_.starts) {
            slices = vector<std::int64_t>(from_.starts);
        } else {
            slices = elements_on<std::int64_t>(device_, divided_up(from_.rows, slice_rows) + 1);
            slices = element_index() * signed_of(from_.width * slice_rows);
        }
        const auto [starts, end] = starts_of<I>(
            length_in_slices<I>()(numbers_to(from_.rows), slices, from_columns), from_.rows, device_);
        make_room(starts);
        if (end == 0) return;
        vector<I> columns(made_.column_indices);
        vector<T> copies(made_.values);
        eval(copy_from_slices<T, I>()(numbers_to(from_.rows), slices, from_columns, from_values, starts,
                                      columns, copies));
    }

    void from_tiles() {
        const std::size_t items = from_.tiles.count * tile_items;
        const std::size_t filled = from_.tiles.filled_rows ? from_.tiles.filled_rows->size() : from_.rows;
        vector<I> begins = elements_on<I>(device_, filled + 1);
        if (from_.entries > 0) {
            const vector<std::uint32_t> heads(from_.tiles.heads);
            const vector<std::int64_t> first(from_.tiles.first);
            // The padding begins one more row, which is the end of the last.
            eval(begin_rows<I>()(numbers_to(items), heads, first, begins));
        }
        begins.set(from_.entries > 0 ? filled : 0, static_cast<I>(from_.entries));
        if (from_.entries == 0) {
            begins = elements_on<I>(device_, from_.rows + 1);
            begins = I{0};
        } else if (from_.tiles.filled_rows) {
            const vector<std::int64_t> rows(from_.tiles.filled_rows);
            vector<I> all = elements_on<I>(device_, from_.rows + 1);
            all = begins[lower_bound(rows, element_index())];
            begins = std::move(all);
        }
        made_.starts = begins.state();
        constexpr std::int64_t run = tile_entries_of_item, block = run * 32;
        const auto k = element_index(0, made_.entries);
        const expr<std::int64_t> places = k - k % block + k % block % run * 32 + k % block / run;
        made_.column_indices = gathered(from_.column_indices, places, made_.entries);
        made_.values = gathered(from_.values, places, made_.entries);
    }

    const stored_matrix& from_;
    const device_handle device_;
    device_csr made_;
};

// ---- Order

template <class I>
Bool ascends_in(const Index& row, const In<I>& starts, const In<I>& columns) {
    Bool result = true;
    Index k = cast<std::int64_t>(starts[row]) + 1;
    const Index end = cast<std::int64_t>(starts[row + 1]);
    BALM_WHILE (result && k < end) {
        result = Var<I>(columns[k - 1]) < Var<I>(columns[k]);
        k += 1;
    }
    return result;
}
template <class I>
bool ascends(const device_csr& m) {
    static const auto& row_ascends =
        *new auto(function("row_ascends(row, starts, columns)", [](Index row, In<I> starts, In<I> columns) {
            return ascends_in<I>(row, starts, columns);
        }));
    return all(row_ascends(numbers_to(m.rows), vector<I>(m.starts), vector<I>(m.column_indices)));
}

template <class I>
device_csr transposed_of(const device_csr& from) {
    device_csr made;
    made.rows = from.columns;
    made.columns = from.rows;
    made.entries = from.entries;
    made.value = from.value;
    made.index = from.index;
    made.ascends = from.ascends;
    const device_handle& device = from.starts->device_handle();
    vector<I> starts = elements_on<I>(device, made.rows + 1);
    made.starts = starts.state();
    if (from.entries == 0) {
        starts = I{0};
        made.column_indices = from.column_indices;
        made.values = from.values;
        return made;
    }
    const vector<I> unsorted(from.column_indices);
    vector<I> sorted = unsorted;
    with_counter(from.entries, [&]<class N>(N) {
        vector<N> order = numbered<N>(device, from.entries);
        sort_by_key(sorted, order);
        const vector<I> rows = segment_numbers<I>(vector<I>(from.starts), from.rows, from.entries);
        const auto positions = cast<std::int64_t>(order);
        made.column_indices = gathered(rows.state(), positions, from.entries);
        made.values = gathered(from.values, positions, from.entries);
    });
    starts = cast<I>(lower_bound(sorted, cast<I>(element_index())));
    return made;
}

// ---- Triplets

/// Sums of the values of equal neighbouring keys.
template <class T, class K, class P>
auto sums_by_key(const K& keys, const vector<T>& values, const P& positions) {
    if constexpr (balm::detail::is_complex_value<T>) {
        auto [distinct, re, im] = reduce_by_key(keys, real(values[positions]), imag(values[positions]));
        vector<T> sums = elements_on<T>(values.state()->device_handle(), re.size());
        sums = compose<std::complex<typename T::value_type>>(re, im);
        return std::pair(std::move(distinct), std::move(sums));
    } else {
        auto [distinct, sums] = reduce_by_key(keys, values[positions]);
        return std::pair(std::move(distinct), vector<T>(cast<T>(sums)));
    }
}

template <class T, class I>
device_csr combined_of(std::size_t rows, std::size_t columns, const expr<std::int64_t>& row_indices,
                       const expr<std::int64_t>& column_indices, const vector_handle& values,
                       std::size_t count) {
    const device_handle& device = values->device_handle();
    device_csr made;
    made.rows = rows;
    made.columns = columns;
    made.value = values->type();
    made.index = scalar_of<I>;
    made.ascends = true;
    vector<I> starts = elements_on<I>(device, rows + 1);
    made.starts = starts.state();
    if (count == 0) {
        starts = I{0};
        made.column_indices = elements_on<I>(device, 0).state();
        made.values = values;
        return made;
    }
    const vector<T> of(values);
    const int column_bits = std::bit_width(columns - 1);
    with_counter(count, [&]<class N>(N) {
        vector<N> order = numbered<N>(device, count);
        const auto positions = cast<std::int64_t>(order);
        if (std::bit_width(rows) + column_bits <= 64) {
            const auto shift = static_cast<std::uint64_t>(column_bits);
            vector<std::uint64_t> keys(std::make_shared<vector_state>(device, scalar::u64, count));
            keys = cast<std::uint64_t>(row_indices) << shift | cast<std::uint64_t>(column_indices);
            sort_by_key(keys, order);
            auto [places, sums] = sums_by_key<T>(keys, of, positions);
            vector<I> own = elements_on<I>(device, places.size());
            own = cast<I>(places & ((std::uint64_t{1} << shift) - 1));
            starts = cast<I>(lower_bound(places, cast<std::uint64_t>(element_index()) << shift));
            made.column_indices = own.state();
            made.values = sums.state();
        } else {
            vector<I> in_rows(std::make_shared<vector_state>(device, scalar_of<I>, count)),
                in_columns(std::make_shared<vector_state>(device, scalar_of<I>, count));
            in_rows = cast<I>(row_indices);
            in_columns = cast<I>(column_indices);
            sort_by_key(tie(in_rows, in_columns), order);
            auto [places, sums] = sums_by_key<T>(std::tie(in_rows, in_columns), of, positions);
            starts = cast<I>(lower_bound(std::get<0>(places), cast<I>(element_index())));
            made.column_indices = std::get<1>(places).state();
            made.values = sums.state();
        }
    });
    made.entries = made.values->size();
    return made;
}

}  // namespace

device_csr entries_on_device(const stored_matrix& from) {
    return with_types(from.value, from.index,
                      [&]<class T, class I>() { return extraction<T, I>(from).run(); });
}

device_csr with_ascending_columns(device_csr m) {
    const auto with_index = [&]<class I>(I) {
        if (m.ascends || m.entries == 0 || ascends<I>(m)) {
            m.ascends = true;
            return m;
        }
        const vector<I> rows = segment_numbers<I>(vector<I>(m.starts), m.rows, m.entries);
        return combined(m.rows, m.columns, cast<std::int64_t>(rows),
                        cast<std::int64_t>(vector<I>(m.column_indices)), m.values, m.entries, m.index);
    };
    return m.index == scalar::i64 ? with_index(std::int64_t{}) : with_index(std::int32_t{});
}

device_csr transposed(const device_csr& from) {
    return from.index == scalar::i64 ? transposed_of<std::int64_t>(from) : transposed_of<std::int32_t>(from);
}

device_csr combined(std::size_t rows, std::size_t columns, const expr<std::int64_t>& row_indices,
                    const expr<std::int64_t>& column_indices, const vector_handle& values, std::size_t count,
                    scalar index) {
    return with_types(values->type(), index, [&]<class T, class I>() {
        return combined_of<T, I>(rows, columns, row_indices, column_indices, values, count);
    });
}

}  // namespace balm::array
