// expect: an image element must be float, half or an integer of 8, 16 or 32 bits
#include <balm/balm.hpp>

void f(const balm::device& device);
void f(const balm::device& device) { device.image<double>(3, 3).fill(1.0); }
