// expect warning: Balm: a view on its own does nothing
#include <balm/balm.hpp>

void f(balm::vector<float>& x);
void f(balm::vector<float>& x) { balm::view(x, {2, 2})(0, 1); }
