// expect: an image of 1 or 2 dimensions has no depth
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(InImage<float, 2>& in, Out<int>& out);
void body(InImage<float, 2>& in, Out<int>& out) { out[0] = in.depth(); }
