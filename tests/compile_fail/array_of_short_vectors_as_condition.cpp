// expect: write any_lane(v) or all_lanes(v)
#include <balm/balm.hpp>

void f(balm::vector<bool>& x, const balm::vector<balm::float4>& y);
void f(balm::vector<bool>& x, const balm::vector<balm::float4>& y) { x = y < 1 && x; }
