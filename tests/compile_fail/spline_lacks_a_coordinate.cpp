// expect: Balm: a spline takes one coordinate per dimension
#include <balm/balm.hpp>
#include <balm/spline.hpp>

void evaluate(const balm::scattered_spline<2>& surface, balm::vector<double>& x);
void evaluate(const balm::scattered_spline<2>& surface, balm::vector<double>& x) { x = surface(x); }
