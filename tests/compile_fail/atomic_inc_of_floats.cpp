// expect: this atomic operation works on integers
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<float>& x);
void body([[maybe_unused]] Mixed<float>& x) { atomic_inc(x[0]); }
