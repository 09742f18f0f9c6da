// expect: the launch and the kernel have different numbers of dimensions
#include <balm/balm.hpp>

using namespace balm::dsl;

void launch(const balm::device& device, balm::mixed_buffer<int>& a) {
    auto k = balm::kernel<2>("k", [](Mixed<int> out) { out[0] = 1; });
    device.execute(k(a), {10, 10}, balm::offset(1));
}
