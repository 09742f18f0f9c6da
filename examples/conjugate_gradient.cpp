// Poisson's equation by conjugate gradients: the matrix is sparse, and each statement of the method is one
// kernel. The host makes the matrix, row by row.

#include <balm/balm.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

/// The seven-point stencil of n x n x n inner points, with zero at the border, in compressed sparse rows.
struct poisson {
    std::vector<int> row_pointers{0}, column_indices;
    std::vector<double> values;

    explicit poisson(int n) {
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j)
                for (int i = 0; i < n; ++i) {
                    const int row = (k * n + j) * n + i;
                    if (k > 0) add(row - n * n, -1);
                    if (j > 0) add(row - n, -1);
                    if (i > 0) add(row - 1, -1);
                    add(row, 6);
                    if (i + 1 < n) add(row + 1, -1);
                    if (j + 1 < n) add(row + n, -1);
                    if (k + 1 < n) add(row + n * n, -1);
                    row_pointers.push_back(static_cast<int>(values.size()));
                }
    }
    void add(int column, double value) {
        column_indices.push_back(column);
        values.push_back(value);
    }
};

}  // namespace

int main() {
    constexpr int n = 24;
    constexpr std::size_t points = n * n * n;
    const balm::context ctx;
    const poisson host(n);
    const balm::sparse_matrix<double> A(ctx, points, points, host.row_pointers, host.column_indices,
                                        host.values);
    std::printf("%zu x %zu, %zu entries\n", A.rows(), A.columns(), A.nonzeros());
    std::fprintf(stderr, "%s\n", balm::describe(A).c_str());

    // A known solution, and its right-hand side.
    balm::vector<double> solution(ctx, points), f(ctx, points), u(ctx, points, 0.0);
    solution = sin(0.37 * balm::cast<double>(balm::element_index()));
    f = A * solution;

    balm::vector<double> r(ctx, points), p(ctx, points), q(ctx, points);
    r = f - A * u;
    p = r;
    double rho = balm::sum(r * r);
    const double enough = 1e-20 * balm::sum(f * f);
    int iterations = 0;
    while (rho > enough && iterations < 1000) {
        q = A * p;
        const double alpha = rho / balm::sum(p * q);
        u += alpha * p;
        r -= alpha * q;
        const double before = rho;
        rho = balm::sum(r * r);
        p = r + rho / before * p;
        ++iterations;
    }
    const double residual = std::sqrt(balm::sum((f - A * u) * (f - A * u)) / balm::sum(f * f));
    const double error = balm::max(abs(u - solution));
    std::printf("%s 100 iterations\n", iterations < 100 ? "fewer than" : "MORE THAN");
    std::printf("residual %s 1e-9, error %s 1e-8\n", residual < 1e-9 ? "below" : "ABOVE",
                error < 1e-8 ? "below" : "ABOVE");
}
