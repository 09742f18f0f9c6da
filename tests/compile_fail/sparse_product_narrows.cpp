// expect: the vector's elements would narrow to the matrix's type
#include <balm/balm.hpp>

void multiply(const balm::sparse_matrix<float>& A, const balm::vector<double>& x, balm::vector<float>& y);
void multiply(const balm::sparse_matrix<float>& A, const balm::vector<double>& x, balm::vector<float>& y) {
    y = A * x;
}
