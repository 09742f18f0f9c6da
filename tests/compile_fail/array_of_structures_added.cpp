// expect: a structure has no operators
#include <balm/balm.hpp>

struct pair {
    float a, b;
};
BALM_STRUCT(pair, a, b)

void f(balm::vector<float>& x, const balm::vector<pair>& y);
void f(balm::vector<float>& x, const balm::vector<pair>& y) { x = y + 1; }
