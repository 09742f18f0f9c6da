// expect: copy_of_an_element
#include <balm/balm.hpp>
#include <complex>

void f(balm::vector<std::complex<float>>& z);
void f(balm::vector<std::complex<float>>& z) { z[3] += 1.f; }
