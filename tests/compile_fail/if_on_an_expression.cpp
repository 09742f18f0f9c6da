// expect: use balm::all(x > 0), balm::any(x > 0)
#include <balm/balm.hpp>

void choose(balm::vector<float>& x);
void choose(balm::vector<float>& x) {
    if (x > 0) x = 1;
}
