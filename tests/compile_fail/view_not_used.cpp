// expect warning: Balm: a view is a place
#include <balm/balm.hpp>

void f(balm::vector<float>& x);
void f(balm::vector<float>& x) { balm::view(x, {2, 2})(0, 1); }
