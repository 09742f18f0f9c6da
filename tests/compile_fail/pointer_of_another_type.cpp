// expect: Balm: converting a pointer to another type needs pointer_cast
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(Ptr<int> a, Ptr<float> b);
void f(Ptr<int> a, Ptr<float> b) { a = b; }
