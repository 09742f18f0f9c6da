// expect: assigning this would narrow
#include <balm/balm.hpp>

using namespace balm::dsl;

void f(balm::vector<int>& x);
void f(balm::vector<int>& x) { x = 1.5; }
