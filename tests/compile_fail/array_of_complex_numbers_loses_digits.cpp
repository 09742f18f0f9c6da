// expect: would lose precision
#include <balm/balm.hpp>
#include <complex>

void f(balm::vector<std::complex<float>>& z);
void f(balm::vector<std::complex<float>>& z) { z = z * std::complex<double>(0, 1); }
