// expect: this parameter is a sampled image; pass image.sampled(sampler)
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(const balm::image<float, 1>& image, const balm::out_buffer<float>& out);
void f(const balm::image<float, 1>& image, const balm::out_buffer<float>& out) {
    auto k = balm::kernel<1>("k", [](Sampled<float, 1> in, Out<float> seen) { seen[0] = in(0.5f); });
    k(image, out);
}
