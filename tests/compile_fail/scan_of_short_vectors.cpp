// expect: for short vectors reduce lanes
#include <balm/balm.hpp>

void f(balm::vector<balm::float4>& y);
void f(balm::vector<balm::float4>& y) { y = balm::inclusive_scan(y); }
