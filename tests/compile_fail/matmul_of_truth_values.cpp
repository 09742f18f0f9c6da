// expect: contractions take integers, float, double, half or complex numbers
#include <balm/balm.hpp>

void multiply(const balm::vector<bool>& a, balm::vector<int>& b);
void multiply(const balm::vector<bool>& a, balm::vector<int>& b) {
    b = balm::matmul(balm::view(a, {3, 3}), balm::view(a, {3, 3}));
}
