// expect: complex numbers have no such operator or function
#include <balm/balm.hpp>
#include <complex>

void f(balm::vector<bool>& x, const balm::vector<std::complex<float>>& z);
void f(balm::vector<bool>& x, const balm::vector<std::complex<float>>& z) { x = z < 1; }
