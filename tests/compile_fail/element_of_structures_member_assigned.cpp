// expect: assign
#include <balm/balm.hpp>

struct particle {
    float mass;
    int kind;
};
BALM_STRUCT(particle, mass, kind)

void f(balm::vector<particle>& x);
void f(balm::vector<particle>& x) { x[3].kind += 1; }
