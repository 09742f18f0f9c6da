// expect: this parameter is memory; pass a vector
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::vector<float>& x, balm::vector<float>& y);
void f(balm::vector<float>& x, balm::vector<float>& y) {
    auto g = balm::function("g", [](Index i, Ptr<float> p) { return p[i]; });
    y = g(balm::element_index(), 2 * x);
}
