#pragma once
// Random array programs: statements on vectors as plain data, their text, and what they compute by host
// arithmetic of their own. Nothing of Balm's expressions, views or conversions is used here: values are
// numbers of 113 bits with a bound of their error, views gather elements one by one.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "balm/builtin.hpp"
#include "balm/types.hpp"
#include "support/array_numbers.hpp"

namespace balm::test {

using extent_list = std::vector<std::size_t>;
std::size_t product_of(const extent_list&);

/// Elements in row-major order.
struct host_values {
    extent_list box;
    std::vector<number> at;
};

struct array_node;
using node_pointer = std::shared_ptr<array_node>;

/// Some positions of a dimension.
struct dimension_part {
    enum class kind : std::uint8_t { all, reversed, range, one };
    kind what = kind::all;
    std::int64_t begin = 0, end = 0, stride = 1;
};

/// What makes a view of elements, or of another view.
struct view_step {
    enum class kind : std::uint8_t { reshape, slice, transpose, broadcast, pick };
    kind what = kind::reshape;
    extent_list to;  ///< of a reshape or broadcast; of a pick how many positions
    std::vector<dimension_part> parts;
    std::vector<int> order;
    node_pointer positions;
};

/// What elements are: a scalar, whose type stands beside it, or several numbers.
enum class element_form : std::uint8_t {
    scalar,
    float4,
    int2,
    uchar4,
    double2,
    float3,
    complex_float,
    complex_double,
    particle,
    half3,  ///< in memory; in expressions float3 and float4
    half4
};
/// The types of their numbers; of a scalar none are said.
const std::vector<scalar>& numbers_of(element_form);
inline bool is_complex(element_form form) {
    return form == element_form::complex_float || form == element_form::complex_double;
}

enum class reduction_row : std::uint8_t {
    sum,
    sum_compensated,
    product,
    min,
    max,
    arg_min,
    arg_max,
    any,
    all,
    count,
    fold_join,      ///< a | b of u32
    fold_multiply,  ///< a * b of u32
    fold_wrap,      ///< a + b of u64
    fold_farther    ///< max(|a|, |b|) of f64
};
inline constexpr int reduction_rows = static_cast<int>(reduction_row::fold_farther) + 1;
inline bool is_fold(reduction_row row) { return row >= reduction_row::fold_join; }

/// A step of an expression.
struct array_node {
    enum class kind : std::uint8_t {
        vector,
        scalar,
        constant,  ///< a scalar that is part of the kernel
        index,
        random,     ///< of the index in[0], and of the seed in[1] or `seed`
        look_up,    ///< a function that reads vector `which` at in[0]
        host_call,  ///< functions of host values alone
        row,
        both,    ///< in[0] && in[1]
        either,  ///< in[0] || in[1]
        cast,
        saturate,
        bits,  ///< of a type of the same size
        select,
        let,
        kept,
        call,
        view,
        along,
        lane,      ///< one of an element's numbers
        compose,   ///< an element of scalars
        turned,    ///< the lanes of a short vector, the last one first
        any_lane,  ///< of a comparison of short vectors
        all_lanes,
        conj,
        proj,
        complex_row,  ///< complex_row `which` of complex numbers
        complex_pow,
        polar,        ///< of a distance and an angle
        complex_abs,  ///< a scalar of a complex number, as are the next two
        complex_arg,
        complex_norm,
        equal_complex,  ///< whether two complex numbers are equal
        advance         ///< a function of a structure and a number
    };
    kind what = kind::vector;
    scalar type = scalar::i32;  ///< of its elements, or of the lanes of short vectors
    element_form form = element_form::scalar;
    std::vector<node_pointer> in;
    std::size_t which = 0;            ///< the vector, the function, the lane, or the let that keeps a value
    builtin row = builtin::add;       ///< of a row
    double given = 0;                 ///< a scalar: its value
    scalar given_as = scalar::i32;    ///< its type on the host
    bool is_fixed = false;            ///< a scalar of which positions depend
    std::int64_t offset = 0;          ///< of an index
    bool is_sized = true;             ///< an index that says how many elements it has
    bool is_constant_memory = false;  ///< of a vector
    bool is_threefry = false, is_normal = false;
    std::uint64_t seed = 0, stream = 0;
    std::size_t count = 0;         ///< of an index, view or reduction: the elements of what is in it
    std::vector<view_step> steps;  ///< of a view
    reduction_row reduces = reduction_row::sum;
    std::vector<int> dimensions;  ///< along which it reduces
};

/// A vector of a program.
struct array_vector {
    scalar type = scalar::i32;
    std::size_t size = 0;
    std::size_t positions_in = 0;  ///< where it holds positions: of how many elements
    element_form form = element_form::scalar;
    bool may_repeat = false;  ///< whether it holds a position more than once

