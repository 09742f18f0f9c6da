// expect nothing: what the other files get wrong, right.
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out, Mixed<int>& mixed);
void body(In<int>& in, Out<int>& out, Mixed<int>& mixed) {
    Int x = in[0], kept = mixed[0];
    auto loaded = in[1];
    IF (x > 0) {
        out[0] = select(x > 1, kept, loaded);
    }
    Float f = 1.5f;
    Int i = cast<int>(f);
    mixed[i] += 1;
    for (Int k : range(i)) out[k] = k % 2;
}
