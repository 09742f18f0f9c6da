// expect: choose with select(c, a, b)
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<float>& in, Out<float>& out);
void body(In<float>& in, Out<float>& out) { out[0] = if_else(in[0] > 0.f, 1.f, 0.f); }
