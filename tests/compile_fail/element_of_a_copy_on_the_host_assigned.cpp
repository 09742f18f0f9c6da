// expect: copy_of_an_element
#include <balm/balm.hpp>

void f(balm::vector<balm::float4>& x);
void f(balm::vector<balm::float4>& x) { x.to_host()[3] = balm::float4{1, 2, 3, 4}; }
