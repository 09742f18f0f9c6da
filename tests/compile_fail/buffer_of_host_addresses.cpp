// expect: host addresses and long double mean nothing on a device
#include <balm/balm.hpp>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<int*>(3); }
