// expect: atomic operations work on 32- and 64-bit
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<balm::float4>& x);
void body(Mixed<balm::float4>& x) { atomic_exchange(x[0], 1.f); }
