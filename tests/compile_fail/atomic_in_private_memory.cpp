// expect: atomic operations work in global and local memory
#include <balm/balm.hpp>

using namespace balm::dsl;

void body();
void body() {
    Array<int, 4> own;
    atomic_add(own[0], 1);
}
