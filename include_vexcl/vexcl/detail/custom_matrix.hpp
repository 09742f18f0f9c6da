#pragma once
// Sparse matrices whose products are the program's own OpenCL C: a specialisation of sparse::spmv_ops_impl.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <balm/expr.hpp>

#include "vexcl/detail/stored_matrix.hpp"
#include "vexcl/function.hpp"
#include "vexcl/sparse/spmv_ops.hpp"
#include "vexcl/vector.hpp"
#include "vexcl/vector_pointer.hpp"

namespace vex {
namespace detail {

template <class Val>
concept has_custom_product = !requires {
    typename sparse::spmv_ops_impl<Val, typename sparse::rhs_of<Val>::type>::is_default;
};

/// The product of one row.
template <class Val, class Col, class Ptr, class X = typename sparse::rhs_of<Val>::type>
struct custom_row
    : UserFunction<custom_row<Val, Col, Ptr>, X(cl_ulong, const Ptr*, const Col*, const Val*, const X*)> {
    static std::string name() { return "row_of_" + type_name<Val>() + "_and_" + type_name<X>(); }
    static void define(backend::source_generator& src) { define(src, name()); }
    static void define(backend::source_generator& src, const std::string& as) {
        using ops = sparse::spmv_ops_impl<Val, X>;
        src.begin_function<X>(as).begin_function_parameters();
        src.parameter<cl_ulong>("row");
        src.parameter<const Ptr*>("starts");
        src.parameter<const Col*>("columns");
        src.parameter<const Val*>("entries");
        src.parameter<const X*>("x");
        src.end_function_parameters();
        ops::decl_accum_var(src, "sum");
        src.new_line() << "ulong end = starts[row + 1];";
        src.new_line() << "for (ulong j = starts[row]; j < end; ++j)";
        src.open("{");
        ops::append_product(src, "sum", "entries[j]", "x[columns[j]]");
        src.close("}");
        src.new_line() << "return sum;";
        src.end_function();
    }
};

/// A matrix in CSR.
template <class Val, class Col, class Ptr>
class custom_matrix {
    using X = typename sparse::rhs_of<Val>::type;

public:
    template <class Rows>
    custom_matrix(const queue_list& queues, const Rows& from)
        : rows_(from.rows),
          starts_(copied<Ptr>(queues, from.pointers)),
          columns_(copied<Col>(queues, from.indices)),
          entries_(copied<Val>(queues, from.values)) {}

    template <vexpr A>
    decltype(auto) times(const A& a) const {
        const vector<X> x = elements(a);
        const expression<std::int64_t> row(balm::element_index(0, rows_), starts_.queues());
        return custom_row<Val, Col, Ptr>()(row, whole(starts_), whole(columns_), whole(entries_), whole(x));
    }

private:
    template <class T, class Range>
    static vector<T> copied(const queue_list& queues, const Range& range) {
        const std::vector<T> host(std::begin(range), std::end(range));
        return vector<T>(queues.queues(), host);
    }
    /// The operand's memory, if it is a vector; else its values.
    template <class A>
    vector<X> elements(const A& a) const {
        if constexpr (std::same_as<A, vector<X>>) {
            return vector<X>(a.queues(), a.balm_vector().share());
        } else {
            const queue_list& queues = first_of(queues_in(a), entries_.queues());
            const on_queues scope(queues);
            return vector<X>(queues, balm::vector<balm_element<X>>(
                                         placed(assigned<balm_element<X>>(a), queues_in(a), queues)));
        }
    }
    template <class T>
    static pointer<balm_element<T>> whole(const vector<T>& x) {
        return {x.balm_vector().share(), x.queues()};
    }

    std::size_t rows_;
    vector<Ptr> starts_;
    vector<Col> columns_;
    vector<Val> entries_;
};

/// The storage of a matrix with these entries.
template <class Val, class Col, class Ptr>
struct matrix_storage {
    using type = stored_matrix<Val>;
};
template <has_custom_product Val, class Col, class Ptr>
struct matrix_storage<Val, Col, Ptr> {
    using type = custom_matrix<Val, Col, Ptr>;
};

}  // namespace detail
}  // namespace vex
