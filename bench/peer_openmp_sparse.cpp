#include "peer_sparse.hpp"

namespace peer::openmp {

namespace {

template <int B>
void product_of_blocks(const sparse_problem& p, double* y) {
    const int* const pointers = p.row_pointers;
    const int* const columns = p.column_indices;
    const double* const values = p.values;
    const double* const x = p.x;
    const auto rows = static_cast<long>(p.rows / B);
#pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; ++r) {
        double sums[B] = {};
        for (int k = pointers[r]; k < pointers[r + 1]; ++k) {
            const double* const block = values + static_cast<long>(k) * B * B;
            const double* const of_x = x + static_cast<long>(columns[k]) * B;
            for (int i = 0; i < B; ++i)
                for (int j = 0; j < B; ++j) sums[i] += block[i * B + j] * of_x[j];
        }
        for (int i = 0; i < B; ++i) y[r * B + i] = sums[i];
    }
}

template <int Columns>
void product_of_columns(const sparse_problem& p, double* y) {
    const int* const pointers = p.row_pointers;
    const int* const columns = p.column_indices;
    const double* const values = p.values;
    const double* const x = p.x;
    const auto rows = static_cast<long>(p.rows);
#pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; ++r) {
        double sums[Columns] = {};
        for (int k = pointers[r]; k < pointers[r + 1]; ++k) {
            const double* const of_x = x + static_cast<long>(columns[k]) * Columns;
            for (int c = 0; c < Columns; ++c) sums[c] += values[k] * of_x[c];
        }
        for (int c = 0; c < Columns; ++c) y[r * Columns + c] = sums[c];
    }
}

}  // namespace

void sparse_product(const sparse_problem& p, double* y) {
    if (p.block == 3) return product_of_blocks<3>(p, y);
    if (p.block == 4) return product_of_blocks<4>(p, y);
    if (p.right_hand_sides == 4) return product_of_columns<4>(p, y);
    if (p.right_hand_sides == 8) return product_of_columns<8>(p, y);
    const int* const pointers = p.row_pointers;
    const int* const columns = p.column_indices;
    const double* const values = p.values;
    const double* const x = p.x;
    const auto rows = static_cast<long>(p.rows);
#pragma omp parallel for schedule(static)
    for (long r = 0; r < rows; ++r) {
        double sum = 0;
        for (int k = pointers[r]; k < pointers[r + 1]; ++k) sum += values[k] * x[columns[k]];
        y[r] = sum;
    }
}

}  // namespace peer::openmp
