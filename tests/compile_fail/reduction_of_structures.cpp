// expect: this reduction takes numbers
#include <balm/balm.hpp>

struct pair {
    float a, b;
};
BALM_STRUCT(pair, a, b)

float f(const balm::vector<pair>& y);
float f(const balm::vector<pair>& y) { return balm::max(y); }
