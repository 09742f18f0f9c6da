// expect: this reduction takes numbers
#include <balm/balm.hpp>

struct particle {
    float mass;
};
BALM_STRUCT(particle, mass)

void f(balm::vector<particle>& y);
void f(balm::vector<particle>& y) { y = balm::inclusive_scan(y); }
