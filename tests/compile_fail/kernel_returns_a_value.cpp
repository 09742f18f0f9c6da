// expect: a kernel must return void; write to an Out parameter
#include <balm/balm.hpp>

using namespace balm::dsl;

auto k = balm::kernel<1>("k", [](Out<int> out) {
    out[0] = 1;
    return Int(1);
});
