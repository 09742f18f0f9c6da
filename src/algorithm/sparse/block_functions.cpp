// Sums of rows of dense blocks. A work-item computes one row of entries. Neighbouring work-items compute the
// rows of a block; they read its column index, and the operand's elements there, together.

#include "algorithm/sparse/block_functions.hpp"

#include <algorithm>
#include <bit>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/sparse/row_function.hpp"
#include "algorithm/sparse/stored_matrix.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/vector_memory.hpp"

namespace balm::array {

namespace {

using namespace row_function;

std::int64_t number_of(std::size_t n) { return static_cast<std::int64_t>(n); }

/// Quotient and remainder by a constant, in 32 bits if rows are known to fit.
template <class I>
std::pair<Index, Index> divided(const Index& row, std::size_t by) {
    if constexpr (sizeof(I) == 4) {
        const UInt small = cast<unsigned>(row);
        const auto divisor = static_cast<unsigned>(by);
        const UInt quotient = small / divisor;
        return {cast<std::int64_t>(quotient), cast<std::int64_t>(UInt(small - quotient * divisor))};
    } else {
        const Index quotient = row / number_of(by);
        return {quotient, Index(row - quotient * number_of(by))};
    }
}

/// Entries that are loaded before a sum, of a power of two of blocks.
constexpr std::size_t block_entries_at_once = 8;

template <class T, class I, class X>
function_pointer trace_block_slices(trace::type stored, const block_shape& block, const operand_form& form) {
    parameters given(std::string("row_of_block_slices(element, starts, values, column_indices, x") +
                     signature_end(form));
    const Index element = given.index();
    const In<std::int64_t> starts = given.memory<std::int64_t>();
    const factors<T> values = given.entries<T>(stored);
    const In<I> column_indices = given.memory<I>();
    const In<X> x = given.memory<X>();
    const place of(given, form, element);
    const std::size_t rows_of_slice = slice_rows * block.rows;
    const std::pair<Index, Index> of_slice = divided<I>(of.row, rows_of_slice);
    const Index &slice = of_slice.first, &in_slice = of_slice.second;
    const Index lane = divided<I>(in_slice, block.rows).first;
    const Index begin = starts[slice], end = starts[slice + 1];
    Var<X> sum;
    const auto add_blocks = [&](const Index& first, std::size_t count) {
        std::vector<Var<I>> columns;
        std::vector<Var<T>> entries;
        std::vector<Var<X>> elements;
        for (std::size_t b = 0; b < count; ++b)
            columns.push_back(column_indices[first + (lane + number_of(b * slice_rows))]);
        const Index first_entry = first * number_of(block.entries()) + in_slice;
        for (std::size_t k = 0; k < count * block.columns; ++k)
            entries.push_back(values[first_entry + number_of(k * rows_of_slice)]);
        for (std::size_t b = 0; b < count; ++b) {
            const Index column = cast<std::int64_t>(max(columns[b], I{0})) * number_of(block.columns);
            for (std::size_t j = 0; j < block.columns; ++j)
                elements.push_back(x[of.at(Index(column + number_of(j)))]);
        }
        for (std::size_t k = 0; k < count * block.columns; ++k)
            add_if(columns[k / block.columns] >= I{0}, sum, entries[k], elements[k]);
    };
    const std::size_t at_once = std::bit_floor(std::max<std::size_t>(
        block_entries_at_once / (block.columns * std::min<std::size_t>(form.lanes, 2)), 1));
    Index next = begin;
    if (at_once > 1) {
        const std::int64_t step = number_of(at_once * slice_rows);
        const Index whole = begin + ((end - begin) & -step);
        for (Index k : named("k", range(begin, whole, step))) add_blocks(k, at_once);
        next = whole;
    }
    for (Index k : named("k", range(next, end, number_of(slice_rows)))) add_blocks(k, 1);
    return given.finish(sum);
}

/// The products of N columns of a block are the lanes of a short vector.
template <int N, class T, class I>
Var<T> sum_by_lanes(const In<T>& values, const In<I>& column_indices, const In<T>& x, const Index& first,
                    const Index& count, const Index& first_vector) {
    Var<vec<T, N>> sums;
    for (Index k : named("k", range(count)))
        sums += vload<N>(values, first_vector + k) *
                vload<N>(x, cast<std::int64_t>(Var<I>(column_indices[first + k])));
    std::vector<Var<T>> lanes;
    lanes.reserve(N);
    for (int k = 0; k < N; ++k) lanes.push_back(sums[k]);
    for (std::size_t width = N / 2; width > 0; width /= 2)
        for (std::size_t k = 0; k < width; ++k) lanes[k] += lanes[k + width];
    return lanes[0];
}

template <class T, class I, class X>
function_pointer trace_block_rows(trace::type stored, const block_shape& block, const operand_form& form) {
    parameters given(std::string("row_of_blocks(element, starts, values, column_indices, x") +
                     signature_end(form));
    const Index element = given.index();
    const In<I> starts = given.memory<I>();
    const factors<T> values = given.entries<T>(stored);
    const In<I> column_indices = given.memory<I>();
    const In<X> x = given.memory<X>();
    const place of(given, form, element);
    const auto [row, in_block] = divided<I>(of.row, block.rows);
    const Index first = cast<std::int64_t>(Var<I>(starts[row]));
    const Index count = cast<std::int64_t>(Var<I>(starts[row + 1])) - first;
    if constexpr (std::same_as<T, X> && std::floating_point<T>) {
        const Index first_vector = first * number_of(block.rows) + in_block * count;
        const bool is_by_lanes = form.columns() == 1 && values.are_stored();
        const In<T> numbers(values.memory());
        if (is_by_lanes && block.columns == 4)
            return given.finish(sum_by_lanes<4>(numbers, column_indices, x, first, count, first_vector));
        if (is_by_lanes && block.columns == 8)
            return given.finish(sum_by_lanes<8>(numbers, column_indices, x, first, count, first_vector));
    }
    const Index begin = first * number_of(block.entries()) + in_block * count * number_of(block.columns);
    std::vector<Var<X>> sums(block.columns);
    for (Index k : named("k", range(count))) {
        const Index column = cast<std::int64_t>(Var<I>(column_indices[first + k])) * number_of(block.columns);
        const Index at = begin + k * number_of(block.columns);
        for (std::size_t j = 0; j < block.columns; ++j)
            sums[j] += Var<T>(values[at + number_of(j)]) * Var<X>(x[of.at(Index(column + number_of(j)))]);
    }
    Var<X> sum = sums[0];
    for (std::size_t j = 1; j < block.columns; ++j) sum += sums[j];
    return given.finish(sum);
}

template <class X>
function_pointer trace_pieces(const block_shape& block, const operand_form& form) {
    parameters given(std::string("row_of_pieces(element, starts, places, sums") + signature_end(form));
    const Index element = given.index();
    const In<std::int64_t> starts = given.memory<std::int64_t>(), places = given.memory<std::int64_t>();
    const In<X> sums = given.memory<X>();
    const place of(given, form, element);
    const auto [row, in_block] = divided<std::int64_t>(of.row, block.rows);
    const Index begin = starts[row], end = starts[row + 1];
    Var<X> sum;
    for (Index k : named("k", range(begin, end)))
        sum += sums[of.at(Index(Index(places[k]) * number_of(block.rows) + in_block))];
    return given.finish(sum);
}

}  // namespace

function_pointer block_slices_function(trace::type value, scalar index, const block_shape& block,
                                       const operand_form& form) {
    return known({"slices of blocks", value, index, form, 0, block.rows, block.columns}, [&] {
        return with_operands(value, index, form, [&]<class T, class I, class X>() {
            return trace_block_slices<T, I, X>(value, block, form);
        });
    });
}
function_pointer block_rows_function(trace::type value, scalar index, const block_shape& block,
                                     const operand_form& form) {
    return known({"rows of blocks", value, index, form, 0, block.rows, block.columns}, [&] {
        return with_operands(value, index, form, [&]<class T, class I, class X>() {
            return trace_block_rows<T, I, X>(value, block, form);
        });
    });
}
function_pointer pieces_function(const block_shape& block, const operand_form& form) {
    return known({"pieces", form.type, scalar::i64, form, 0, block.rows, block.columns}, [&] {
        return with_operands(form.type, scalar::i32, form,
                             [&]<class, class, class X>() { return trace_pieces<X>(block, form); });
    });
}

}  // namespace balm::array
