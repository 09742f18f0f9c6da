// expect: host pointers and long double are meaningless on a device
#include <balm/balm.hpp>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<int*>(3); }
