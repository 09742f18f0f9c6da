// expect: a sparse matrix can only be multiplied by numbers
#include <balm/balm.hpp>

void multiply(const balm::sparse_matrix<float>& A, const balm::vector<balm::float4>& x,
              balm::vector<balm::float4>& y);
void multiply(const balm::sparse_matrix<float>& A, const balm::vector<balm::float4>& x,
              balm::vector<balm::float4>& y) {
    y = A * x;
}
