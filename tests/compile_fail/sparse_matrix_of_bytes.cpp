// expect: the entries of a sparse matrix must be float, double
#include <balm/balm.hpp>

std::size_t rows(const balm::sparse_matrix<signed char>& A);
std::size_t rows(const balm::sparse_matrix<signed char>& A) { return A.rows(); }
