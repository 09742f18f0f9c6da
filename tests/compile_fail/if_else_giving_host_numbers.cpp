// expect: return Float(1.f), not 1.f
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<float>& in, Out<float>& out);
void body(In<float>& in, Out<float>& out) {
    out[0] = if_else(
        in[0] > 0.f, [] { return 1.f; }, [] { return 0.f; });
}
