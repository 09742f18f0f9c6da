#pragma once
// A backend of AMGCL over the functions of peer_amgcl.hpp: operation for operation what AMGCL's own CUDA
// backend does, which includes the coarsest level on the host.

#include <amgcl/backend/builtin.hpp>
#include <amgcl/solver/skyline_lu.hpp>
#include <amgcl/util.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "peer_amgcl.hpp"

namespace peer {

/// The module's functions; set before anything else here is used.
inline const cuda_amgcl_functions* amgcl_functions = nullptr;

class cuda_vector {
public:
    using value_type = double;

    explicit cuda_vector(std::size_t n, const double* from = nullptr)
        : size_(n), memory_(amgcl_functions->make_vector(n, from), amgcl_functions->release_vector) {}
    std::size_t size() const { return size_; }
    double* data() const { return memory_.get(); }

private:
    std::size_t size_;
    std::shared_ptr<double> memory_;
};

class cuda_matrix {
public:
    using value_type = double;
    using host_matrix = amgcl::backend::crs<double, std::ptrdiff_t, std::ptrdiff_t>;

    explicit cuda_matrix(const host_matrix& from) : rows_(from.nrows), columns_(from.ncols) {
        const std::vector<int> row_pointers(from.ptr, from.ptr + rows_ + 1);
        const std::vector<int> column_indices(from.col, from.col + row_pointers.back());
        memory_ = {amgcl_functions->make_matrix(rows_, columns_, row_pointers.data(), column_indices.data(),
                                                from.val),
                   amgcl_functions->release_matrix};
        amgcl::precondition(memory_ != nullptr, "no cuSPARSE");
    }
    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    const void* data() const { return memory_.get(); }

private:
    std::size_t rows_, columns_;
    std::shared_ptr<void> memory_;
};

class amgcl_direct_solver {
public:
    explicit amgcl_direct_solver(const cuda_matrix::host_matrix& matrix)
        : solver_(matrix), right_hand_side_(matrix.nrows), solution_(matrix.nrows) {}
    static std::size_t coarse_enough() { return amgcl::solver::skyline_lu<double>::coarse_enough(); }
    void operator()(const cuda_vector& right_hand_side, const cuda_vector& solution) const {
        amgcl_functions->read(right_hand_side_.data(), right_hand_side.data(), right_hand_side.size());
        solver_(right_hand_side_, solution_);
        amgcl_functions->write(solution.data(), solution_.data(), solution.size());
    }

private:
    amgcl::solver::skyline_lu<double> solver_;
    mutable std::vector<double> right_hand_side_, solution_;
};

struct amgcl_on_cuda {
    using value_type = double;
    using index_type = std::ptrdiff_t;
    using col_type = std::ptrdiff_t;
    using ptr_type = std::ptrdiff_t;
    using matrix = cuda_matrix;
    using vector = cuda_vector;
    using matrix_diagonal = cuda_vector;
    using direct_solver = amgcl_direct_solver;
    using params = amgcl::detail::empty_params;
    struct provides_row_iterator : std::false_type {};

    static std::string name() { return "cuSPARSE"; }
    static std::shared_ptr<matrix> copy_matrix(const std::shared_ptr<cuda_matrix::host_matrix>& from,
                                               const params&) {
        return std::make_shared<matrix>(*from);
    }
    static std::shared_ptr<vector> copy_vector(
        const std::shared_ptr<amgcl::backend::numa_vector<double>>& from, const params&) {
        return std::make_shared<vector>(from->size(), from->data());
    }
    static std::shared_ptr<vector> create_vector(std::size_t size, const params&) {
        return std::make_shared<vector>(size);
    }
    static std::shared_ptr<direct_solver> create_solver(
        const std::shared_ptr<cuda_matrix::host_matrix>& coarsest, const params&) {
        return std::make_shared<direct_solver>(*coarsest);
    }
};

}  // namespace peer

namespace amgcl::backend {

template <>
struct rows_impl<peer::cuda_matrix> {
    static std::size_t get(const peer::cuda_matrix& a) { return a.rows(); }
};
template <>
struct cols_impl<peer::cuda_matrix> {
    static std::size_t get(const peer::cuda_matrix& a) { return a.columns(); }
};
template <class Alpha, class Beta>
struct spmv_impl<Alpha, peer::cuda_matrix, peer::cuda_vector, Beta, peer::cuda_vector> {
    static void apply(Alpha alpha, const peer::cuda_matrix& a, const peer::cuda_vector& x, Beta beta,
                      const peer::cuda_vector& y) {
        peer::amgcl_functions->multiply(alpha, a.data(), x.data(), beta, y.data());
    }
};
template <>
struct residual_impl<peer::cuda_matrix, peer::cuda_vector, peer::cuda_vector, peer::cuda_vector> {
    static void apply(const peer::cuda_vector& f, const peer::cuda_matrix& a, const peer::cuda_vector& x,
                      const peer::cuda_vector& r) {
        peer::amgcl_functions->copy(r.data(), f.data(), f.size());
        peer::amgcl_functions->multiply(-1, a.data(), x.data(), 1, r.data());
    }
};
template <>
struct clear_impl<peer::cuda_vector> {
    static void apply(const peer::cuda_vector& x) { peer::amgcl_functions->clear(x.data(), x.size()); }
};
template <>
struct copy_impl<peer::cuda_vector, peer::cuda_vector> {
    static void apply(const peer::cuda_vector& from, const peer::cuda_vector& to) {
        peer::amgcl_functions->copy(to.data(), from.data(), from.size());
    }
};
template <>
struct inner_product_impl<peer::cuda_vector, peer::cuda_vector> {
    static double get(const peer::cuda_vector& x, const peer::cuda_vector& y) {
        return peer::amgcl_functions->dot(x.data(), y.data(), x.size());
    }
};
template <class A, class B>
struct axpby_impl<A, peer::cuda_vector, B, peer::cuda_vector> {
    static void apply(A a, const peer::cuda_vector& x, B b, const peer::cuda_vector& y) {
        peer::amgcl_functions->axpby(a, x.data(), b, y.data(), x.size());
    }
};
template <class A, class B, class C>
struct axpbypcz_impl<A, peer::cuda_vector, B, peer::cuda_vector, C, peer::cuda_vector> {
    static void apply(A a, const peer::cuda_vector& x, B b, const peer::cuda_vector& y, C c,
                      const peer::cuda_vector& z) {
        peer::amgcl_functions->axpbypcz(a, x.data(), b, y.data(), c, z.data(), x.size());
    }
};
template <class A, class B>
struct vmul_impl<A, peer::cuda_vector, peer::cuda_vector, B, peer::cuda_vector> {
    static void apply(A a, const peer::cuda_vector& x, const peer::cuda_vector& y, B b,
                      const peer::cuda_vector& z) {
        peer::amgcl_functions->vmul(a, x.data(), y.data(), b, z.data(), x.size());
    }
};

}  // namespace amgcl::backend
