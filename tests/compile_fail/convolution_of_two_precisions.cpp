// expect: the operands of a convolution must have the same precision
#include <balm/balm.hpp>

void f(balm::vector<double>& y, const balm::vector<double>& a, const balm::vector<float>& b);
void f(balm::vector<double>& y, const balm::vector<double>& a, const balm::vector<float>& b) {
    y = balm::convolve(a, b);
}
