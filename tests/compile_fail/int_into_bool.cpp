// expect: a device value does not narrow implicitly
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out, Mixed<int>& mixed);
void body([[maybe_unused]] In<int>& in, [[maybe_unused]] Out<int>& out, [[maybe_unused]] Mixed<int>& mixed) {
    Int i = in[0];
    Bool b = i;
    out[0] = select(b, 1, 0);
}
