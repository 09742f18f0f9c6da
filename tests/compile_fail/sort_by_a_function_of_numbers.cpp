// expect: Balm: a sort takes an order, or a comparison that returns a Bool
#include <balm/balm.hpp>

void f(balm::vector<int>& x) {
    using namespace balm::dsl;
    balm::sort(x, balm::function("difference", [](Int a, Int b) { return a - b; }));
}
