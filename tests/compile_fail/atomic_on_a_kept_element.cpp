// expect: cannot be kept with auto
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<int>& x);
void body(Mixed<int>& x) {
    auto kept = x[0];
    atomic_add(kept, 1);
}
