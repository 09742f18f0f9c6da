// expect: Balm: this parameter is a vector or a structure by value
#include <balm/balm.hpp>

using namespace balm::dsl;

void f();
void f() {
    static const auto k = balm::kernel<1>("k", [](Float4 v, Out<float> out) { out[0] = v.x; });
    balm::context ctx;
    auto out = ctx.device(0).out_buffer<float>(1);
    k(1.f, out);
}
