// expect: this would narrow
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<int>& x);
void body([[maybe_unused]] Mixed<int>& x) { atomic_add(x[0], 1.5); }
