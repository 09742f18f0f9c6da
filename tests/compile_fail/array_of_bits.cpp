// expect: std::vector<bool> stores bits, not elements
#include <balm/balm.hpp>
#include <vector>

void f(const balm::context& where, const std::vector<bool>& bits);
void f(const balm::context& where, const std::vector<bool>& bits) { balm::vector<bool> x(where, bits); }
