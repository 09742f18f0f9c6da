// expect: Balm: this is a value, not a variable
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(const balm::module_array<float>& table);
void f(const balm::module_array<float>& table) { table[0] = 1.f; }
