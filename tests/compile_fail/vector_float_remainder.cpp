// expect: does not take elements of these types
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::vector<float>& x);
void f(balm::vector<float>& x) { x = x % 2; }