    std::size_t numbers() const { return form == element_form::scalar ? 1 : numbers_of(form).size(); }
    scalar number_type(std::size_t k) const {
        return form == element_form::scalar ? type : numbers_of(form)[k];
    }
};

/// A vector as a whole, or a view of it.
struct array_target {
    std::size_t vector = 0;
    std::vector<view_step> steps;
    std::optional<std::size_t> part = {};  ///< the number of each element that alone is assigned
};

struct array_statement {
    enum class kind : std::uint8_t { assign, compound, tie, multi, reduce, fill, copy, make, histogram };
    kind what = kind::assign;
    std::vector<array_target> to;
    std::vector<node_pointer> values;
    builtin row = builtin::add;          ///< of a compound assignment
    std::vector<reduction_row> reduces;  ///< a row for each value
    bool is_portable = false;            ///< of a reduction
    bool stays_on_device = false;        ///< its results, until they are read
};

struct array_program {
    std::vector<array_vector> vectors;
    std::vector<array_statement> statements;
};

array_program draw_array_program(std::mt19937_64&);
/// Other host scalars and seeds in the same program.
void redraw_scalars(array_program&, std::mt19937_64&);
/// Elements for a vector: mostly small numbers whose sums and products are exact.
std::vector<number> draw_elements(const array_vector&, std::mt19937_64&);

std::string text_of(const array_program&);

/// A function of two elements that programs call.
struct array_function {
    const char* name;
    scalar first, second, result;
    number (*compute)(const number&, const number&);
};
extern const std::vector<array_function> array_functions;

/// The type that a reduction gives.
scalar reduced_type(reduction_row, scalar);
const char* name_of(reduction_row);
bool gives_position(reduction_row);
/// What a fold begins with.
double identity_of(reduction_row);
/// twice_and(twice_and(a, b), c) * d, which stands for host calls.
number host_call_of(const std::vector<number>& given);

/// Runs programs on numbers. Where a statement assigns several values to an element, a device chooses one:
/// after `run`, `settle` takes its choice.
class array_oracle {
public:
    explicit array_oracle(const array_program& p) : program_(p) {}

    std::vector<std::vector<number>> vectors;  ///< the numbers of each one's elements
    /// What a statement computes; the results of a reduction.
    std::vector<number> run(const array_statement&);
    /// The vectors of which the last statement assigned elements several times.
    std::vector<std::size_t> contested() const;
    /// Takes the elements that a device chose there. Returns those that are none of the assigned ones, in
    /// words;
    /// "" for none.
    std::string settle(std::size_t vector, const std::vector<real>& got);

private:
    /// Number `lane` of each element; one element is read for all.
    host_values evaluate(const array_node&, std::size_t count, std::size_t lane = 0);
    host_values evaluate_by_itself(const array_node&, std::size_t count, std::size_t lane);
    number row_of(const array_node&, const std::vector<host_values>& in, std::size_t k) const;
    /// What operands are in an element's place, two numbers for each complex one.
    using operand_numbers = std::vector<std::vector<number>>;
    template <class F>
    host_values each_element(const array_node&, std::size_t count, F&& number_of);
    host_values product_of_complex(const array_node&, std::size_t count, std::size_t lane);
    host_values quotient_of_complex(const array_node&, std::size_t count, std::size_t lane);
    host_values function_of_complex(const array_node&, std::size_t count, std::size_t lane);
    host_values any_or_all(const array_node&, std::size_t count);
    host_values advanced(const array_node&, std::size_t count, std::size_t lane);
    host_values viewed(host_values, const std::vector<view_step>&);
    host_values along(const array_node&);
    host_values random_numbers(const array_node&, std::size_t count);
    host_values looked_up(const array_node&, std::size_t count);
    std::vector<std::size_t> places_of(const array_target&);
    void store(const array_target&, const std::vector<std::size_t>& places, std::size_t lane, scalar from,
               const std::vector<number>& values);

    const array_program& program_;
    /// The values assigned to an element, each for the numbers that are assigned.
    using element_place = std::pair<std::size_t, std::size_t>;  // vector and element
    std::map<element_place, std::map<std::size_t, std::vector<number>>> assigned_;
    std::vector<std::vector<number>> kept_;
};

/// Whether a device's element, as a number, is what the oracle knows it to be.
bool agrees(const number& expected, real got);
std::string words_of(const number&);

}  // namespace balm::test
