// expect: cannot be incremented or decremented
#include <balm/balm.hpp>

using namespace balm::dsl;

void refused() {
    balm::kernel<1>("k", [](Mixed<bool> out) { out[0]++; });
}
