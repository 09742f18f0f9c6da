// expect: the factors would narrow to the matrix's type
#include <balm/balm.hpp>

void scale(const balm::sparse_matrix<float>& A, const balm::vector<double>& d, balm::sparse_matrix<float>& B);
void scale(const balm::sparse_matrix<float>& A, const balm::vector<double>& d,
           balm::sparse_matrix<float>& B) {
    B = balm::scale_rows(A, d);
}
