// expect: the image and the parameter have different element types or numbers of dimensions
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(const balm::image<balm::normalised<balm::uchar4>, 2>& image,
       const balm::out_buffer<balm::uchar4>& out);
void f(const balm::image<balm::normalised<balm::uchar4>, 2>& image,
       const balm::out_buffer<balm::uchar4>& out) {
    auto k =
        balm::kernel<1>("k", [](InImage<balm::uchar4, 2> in, Out<balm::uchar4> seen) { seen[0] = in(0, 0); });
    k(image, out);
}
