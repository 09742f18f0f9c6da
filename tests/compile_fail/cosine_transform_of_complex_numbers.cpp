// expect: a cosine or sine transform takes real numbers
#include <balm/balm.hpp>
#include <complex>

void f(const balm::vector<std::complex<float>>& z);
void f(const balm::vector<std::complex<float>>& z) { balm::dct(z); }
