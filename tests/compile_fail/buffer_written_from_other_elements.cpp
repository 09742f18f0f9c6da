// expect: the host's elements are of another type than the buffer's; convert them first
#include <balm/balm.hpp>
#include <vector>

void f(balm::device d);
void f(balm::device d) { d.in_buffer<float>(3).write(std::vector<double>(3)); }
