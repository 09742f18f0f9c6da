// expect: use vote_any, vote_all or ballot for conditions
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<bool>& in, Out<bool>& out);
void body(In<bool>& in, Out<bool>& out) { out[0] = sub_group_reduce_add(in[0]); }
