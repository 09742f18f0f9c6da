// expect: a vector that takes a scan has elements of the type of its results
#include <balm/balm.hpp>

void f(balm::vector<double>& sums, const balm::vector<float>& x);
void f(balm::vector<double>& sums, const balm::vector<float>& x) { balm::inclusive_scan_into(sums, x); }
