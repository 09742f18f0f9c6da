// expect: assigning this would narrow
#include <balm/balm.hpp>

void f(balm::vector<balm::int4>& x, const balm::vector<float>& y);
void f(balm::vector<balm::int4>& x, const balm::vector<float>& y) { balm::lane<0>(x) = y; }
