#pragma once
// Vectors and sparse matrices as arguments of ViennaCL's generic iterative solvers. Include this header
// before ViennaCL's:
//
//     #include <vexcl/external/viennacl.hpp>
//     #include <viennacl/linalg/cg.hpp>
//
//     x = viennacl::linalg::solve(A, f, viennacl::linalg::cg_tag(1e-8, 100));

#include <balm/statistics.hpp>

#include "vexcl/vector.hpp"

namespace viennacl {
namespace linalg {

template <class Matrix, class T>
requires requires(const Matrix& a, const vex::vector<T>& x) {
    { a* x } -> vex::detail::vexpr;
}
decltype(auto) prod(const Matrix& a, const vex::vector<T>& x) { return a * x; }
template <class T>
T inner_prod(const vex::vector<T>& x, const vex::vector<T>& y) {
    const vex::detail::on_queues scope(x.queues());
    return balm::dot(x.balm_vector(), y.balm_vector());
}
template <class T>
T norm_2(const vex::vector<T>& x) {
    const vex::detail::on_queues scope(x.queues());
    return balm::norm2(x.balm_vector());
}

}  // namespace linalg

namespace traits {

template <class T>
void clear(vex::vector<T>& x) {
    x.clear();
}

}  // namespace traits
}  // namespace viennacl
