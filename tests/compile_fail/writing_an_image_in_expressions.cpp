// expect: a function in an expression can only read images
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(const balm::image<float, 1>& image, balm::vector<float>& x);
void f(const balm::image<float, 1>& image, balm::vector<float>& x) {
    auto put = balm::function("put", [](OutImage<float, 1> out, Float value) {
        out(0) = value;
        return Float(value);
    });
    x = put(image, x);
}
