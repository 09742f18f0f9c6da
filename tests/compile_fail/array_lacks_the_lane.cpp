// expect: the short vector has no such lane
#include <balm/balm.hpp>

void f(balm::vector<float>& x, const balm::vector<balm::float3>& y);
void f(balm::vector<float>& x, const balm::vector<balm::float3>& y) { x = balm::lane<3>(y); }
