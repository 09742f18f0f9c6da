// expect: Balm: keys must be numbers
#include <balm/balm.hpp>

struct particle {
    float mass;
    int number;
};
BALM_STRUCT(particle, mass, number)

void f(balm::vector<particle>& x) { balm::sort(x); }
