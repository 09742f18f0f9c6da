// expect: host_may_read_this_buffer
#include <balm/balm.hpp>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<float>(3).from(1).read(); }
