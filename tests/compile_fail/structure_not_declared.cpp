// expect: declared with BALM_STRUCT
#include <balm/balm.hpp>

using namespace balm::dsl;

struct undeclared {
    int x;
};
void f(In<undeclared> a, Out<undeclared> b);
void f(In<undeclared> a, Out<undeclared> b) { b[0] = a[0]; }
