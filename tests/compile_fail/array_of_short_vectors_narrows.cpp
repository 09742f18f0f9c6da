// expect: a vector becomes one of another type only by cast
#include <balm/balm.hpp>

void f(balm::vector<balm::int4>& x, const balm::vector<balm::float4>& y);
void f(balm::vector<balm::int4>& x, const balm::vector<balm::float4>& y) { x = 2 * y; }
