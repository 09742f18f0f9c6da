// expect: or structures declared with BALM_STRUCT
#include <balm/balm.hpp>

struct plain {
    float x;
};

void f(const balm::context& where);
void f(const balm::context& where) { balm::vector<plain> x(where, 3); }
