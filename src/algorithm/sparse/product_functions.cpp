// Sums of rows. An absent entry never uses x's element there, which may be infinite or NaN.

#include "algorithm/sparse/product_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <string>
#include <vector>

#include "algorithm/sparse/diagonal_slots.hpp"
#include "algorithm/sparse/row_function.hpp"
#include "algorithm/sparse/stored_matrix.hpp"
#include "algorithm/sparse/value_types.hpp"

namespace balm::array {

namespace {

using namespace row_function;

/// Whether a slot of diagonals, converted to a factor, holds an entry.
template <class T>
Bool is_entry(const Var<T>& slot, trace::type stored) {
    if constexpr (std::floating_point<T>)
        if (kind_of(stored.element) == scalar_kind::integer) return slot != T{};
    return diagonal_slots::is_entry(slot);
}

template <class T, class X>
function_pointer trace_diagonals(trace::type stored, std::size_t count, bool has_branches,
                                 const operand_form& form) {
    std::string signature = "row_of_diagonals(element, values, x, stride, columns";
    for (std::size_t d = 0; d < count; ++d) signature += fmt::format(", offset{}", d);
    parameters given(signature + signature_end(form));
    const Index element = given.index();
    const factors<T> values = given.entries<T>(stored);
    const In<X> x = given.memory<X>();
    const Index stride = given.index(), columns = given.index();
    std::vector<Index> offsets;
    for (std::size_t d = 0; d < count; ++d) offsets.push_back(given.index());
    const place of(given, form, element);
    Var<X> sum;
    Index at = of.row;
    for (std::size_t d = 0; d < count; ++d) {
        const Var<T> value = values[at];
        const Index column = of.row + offsets[d];
        if (has_branches) {
            BALM_IF (is_entry(value, stored)) {
                sum += value * Var<X>(x[of.at(column)]);
            }
        } else {
            const Var<X> loaded = x[of.at(max(min(column, columns - 1), std::int64_t{0}))];
            add_if(is_entry(value, stored), sum, value, loaded);
        }
        if (d + 1 < count) at += stride;
    }
    return given.finish(sum);
}

/// Diagonals are stored by row: the entry of a diagonal in this column is in the row column - offset.
template <class T, class X>
function_pointer trace_transposed_diagonals(trace::type stored, std::size_t count, const operand_form& form) {
    std::string signature = "column_of_diagonals(element, values, x, stride, rows";
    for (std::size_t d = 0; d < count; ++d) signature += fmt::format(", offset{}", d);
    parameters given(signature + signature_end(form));
    const Index element = given.index();
    const factors<T> values = given.entries<T>(stored);
    const In<X> x = given.memory<X>();
    const Index stride = given.index(), rows = given.index();
    std::vector<Index> offsets;
    for (std::size_t d = 0; d < count; ++d) offsets.push_back(given.index());
    const place of(given, form, element);
    Var<X> sum;
    Index first;
    for (std::size_t d = 0; d < count; ++d) {
        const Index row = of.row - offsets[d];
        const Index inside = max(min(row, rows - 1), std::int64_t{0});
        const Var<T> value = values[first + inside];
        const Var<X> loaded = x[of.at(inside)];
        add_if(row == inside && is_entry(value, stored), sum, value, loaded);
        if (d + 1 < count) first += stride;
    }
    return given.finish(sum);
}

/// Adds up entries of a row that are slice_rows apart, with all loads before the sum. Absent entries have
/// column -1.
template <class T, class I, class X>
void add_entries(Var<X>& sum, const Index& first, std::size_t count, const factors<T>& values,
                 const In<I>& column_indices, const In<X>& x, const place& of) {
    std::vector<Var<I>> columns;
    std::vector<Var<T>> entries;
    std::vector<Var<X>> elements;
    const auto at = [&](std::size_t k) { return first + static_cast<std::int64_t>(k * slice_rows); };
    for (std::size_t k = 0; k < count; ++k) columns.push_back(column_indices[at(k)]);
    for (std::size_t k = 0; k < count; ++k) entries.push_back(values[at(k)]);
    for (std::size_t k = 0; k < count; ++k)
        elements.push_back(x[of.at(cast<std::int64_t>(max(columns[k], I{0})))]);
    for (std::size_t k = 0; k < count; ++k) add_if(columns[k] >= I{0}, sum, entries[k], elements[k]);
}

constexpr std::int64_t in_slice = slice_rows - 1;
/// Loads before a sum; fewer for short vectors, which take a register per lane.
constexpr std::size_t entries_at_once = 4;

template <class T, class I, class X>
function_pointer trace_slices(trace::type stored, std::size_t width, const operand_form& form) {
    parameters given(std::string("row_of_slices(element, values, column_indices, x") + signature_end(form));
    const Index element = given.index();
    const factors<T> values = given.entries<T>(stored);
    const In<I> column_indices = given.memory<I>();
    const In<X> x = given.memory<X>();
    const place of(given, form, element);
    Var<X> sum;
    const Index lane = of.row & in_slice;
    const Index first = (of.row - lane) * static_cast<std::int64_t>(width) + lane;
    const std::size_t most = form.lanes > 1 ? entries_at_once : width;
    for (std::size_t k = 0; k < width; k += most)
        add_entries(sum, Index(first + static_cast<std::int64_t>(k * slice_rows)), std::min(most, width - k),
                    values, column_indices, x, of);
    return given.finish(sum);
}

template <class T, class I, class X>
function_pointer trace_slices(trace::type stored, const operand_form& form) {
    parameters given(std::string("row_of_slices(element, starts, values, column_indices, x") +
                     signature_end(form));
    const Index element = given.index();
    const In<std::int64_t> starts = given.memory<std::int64_t>();
    const factors<T> values = given.entries<T>(stored);
    const In<I> column_indices = given.memory<I>();
    const In<X> x = given.memory<X>();
    const place of(given, form, element);
    Var<X> sum;
    const Index slice = of.row >> 5;
    const Index begin = starts[slice], end = starts[slice + 1];
    const Index first = begin + (of.row & in_slice);
    constexpr auto step = static_cast<std::int64_t>(entries_at_once * slice_rows);
    const Index whole = first + ((end - begin) & -step);
    for (Index k : named("k", range(first, whole, step)))
        add_entries(sum, k, entries_at_once, values, column_indices, x, of);
    for (Index k : named("k", range(whole, end, static_cast<std::int64_t>(slice_rows))))
        add_entries(sum, k, 1, values, column_indices, x, of);
    return given.finish(sum);
}

/// Independent sums of a long row, none of which waits for the previous one. 81 entries per row on 2 cores of
/// EPYC, PoCL 3.1, relative to OpenMP's rate: 0.88 with one sum.
constexpr std::size_t sums_of_long_rows = 4;

template <class T, class I, class X>
function_pointer trace_rows(trace::type stored, std::size_t sum_count, const operand_form& form) {
    parameters given(std::string("row_of_csr(element, starts, values, column_indices, x") +
                     signature_end(form));
    const Index element = given.index();
    const In<I> starts = given.memory<I>();
    const factors<T> values = given.entries<T>(stored);
    const In<I> column_indices = given.memory<I>();
    const In<X> x = given.memory<X>();
    const place of(given, form, element);
    const auto product = [&](const Var<I>& k) {
        return Var<X>(values[k] * Var<X>(x[of.at(cast<std::int64_t>(Var<I>(column_indices[k])))]));
    };
    std::vector<Var<X>> sums(sum_count);
    const Var<I> begin = starts[of.row], end = starts[of.row + 1];
    Var<I> whole = begin;
    if (sum_count > 1) {
        const auto step = static_cast<I>(sum_count);
        whole = end - ((end - begin) & (step - 1));
        for (Var<I> k : named("k", range(begin, whole, step)))
            for (std::size_t j = 0; j < sum_count; ++j) sums[j] += product(k + static_cast<I>(j));
    }
    for (Var<I> k : named("k", range(whole, end))) sums[0] += product(k);
    for (std::size_t width = sum_count / 2; width > 0; width /= 2)
        for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
    return given.finish(sums[0]);
}

/// Cuts are listed as rows, then first tiles, then last ones.
template <class X>
function_pointer trace_cut(const operand_form& form) {
    parameters given(std::string("cut_row(element, cuts, count, tails, heads") + signature_end(form));
    const Index element = given.index();
    const In<std::int64_t> cuts = given.memory<std::int64_t>();
    const Index count = given.index();
    const In<X> tails = given.memory<X>(), heads = given.memory<X>();
    const place of(given, form, element);
    const Index first = cuts[count + of.row], last = cuts[count * 2 + of.row];
    Var<X> sum = tails[of.at(first)];
    for (Index k : named("k", range(first + 1, last + 1))) sum += heads[of.at(k)];
    return given.finish(sum);
}

function_pointer trace_place(const operand_form& form) {
    parameters given(std::string("place_of_row(element, rows") + signature_end(form));
    const Index element = given.index();
    const In<std::int64_t> rows = given.memory<std::int64_t>();
    const place of(given, form, element);
    return given.finish(of.at(Index(rows[of.row])));
}

template <class X>
function_pointer trace_gather(const operand_form& form) {
    parameters given(std::string("element_of_row(element, rows, x") + signature_end(form));
    const Index element = given.index();
    const In<std::int64_t> rows = given.memory<std::int64_t>();
    const In<X> x = given.memory<X>();
    const place of(given, form, element);
    return given.finish(Var<X>(x[of.at(Index(rows[of.row]))]));
}

}  // namespace

function_pointer diagonals_function(trace::type value, std::size_t count, bool has_branches,
                                    const operand_form& form) {
    const char* const kind = has_branches ? "diagonals with branches" : "diagonals";
    return known({kind, value, scalar::i64, form, count}, [&] {
        return with_operands(value, scalar::i32, form, [&]<class T, class, class X>() {
            return trace_diagonals<T, X>(value, count, has_branches, form);
        });
    });
}
function_pointer transposed_diagonals_function(trace::type value, std::size_t count,
                                               const operand_form& form) {
    return known({"transposed diagonals", value, scalar::i64, form, count}, [&] {
        return with_operands(value, scalar::i32, form, [&]<class T, class, class X>() {
            return trace_transposed_diagonals<T, X>(value, count, form);
        });
    });
}
function_pointer slices_function(trace::type value, scalar index, std::size_t width,
                                 const operand_form& form) {
    return known({"slices of a width", value, index, form, width}, [&] {
        return with_operands(value, index, form, [&]<class T, class I, class X>() {
            return trace_slices<T, I, X>(value, width, form);
        });
    });
}
function_pointer slices_function(trace::type value, scalar index, const operand_form& form) {
    return known({"slices", value, index, form}, [&] {
        return with_operands(value, index, form,
                             [&]<class T, class I, class X>() { return trace_slices<T, I, X>(value, form); });
    });
}
function_pointer rows_function(trace::type value, scalar index, bool are_long, const operand_form& form) {
    const std::size_t sums = are_long ? sums_of_long_rows : 1;
    return known({"rows", value, index, form, sums}, [&] {
        return with_operands(value, index, form, [&]<class T, class I, class X>() {
            return trace_rows<T, I, X>(value, sums, form);
        });
    });
}
function_pointer cut_function(const operand_form& form) {
    return known({"cuts", form.type, scalar::i64, form}, [&] {
        return with_operands(form.type, scalar::i32, form,
                             [&]<class, class, class X>() { return trace_cut<X>(form); });
    });
}
function_pointer place_function(const operand_form& form) {
    return known({"places", scalar::i64, scalar::i64, form}, [&] { return trace_place(form); });
}

function_pointer gather_function(const operand_form& form) {
    return known({"gathers", form.type, scalar::i64, form}, [&] {
        return with_operands(form.type, scalar::i32, form,
                             [&]<class, class, class X>() { return trace_gather<X>(form); });
    });
}

}  // namespace balm::array
