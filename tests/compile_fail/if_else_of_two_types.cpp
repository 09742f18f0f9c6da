// expect: both functions of if_else must return the same type
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out, Mixed<int>& mixed);
void body([[maybe_unused]] In<int>& in, [[maybe_unused]] Out<int>& out, [[maybe_unused]] Mixed<int>& mixed) {
    out[0] = cast<int>(if_else(
        in[0] > 0, [&] { return Int(1); }, [&] { return Float(1.f); }));
}
