// expect: shuffle the lanes of a vector one by one
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<balm::float4>& in, Out<float>& out);
void body(In<balm::float4>& in, Out<float>& out) { out[0] = shuffle(in[0], 1); }
