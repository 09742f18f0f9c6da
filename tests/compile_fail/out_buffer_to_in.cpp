// expect: an out buffer cannot be an argument for In or InOut
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::device d);
void f(balm::device d) {
    auto k = balm::kernel<1>("k", [](In<int> in, Out<int> out) { out[0] = in[0]; });
    k(d.out_buffer<int>(1), d.out_buffer<int>(1));
}
