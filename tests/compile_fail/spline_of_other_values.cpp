// expect: Balm: points and values must have the spline's type; convert them with cast<T>(x)
#include <balm/balm.hpp>
#include <balm/spline.hpp>
#include <tuple>

void fit(const balm::vector<float>& x, const balm::vector<float>& y);
void fit(const balm::vector<float>& x, const balm::vector<float>& y) {
    balm::scattered_spline<1> curve({{0}, {1}}, std::tie(x), y);
}
