// expect: Balm: a pointer to const does not convert to a pointer to non-const
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Ptr<int> a, Ptr<const int> b);
void f(Ptr<int> a, Ptr<const int> b) { a = b; }
