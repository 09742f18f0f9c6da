// expect: use balm::all(x), balm::any(x), x.empty()
#include <balm/balm.hpp>

void choose(balm::vector<bool>& x);
void choose(balm::vector<bool>& x) {
    if (x) x = false;
}
