// expect: Balm: a comparison must take two elements of the keys
#include <balm/balm.hpp>

void f(balm::vector<float>& x) {
    using namespace balm::dsl;
    balm::sort(x, balm::function("is_less", [](Int a, Int b) { return a < b; }));
}
