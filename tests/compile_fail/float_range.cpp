// expect: the bounds of range must be integers
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out, Mixed<int>& mixed);
void body([[maybe_unused]] In<int>& in, [[maybe_unused]] Out<int>& out, [[maybe_unused]] Mixed<int>& mixed) {
    Float f = 1.5f;
    for (auto k : range(f)) out[0] = cast<int>(k);
}
