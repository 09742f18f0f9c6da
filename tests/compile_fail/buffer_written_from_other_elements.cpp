// expect: the host elements and the buffer have different element types; convert the elements first
#include <balm/balm.hpp>
#include <vector>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<float>(3).write(std::vector<double>(3)); }
