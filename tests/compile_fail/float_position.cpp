// expect: positions must be integers
#include <balm/balm.hpp>

void f(const balm::vector<float>& x, balm::vector<float>& y);
void f(const balm::vector<float>& x, balm::vector<float>& y) { y = x[2.5f * y]; }
