// Poisson's equation by multigrid. Smoothing removes the rough part of an error; a grid of half the
// resolution corrects the rest, and so on down to a single point. Matrices and transfers between grids are
// sparse matrices. However fine the grid is, a cycle reduces the residual by the same factor.

#include <balm/balm.hpp>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

namespace {

using matrix = balm::sparse_matrix<double>;

/// The entries of a matrix on the host. Entries at the same position are added.
struct entries {
    std::size_t rows, columns;
    std::vector<std::size_t> row_indices{}, column_indices{};
    std::vector<double> values{};

    void add(std::size_t row, std::size_t column, double value) {
        row_indices.push_back(row);
        column_indices.push_back(column);
        values.push_back(value);
    }
    /// Adds a Kronecker product: `a` acts from row to row of a plane, and `b` within each row.
    void add_product(const entries& a, const entries& b) {
        for (std::size_t k = 0; k < a.values.size(); ++k)
            for (std::size_t l = 0; l < b.values.size(); ++l)
                add(a.row_indices[k] * b.rows + b.row_indices[l],
                    a.column_indices[k] * b.columns + b.column_indices[l], a.values[k] * b.values[l]);
    }
    matrix on(const balm::context& ctx) const {
        return matrix::from_triplets(ctx, rows, columns, row_indices, column_indices, values);
    }
};

/// The five-point stencil of n x n inner points, with zero at the border.
entries laplacian(std::size_t n) {
    entries identity{n, n}, line{n, n}, plane{n * n, n * n};
    for (std::size_t i = 0; i < n; ++i) {
        identity.add(i, i, 1);
        line.add(i, i, 2);
        if (i > 0) line.add(i, i - 1, -1);
        if (i + 1 < n) line.add(i, i + 1, -1);
    }
    plane.add_product(identity, line);
    plane.add_product(line, identity);
    return plane;
}

/// From n x n points to 2 n + 1 x 2 n + 1: points in between are the means of their neighbours.
entries interpolation(std::size_t n) {
    entries line{2 * n + 1, n}, plane{line.rows * line.rows, n * n};
    for (std::size_t i = 0; i < n; ++i) {
        line.add(2 * i, i, 0.5);
        line.add(2 * i + 1, i, 1);
        line.add(2 * i + 2, i, 0.5);
    }
    plane.add_product(line, line);
    return plane;
}

/// A u = f on n x n points, and the transfers to and from the next coarser grid, if any.
struct grid {
    std::size_t n;
    matrix A, from_coarser, to_coarser;
    balm::vector<double> u, f;  ///< f: charges times the square of the grid's width

    grid(const balm::context& ctx, std::size_t points)
        : n(points),
          A(laplacian(n).on(ctx)),
          from_coarser(interpolation(n / 2).on(ctx)),
          to_coarser(balm::transpose(from_coarser)),  // weighted means, times 4 for twice the width
          u(ctx, n * n, 0.0),
          f(ctx, n * n, 0.0) {}

    auto residual() const { return f - A * u; }
    /// The Gauss-Seidel method on a chessboard: the neighbours of black points are white, and vice versa.
    void smooth() {
        const auto i = balm::element_index();
        for (const int colour : {0, 1}) u += select((i / n + i % n) % 2 == colour, residual() / 4, 0.0);
    }
};

/// A V-cycle from the first grid, the finest, down to the last one, a single point that smoothing solves.
void cycle(std::span<grid> grids) {
    grid& fine = grids[0];
    fine.smooth();
    if (grids.size() > 1) {
        grid& coarse = grids[1];
        coarse.f = fine.to_coarser * fine.residual();
        coarse.u = 0.0;
        cycle(grids.subspan(1));
        fine.u += fine.from_coarser * coarse.u;
    }
    fine.smooth();
}

}  // namespace

int main() {
    const balm::context ctx;
    for (const std::size_t n : {127, 255}) {
        std::vector<grid> grids;
        for (std::size_t points = n; points > 0; points /= 2) grids.emplace_back(ctx, points);

        // A point charge of 1, which is the norm of the initial residual.
        grid& finest = grids[0];
        finest.f.set(n / 3 * n + n / 4, 1.0);

        std::printf("%zu x %zu points, %zu grids:", n, n, grids.size());
        int cycles = 0;
        for (double norm = 1; norm > 1e-10 && cycles < 100; ++cycles) {
            cycle(grids);
            const auto r = finest.residual();
            norm = std::sqrt(balm::sum(r * r));
            std::printf(" %.0e", norm);
        }
        std::printf(", %d cycles\n", cycles);
    }
}
