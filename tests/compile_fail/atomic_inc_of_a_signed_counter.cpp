// expect: works on unsigned integers
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<int>& x);
void body([[maybe_unused]] Mixed<int>& x) { atomic_inc(x[0], 7); }
