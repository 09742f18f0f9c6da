// expect: Balm: a pointer becomes one of another type by pointer_cast
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Ptr<int> a, Ptr<float> b);
void f(Ptr<int> a, Ptr<float> b) { a = b; }
