// Sums of rows. An absent entry never touches x's element there, which may be infinite or NaN.

#include "algorithm/sparse/product_functions.hpp"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "algorithm/sparse/stored_matrix.hpp"
#include "algorithm/sparse/value_types.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/dsl/control.hpp"
#include "balm/dsl/memory.hpp"
#include "balm/trace.hpp"

namespace balm::array {

namespace {

using namespace balm::dsl;

/// The functions of one kind, each traced when it is first asked for.
template <class Make>
function_pointer known(const char* kind, trace::type value, scalar index, std::size_t size,
                       const Make& make) {
    using key = std::tuple<std::string, scalar, int, scalar, std::size_t>;
    static auto& mutex = *new std::mutex;
    static auto& list = *new std::map<key, function_pointer>;
    const std::scoped_lock lock(mutex);
    function_pointer& found = list[{kind, value.element, value.lanes, index, size}];
    if (!found) found = make();
    return found;
}

template <class T>
trace::type type_of() {
    return balm::detail::type_of_element<T>();
}

/// The parameters of a function, in order.
class parameters {
public:
    explicit parameters(const std::string& signature) : recording_(signature, 0, {}) {}
    Index index() { return Index(recording_.parameter(scalar::i64, trace::access::value)); }
    template <class T>
    In<T> memory() {
        return In<T>(recording_.parameter(type_of<T>(), trace::access::in));
    }
    template <class T>
    function_pointer finish(const Var<T>& result) {
        const trace::node value = trace::read(result.node());
        return recording_.finish(&value);
    }

private:
    trace::recording recording_;
};

template <class T>
Bool is_not_zero(const Var<T>& value) {
    if constexpr (balm::detail::is_complex_value<T>)
        return (value.real() != 0) | (value.imag() != 0);
    else
        return value != T{};
}

/// sum += value * x where the condition is true; else the value is 0. x is loaded in any case, so that no
/// load waits for another.
template <class T>
void add_if(const Bool& is_there, Var<T>& sum, const Var<T>& value, const Var<T>& x) {
    Var<T> element = x;
    BALM_IF (!is_there) {
        element = Var<T>();
    }
    sum += value * element;
}

template <class T>
function_pointer trace_diagonals(std::size_t count, bool has_branches) {
    std::string signature = "row_of_diagonals(row, values, x, stride, columns";
    for (std::size_t d = 0; d < count; ++d) signature += fmt::format(", offset{}", d);
    parameters given(signature + ")");
    const Index row = given.index();
    const In<T> values = given.memory<T>(), x = given.memory<T>();
    const Index stride = given.index(), columns = given.index();
    std::vector<Index> offsets;
    for (std::size_t d = 0; d < count; ++d) offsets.push_back(given.index());
    Var<T> sum;
    Index at = row;
    for (std::size_t d = 0; d < count; ++d) {
        const Var<T> value = values[at];
        const Index column = row + offsets[d];
        if (has_branches) {
            BALM_IF (is_not_zero(value)) {
                sum += value * Var<T>(x[column]);
            }
        } else {
            const Var<T> element = x[max(min(column, columns - 1), std::int64_t{0})];
            add_if(is_not_zero(value), sum, value, element);
        }
        if (d + 1 < count) at += stride;
    }
    return given.finish(sum);
}

/// Adds up entries of a row that are a slice's rows apart, with all loads ahead of the sum. Absent ones have
/// column -1.
template <class T, class I>
void add_entries(Var<T>& sum, const Index& first, std::size_t count, const In<T>& values,
                 const In<I>& column_indices, const In<T>& x) {
    std::vector<Var<I>> columns;
    std::vector<Var<T>> entries, elements;
    const auto at = [&](std::size_t k) { return first + static_cast<std::int64_t>(k * slice_rows); };
    for (std::size_t k = 0; k < count; ++k) columns.push_back(column_indices[at(k)]);
    for (std::size_t k = 0; k < count; ++k) entries.push_back(values[at(k)]);
    for (std::size_t k = 0; k < count; ++k) elements.push_back(x[max(columns[k], I{0})]);
    for (std::size_t k = 0; k < count; ++k) add_if(columns[k] >= I{0}, sum, entries[k], elements[k]);
}

constexpr std::int64_t in_slice = slice_rows - 1;

template <class T, class I>
function_pointer trace_slices(std::size_t width) {
    parameters given("row_of_slices(row, values, column_indices, x)");
    const Index row = given.index();
    const In<T> values = given.memory<T>();
    const In<I> column_indices = given.memory<I>();
    const In<T> x = given.memory<T>();
    Var<T> sum;
    const Index lane = row & in_slice;
    const Index first = (row - lane) * static_cast<std::int64_t>(width) + lane;
    add_entries(sum, first, width, values, column_indices, x);
    return given.finish(sum);
}

template <class T, class I>
function_pointer trace_slices() {
    constexpr std::size_t at_once = 4;
    parameters given("row_of_slices(row, starts, values, column_indices, x)");
    const Index row = given.index();
    const In<std::int64_t> starts = given.memory<std::int64_t>();
    const In<T> values = given.memory<T>();
    const In<I> column_indices = given.memory<I>();
    const In<T> x = given.memory<T>();
    Var<T> sum;
    const Index slice = row >> 5;
    const Index begin = starts[slice], end = starts[slice + 1];
    const Index first = begin + (row & in_slice);
    constexpr auto step = static_cast<std::int64_t>(at_once * slice_rows);
    const Index whole = first + ((end - begin) & -step);
    for (Index k : named("k", range(first, whole, step)))
        add_entries(sum, k, at_once, values, column_indices, x);
    for (Index k : named("k", range(whole, end, static_cast<std::int64_t>(slice_rows))))
        add_entries(sum, k, 1, values, column_indices, x);
    return given.finish(sum);
}

/// Sums side by side of a long row, none of which waits for the one before it: 81 entries a row on 2 cores of
/// EPYC, PoCL 3.1, in terms of OpenMP's rate: 0.88 with one sum.
constexpr std::size_t sums_of_long_rows = 4;

template <class T, class I>
function_pointer trace_rows(std::size_t sum_count) {
    parameters given("row_of_csr(row, starts, values, column_indices, x)");
    const Index row = given.index();
    const In<I> starts = given.memory<I>();
    const In<T> values = given.memory<T>();
    const In<I> column_indices = given.memory<I>();
    const In<T> x = given.memory<T>();
    const auto product = [&](const Var<I>& k) {
        return Var<T>(Var<T>(values[k]) * Var<T>(x[column_indices[k]]));
    };
    std::vector<Var<T>> sums(sum_count);
    const Var<I> begin = starts[row], end = starts[row + 1];
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

template <class T>
function_pointer trace_cut() {
    parameters given("cut_row(first, last, tails, heads)");
    const Index first = given.index(), last = given.index();
    const In<T> tails = given.memory<T>(), heads = given.memory<T>();
    Var<T> sum = tails[first];
    for (Index k : named("k", range(first + 1, last + 1))) sum += heads[k];
    return given.finish(sum);
}

}  // namespace

function_pointer diagonals_function(trace::type value, std::size_t count, bool has_branches) {
    const char* const kind = has_branches ? "diagonals with branches" : "diagonals";
    return known(kind, value, scalar::i64, count, [&] {
        return with_types(value, scalar::i32,
                          [&]<class T, class>() { return trace_diagonals<T>(count, has_branches); });
    });
}
function_pointer slices_function(trace::type value, scalar index, std::size_t width) {
    return known("slices of a width", value, index, width, [&] {
        return with_types(value, index, [&]<class T, class I>() { return trace_slices<T, I>(width); });
    });
}
function_pointer slices_function(trace::type value, scalar index) {
    return known("slices", value, index, 0, [&] {
        return with_types(value, index, []<class T, class I>() { return trace_slices<T, I>(); });
    });
}
function_pointer rows_function(trace::type value, scalar index, bool are_long) {
    const std::size_t sums = are_long ? sums_of_long_rows : 1;
    return known("rows", value, index, sums, [&] {
        return with_types(value, index, [&]<class T, class I>() { return trace_rows<T, I>(sums); });
    });
}
function_pointer cut_function(trace::type value) {
    return known("cuts", value, scalar::i64, 0, [&] {
        return with_types(value, scalar::i32, []<class T, class>() { return trace_cut<T>(); });
    });
}

}  // namespace balm::array
