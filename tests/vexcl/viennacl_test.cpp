// ViennaCL's solvers with vex::vector and sparse matrices, where its headers are installed.

#include <vexcl/external/viennacl.hpp>

#include "vexcl/contexts.hpp"

#if __has_include(<viennacl/linalg/cg.hpp>)

#include <viennacl/linalg/bicgstab.hpp>
#include <viennacl/linalg/cg.hpp>

namespace balm::test {

namespace {

/// A tridiagonal matrix with these values below, on and above the diagonal.
struct band {
    std::vector<int> row{0}, column;
    std::vector<double> value;

    band(std::size_t n, double below, double own, double above) {
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0) add(i - 1, below);
            add(i, own);
            if (i + 1 < n) add(i + 1, above);
            row.push_back(static_cast<int>(column.size()));
        }
    }
    void add(std::size_t at, double v) {
        column.push_back(static_cast<int>(at));
        value.push_back(v);
    }
};

TEST(B9_vexcl_viennacl, solves) {
    on_one_and_two_devices([](const vex::Context& ctx) {
        constexpr std::size_t n = 300;
        const vex::Reductor<double, vex::SUM> sum(ctx);
        vex::vector<double> f(ctx, n), x(ctx, n), r(ctx, n);
        f = 1 + vex::sin(vex::element_index());
        const band symmetric(n, -1, 2.1, -1), other(n, -1, 2.1, -0.8);
        const vex::sparse::matrix<double> A(ctx, n, n, symmetric.row, symmetric.column, symmetric.value);
        x = viennacl::linalg::solve(A, f, viennacl::linalg::cg_tag(1e-10, 1000));
        r = f - A * x;
        EXPECT_LT(sum(r * r), 1e-14);
        const vex::SpMat<double, int, int> B(ctx, n, n, other.row.data(), other.column.data(),
                                             other.value.data());
        x = viennacl::linalg::solve(B, f, viennacl::linalg::bicgstab_tag(1e-10, 1000));
        r = f - B * x;
        EXPECT_LT(sum(r * r), 1e-14);
    });
}

}  // namespace

}  // namespace balm::test

#endif
