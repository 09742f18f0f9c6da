// expect: a kernel's parameters have types
#include <balm/balm.hpp>

void define();
void define() {
    [[maybe_unused]] const auto k = balm::kernel<1>("k", [](auto x) { x[0] = 1; });
}
