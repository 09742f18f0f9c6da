// expect: the target of a scan must have the result's type as its element type
#include <balm/balm.hpp>

void f(balm::vector<double>& sums, const balm::vector<float>& x);
void f(balm::vector<double>& sums, const balm::vector<float>& x) { balm::inclusive_scan_into(sums, x); }
