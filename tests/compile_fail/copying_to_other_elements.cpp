// expect: the source and the destination of a copy must have the same element type
#include <balm/balm.hpp>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<float>(3).copy_to(d.mixed_buffer<int>(3)); }
