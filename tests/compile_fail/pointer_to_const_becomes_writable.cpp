// expect: Balm: a pointer that only reads does not become one that writes
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Ptr<int> a, Ptr<const int> b);
void f(Ptr<int> a, Ptr<const int> b) { a = b; }
