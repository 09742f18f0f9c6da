// expect: a write takes host memory: a span, a std::vector or another range
#include <balm/balm.hpp>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<float>(3).write(2.f); }
