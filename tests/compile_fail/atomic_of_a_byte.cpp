// expect: atomic operations work on 32- and 64-bit
#include <balm/balm.hpp>

using namespace balm::dsl;

void body(Mixed<unsigned char>& bytes);
void body([[maybe_unused]] Mixed<unsigned char>& bytes) { atomic_add(bytes[0], 1); }
