// expect: print the elements of an array one by one
#include <balm/balm.hpp>

using namespace balm::dsl;

void refused() {
    balm::kernel<1>("k", [] { print("{}", std::vector<int>(3)); });
}
