// expect: atomic operations work on 32- and 64-bit
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<bool>& flags);
void body([[maybe_unused]] Mixed<bool>& flags) { atomic_exchange(flags[0], true); }
