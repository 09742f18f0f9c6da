// expect: assign
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::vector<float>& x);
void f(balm::vector<float>& x) { x[42] = 1; }
