// expect: the function returns nothing that can be assigned
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::vector<int>& x, balm::vector<int>& y);
void f(balm::vector<int>& x, balm::vector<int>& y) {
    auto put = balm::function("put", [](Int i, Mixed<int> to) { to[i] = i; });
    x = put(x, y);
}
