// expect: converting a vector to another vector type needs cast
#include <balm/balm.hpp>

void f(balm::vector<balm::int4>& x, const balm::vector<balm::float4>& y);
void f(balm::vector<balm::int4>& x, const balm::vector<balm::float4>& y) { x = 2 * y; }
