// expect: Balm: this memory is read-only
#include <balm/balm.hpp>

using namespace balm::dsl;

struct pair_of_ints {
    int x, y;
};
BALM_STRUCT(pair_of_ints, x, y)
void f(In<pair_of_ints> a);
void f(In<pair_of_ints> a) { a[0].x = 1; }
