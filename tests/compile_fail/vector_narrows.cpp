// expect: assigning this would narrow
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::vector<int>& x, balm::vector<double>& y);
void f(balm::vector<int>& x, balm::vector<double>& y) { x = y + 1; }
