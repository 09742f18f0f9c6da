#pragma once
// Products of matrix entries and vector elements in the program's own OpenCL C.

#include <string>

#include "vexcl/backend/source.hpp"
#include "vexcl/types.hpp"

namespace vex {
namespace sparse {

/// The element type of vectors that a matrix with entries of T multiplies.
template <class T, class Enable = void>
struct rhs_of {
    typedef T type;
};

/// How a row's products are added up. Specialise it, and rhs_of if the types differ, for entries that are not
/// multiplied as OpenCL C does; the result has the vector's type. In the default,
///
///     decl_accum_var(src, sum)                declares the variable `sum`, which is zero,
///     append_product(src, sum, entry, value)  adds the product of an entry and an element to it.
template <class Matrix, class Vector, class Enable = void>
struct spmv_ops_impl {
    static void decl_accum_var(backend::source_generator& src, const std::string& sum) {
        src.new_line() << type_name<Vector>() << ' ' << sum << " = 0;";
    }
    static void append_product(backend::source_generator& src, const std::string& sum,
                               const std::string& entry, const std::string& value) {
        src.new_line() << sum << " += " << entry << " * " << value << ';';
    }
    /// Absent from specialisations: sparse_matrix computes the same products.
    typedef void is_default;
};

}  // namespace sparse
}  // namespace vex
