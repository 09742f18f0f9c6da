// expect: Out<T> is write-only; use InOut<T>
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(In<int>& in, Out<int>& out, Mixed<int>& mixed);
void body([[maybe_unused]] In<int>& in, [[maybe_unused]] Out<int>& out, [[maybe_unused]] Mixed<int>& mixed) {
    Int x = out[0];
    out[1] = x;
}
