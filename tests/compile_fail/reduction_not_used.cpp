// expect warning: nodiscard
#include <balm/balm.hpp>

void f(const balm::vector<float>& x);
void f(const balm::vector<float>& x) { balm::sum(x); }
