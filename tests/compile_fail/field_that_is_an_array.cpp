// expect: this member is an array
#include <balm/balm.hpp>

struct list {
    float values[4];
};
BALM_STRUCT(list, values)

void f(balm::vector<float>& x, const balm::vector<list>& y);
void f(balm::vector<float>& x, const balm::vector<list>& y) { x = balm::field<&list::values>(y); }
