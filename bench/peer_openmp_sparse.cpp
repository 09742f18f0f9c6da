#include "peer_sparse.hpp"

namespace peer::openmp {

void sparse_product(const sparse_problem& p, double* y) {
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
