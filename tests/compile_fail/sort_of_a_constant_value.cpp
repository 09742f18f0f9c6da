// expect: Balm: the values that a sort moves are vectors that can be assigned to
#include <balm/balm.hpp>

void f(balm::vector<float>& x, const balm::vector<int>& y) { balm::sort_by_key(x, y); }
