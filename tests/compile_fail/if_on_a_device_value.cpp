// expect: use IF, WHILE or select
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out, Mixed<int>& mixed);
void body([[maybe_unused]] In<int>& in, [[maybe_unused]] Out<int>& out, [[maybe_unused]] Mixed<int>& mixed) {
    Int x = in[0];
    if (x > 0) out[0] = x;
}
