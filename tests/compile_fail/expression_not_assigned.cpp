// expect warning: computes nothing until it is assigned
#include <balm/balm.hpp>

void computes_nothing(const balm::vector<float>& x, const balm::vector<float>& y);
void computes_nothing(const balm::vector<float>& x, const balm::vector<float>& y) { x + y; }
