// expect: assign
// A scalar is a value: no type of Balm's is in `x[0] = 1`, which could say more than the compiler does
// ("lvalue required as left operand of assignment", "expression is not assignable").
#include <balm/balm.hpp>

void f(balm::vector<float>& x);
void f(balm::vector<float>& x) { x[0] = 1; }
