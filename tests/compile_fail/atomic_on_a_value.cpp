// expect: an atomic operation works on an element of memory
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in);
void body([[maybe_unused]] In<int>& in) { atomic_add(in[0], 1); }
