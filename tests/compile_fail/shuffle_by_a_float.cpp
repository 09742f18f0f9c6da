// expect: a lane index must be an integer
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out);
void body(In<int>& in, Out<int>& out) { out[0] = shuffle(in[0], Float(1.5f)); }
