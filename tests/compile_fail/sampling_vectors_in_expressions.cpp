// expect: the image's elements are vectors; write a function that says which number of them is meant
#include <balm/balm.hpp>

void f(const balm::image<balm::float4, 1>& image, balm::vector<float>& x);
void f(const balm::image<balm::float4, 1>& image, balm::vector<float>& x) {
    x = balm::sample(image.sampled(), x);
}
