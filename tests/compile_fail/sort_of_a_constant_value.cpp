// expect: Balm: the values of a sort must be assignable vectors
#include <balm/balm.hpp>

void f(balm::vector<float>& x, const balm::vector<int>& y) { balm::sort_by_key(x, y); }
