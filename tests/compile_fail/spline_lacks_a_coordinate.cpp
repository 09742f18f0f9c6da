// expect: Balm: a spline takes a coordinate for each of its dimensions
#include <balm/balm.hpp>
#include <balm/spline.hpp>

void evaluate(const balm::scattered_spline<2>& surface, balm::vector<double>& x);
void evaluate(const balm::scattered_spline<2>& surface, balm::vector<double>& x) { x = surface(x); }
