#include <algorithm>
#include <numeric>

#include "peer_sparse_products.hpp"

namespace peer::openmp {

host_csr product(const csr& a, const csr& b) {
    host_csr c;
    c.rows = a.rows;
    c.columns = b.columns;
    c.row_pointers.assign(a.rows + 1, 0);
    const auto rows = static_cast<long>(a.rows);
#pragma omp parallel
    {
        std::vector<long> seen(b.columns, -1);
#pragma omp for schedule(dynamic, 256)
        for (long r = 0; r < rows; ++r) {
            int count = 0;
            for (int k = a.row_pointers[r]; k < a.row_pointers[r + 1]; ++k) {
                const int middle = a.column_indices[k];
                for (int l = b.row_pointers[middle]; l < b.row_pointers[middle + 1]; ++l) {
                    long& last = seen[static_cast<std::size_t>(b.column_indices[l])];
                    count += last != r;
                    last = r;
                }
            }
            c.row_pointers[static_cast<std::size_t>(r) + 1] = count;
        }
    }
    std::partial_sum(c.row_pointers.begin(), c.row_pointers.end(), c.row_pointers.begin());
    const auto entries = static_cast<std::size_t>(c.row_pointers.back());
    c.column_indices.resize(entries);
    c.values.resize(entries);
#pragma omp parallel
    {
        std::vector<long> seen(b.columns, -1);
        std::vector<double> sums(b.columns);
#pragma omp for schedule(dynamic, 256)
        for (long r = 0; r < rows; ++r) {
            int* const columns = c.column_indices.data() + c.row_pointers[static_cast<std::size_t>(r)];
            int count = 0;
            for (int k = a.row_pointers[r]; k < a.row_pointers[r + 1]; ++k) {
                const int middle = a.column_indices[k];
                const double factor = a.values[k];
                for (int l = b.row_pointers[middle]; l < b.row_pointers[middle + 1]; ++l) {
                    const int column = b.column_indices[l];
                    const auto at = static_cast<std::size_t>(column);
                    if (seen[at] != r) {
                        seen[at] = r;
                        sums[at] = 0;
                        columns[count++] = column;
                    }
                    sums[at] += factor * b.values[l];
                }
            }
            std::sort(columns, columns + count);
            double* const values = c.values.data() + c.row_pointers[static_cast<std::size_t>(r)];
            for (int k = 0; k < count; ++k) values[k] = sums[static_cast<std::size_t>(columns[k])];
        }
    }
    return c;
}

}  // namespace peer::openmp
