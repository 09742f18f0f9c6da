// expect: Balm: this memory is read-only
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Ptr<const int> p);
void f(Ptr<const int> p) { p[0] = 1; }
