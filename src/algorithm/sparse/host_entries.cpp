// Checks user input, and sorts triplets by row.

#include "algorithm/sparse/host_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "algorithm/sparse/stored_matrix.hpp"
#include "balm/error.hpp"

namespace balm::array {

namespace {

template <class F>
decltype(auto) with_integers(const host_integers& list, F&& f) {
    const auto as = [&]<class I>(I) { return f(std::span(static_cast<const I*>(list.first), list.count)); };
    switch (list.type) {
        case scalar::i8: return as(std::int8_t{});
        case scalar::u8: return as(std::uint8_t{});
        case scalar::i16: return as(std::int16_t{});
        case scalar::u16: return as(std::uint16_t{});
        case scalar::i32: return as(std::int32_t{});
        case scalar::u32: return as(std::uint32_t{});
        case scalar::i64: return as(std::int64_t{});
        default: return as(std::uint64_t{});
    }
}

/// Throws usage_error if the index type cannot count this many.
void check_fits(const char* what, std::size_t count, scalar index) {
    const std::uint64_t most = index == scalar::i32 ? std::numeric_limits<std::int32_t>::max()
                                                    : std::numeric_limits<std::int64_t>::max() / 2;
    if (count > most)
        throw usage_error(
            fmt::format("a sparse matrix cannot have {} {}: with the index type {} it can have at most {}{}",
                        grouped(count), what, to_string(index), grouped(most),
                        index == scalar::i32 ? "; use sparse_matrix<T, std::int64_t>" : ""));
}

template <class E, class I>
[[noreturn]] void refuse_entry_in_row(E entry, I row, std::size_t rows) {
    throw usage_error(fmt::format(
        "entry {} of a sparse matrix is in row {}, which is out of range: its {} rows count from 0", entry,
        row, rows));
}
/// What messages call the lines of entries, and the places in a line.
struct words_of_lines {
    const char *line, *place, *format;
};
words_of_lines words_of(const host_csr& from) {
    return from.is_csc ? words_of_lines{"column", "row", "CSC"} : words_of_lines{"row", "column", "CSR"};
}
template <class E, class I>
[[noreturn]] void refuse_entry_in_column(E entry, std::int64_t row, I column, std::size_t columns,
                                         const words_of_lines& words = {"row", "column", "CSR"}) {
    throw usage_error(fmt::format(
        "entry {} of a sparse matrix, in {} {}, is in {} {}, which is out of range: its {} {}s count from 0",
        entry, words.line, row, words.place, column, columns, words.place));
}

/// The list as integers of type I: its own memory or `copy`. Calls refuse(position, integer) for integers
/// outside 0 to `end` - 1.
template <class I, class Refuse>
const I* checked_indices(const host_integers& list, std::size_t end, std::vector<I>& copy,
                         const Refuse& refuse) {
    return with_integers(list, [&]<class G>(std::span<const G> given) -> const I* {
        for (std::size_t k = 0; k < given.size(); ++k)
            if (!std::cmp_greater_equal(given[k], 0) || !std::cmp_less(given[k], end)) refuse(k, given[k]);
        if constexpr (std::same_as<G, I>) {
            return given.data();
        } else {
            copy.assign(given.begin(), given.end());
            return copy.data();
        }
    });
}

/// A stable counting sort.
template <std::size_t Bytes, class I>
void sort_by_row(sorted_triplets<I>& made, const I* rows, const I* columns, const void* values) {
    using value = std::array<std::byte, Bytes>;
    const auto* const from = static_cast<const value*>(values);
    auto* const to = reinterpret_cast<value*>(made.values.data());
    std::vector<std::int64_t>& next = made.row_pointers;  // of each row: where its next entry goes
    for (std::size_t k = 0; k < made.column_indices.size(); ++k)
        ++next[static_cast<std::size_t>(rows[k]) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t k = 0; k < made.column_indices.size(); ++k) {
        const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(rows[k])]++);
        made.column_indices[at] = columns[k];
        to[at] = from[k];
    }
    std::move_backward(next.begin(), next.end() - 1, next.end());
    next[0] = 0;
}

}  // namespace

void check_fit(std::size_t rows, std::size_t columns, std::size_t entries, scalar index) {
    check_fits("rows", rows, index);
    check_fits("columns", columns, index);
    check_fits("entries", entries, index);
}
void check_triplet_counts(std::size_t rows, std::size_t columns, std::size_t values) {
    if (rows == values && columns == values) return;
    throw usage_error(fmt::format(
        "a sparse matrix got {} row indices, {} column indices and {} values; the numbers must be equal",
        rows, columns, values));
}
void refuse_row(std::int64_t entry, std::int64_t row, std::size_t rows) {
    refuse_entry_in_row(entry, row, rows);
}
void refuse_column(std::int64_t entry, std::int64_t row, std::int64_t column, std::size_t columns) {
    refuse_entry_in_column(entry, row, column, columns);
}

void check_sizes(const host_csr& from, scalar index) {
    const words_of_lines words = words_of(from);
    if (from.is_csc)
        check_fit(from.columns, from.rows, from.value_count, index);
    else
        check_fit(from.rows, from.columns, from.value_count, index);
    if (from.row_pointers.count != from.rows + 1)
        throw usage_error(fmt::format(
            "a sparse matrix of {} {}s got {} {} pointers; {} needs {}: one per {}, and one for the "
            "end of the last",
            from.rows, words.line, from.row_pointers.count, words.line, words.format, from.rows + 1,
            words.line));
    if (from.column_indices.count != from.value_count)
        throw usage_error(
            fmt::format("a sparse matrix got {} {} indices and {} values; the numbers must be equal",
                        from.column_indices.count, words.place, from.value_count));
}

std::vector<std::int64_t> checked_pointers(const host_csr& from) {
    const char* const line = words_of(from).line;
    std::vector<std::int64_t> pointers(from.rows + 1);
    with_integers(from.row_pointers, [&](auto given) {
        const auto number = [&](std::size_t r) {
            if (!std::in_range<std::int64_t>(given[r]))
                throw usage_error(fmt::format(
                    "{} pointer {} of a sparse matrix, {}, does not fit in a signed 64-bit integer", line, r,
                    given[r]));
            return static_cast<std::int64_t>(given[r]);
        };
        for (std::size_t r = 0; r <= from.rows; ++r) pointers[r] = number(r);
    });
    if (pointers[0] != 0)
        throw usage_error(
            fmt::format("the {} pointers of a sparse matrix begin at {} instead of 0{}", line, pointers[0],
                        pointers[0] == 1 ? fmt::format(": subtract 1 from pointers and {}s that "
                                                       "count from 1, as in Fortran",
                                                       words_of(from).place)
                                         : ""));
    for (std::size_t r = 0; r < from.rows; ++r)
        if (pointers[r] > pointers[r + 1])
            throw usage_error(fmt::format(
                "{} pointer {} of a sparse matrix is {}, less than the one before it, {}: {} {} would "
                "have a negative number of entries",
                line, r + 1, pointers[r + 1], pointers[r], line, r));
    if (static_cast<std::size_t>(pointers.back()) != from.value_count)
        throw usage_error(fmt::format(
            "the {} pointers of a sparse matrix end at {}, but it got {} values; the last pointer "
            "must be the number of entries",
            line, pointers.back(), from.value_count));
    return pointers;
}

template <class I>
const I* checked_columns(const host_csr& from, const std::vector<std::int64_t>& pointers,
                         std::vector<I>& copy) {
    return checked_indices(from.column_indices, from.columns, copy, [&](std::size_t entry, auto column) {
        const auto row =
            std::upper_bound(pointers.begin(), pointers.end(), static_cast<std::int64_t>(entry)) -
            pointers.begin() - 1;
        refuse_entry_in_column(entry, row, column, from.columns, words_of(from));
    });
}
template const std::int32_t* checked_columns(const host_csr&, const std::vector<std::int64_t>&,
                                             std::vector<std::int32_t>&);
template const std::int64_t* checked_columns(const host_csr&, const std::vector<std::int64_t>&,
                                             std::vector<std::int64_t>&);

template <class I>
sorted_triplets<I> sorted_by_row(const host_triplets& from, std::size_t value_bytes) {
    const std::size_t count = from.value_count;
    check_triplet_counts(from.row_indices.count, from.column_indices.count, count);
    check_fit(from.rows, from.columns, count, scalar_of<I>);
    std::vector<I> copied_rows, copied_columns;
    const I* const rows =
        checked_indices(from.row_indices, from.rows, copied_rows,
                        [&](std::size_t entry, auto row) { refuse_entry_in_row(entry, row, from.rows); });
    const I* const columns = checked_indices(
        from.column_indices, from.columns, copied_columns, [&](std::size_t entry, auto column) {
            refuse_entry_in_column(entry, rows[entry], column, from.columns);
        });
    sorted_triplets<I> made{std::vector<std::int64_t>(from.rows + 1), std::vector<I>(count),
                            std::vector<std::byte>(count * value_bytes)};
    switch (value_bytes) {
        case 4: sort_by_row<4>(made, rows, columns, from.values); break;
        case 8: sort_by_row<8>(made, rows, columns, from.values); break;
        default: sort_by_row<16>(made, rows, columns, from.values);
    }
    return made;
}
template sorted_triplets<std::int32_t> sorted_by_row(const host_triplets&, std::size_t);
template sorted_triplets<std::int64_t> sorted_by_row(const host_triplets&, std::size_t);

}  // namespace balm::array
