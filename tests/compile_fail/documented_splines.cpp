// expect nothing: the programs of docs/splines.md, as they stand there.
#include <balm/balm.hpp>
#include <balm/spline.hpp>
#include <iostream>
#include <tuple>
#include <vector>

using numbers = balm::vector<double>;

void overview(const numbers& x, const numbers& y, const numbers& heights, const numbers& values, numbers& u,
              numbers& v, numbers& w, numbers& z, int rows, int columns);
void overview(const numbers& x, const numbers& y, const numbers& heights, const numbers& values, numbers& u,
              numbers& v, numbers& w, numbers& z, int rows, int columns) {
    balm::scattered_spline<2> surface({{0, 0}, {1, 1}}, std::tie(x, y), heights);
    z = 2 * surface(u, v) + w;  // one kernel

    balm::cubic_spline<2> picture({{0, 0}, {1, 1}}, balm::view(values, {rows, columns}));
    z = picture(u, v);
}

void evaluation(const balm::scattered_spline<2>& surface, const balm::cubic_spline<2>& picture, double& total,
                numbers& profile, numbers& z, const numbers& u, const numbers& v);
void evaluation(const balm::scattered_spline<2>& surface, const balm::cubic_spline<2>& picture, double& total,
                numbers& profile, numbers& z, const numbers& u, const numbers& v) {
    total = balm::sum(surface(u, v));
    profile = surface(0.5, v);
    z = surface(u + 0.1 * picture(u, v), v);
}

void in_a_kernel(const balm::scattered_spline<2>& surface, const balm::device& device, numbers& height,
                 const numbers& x, const numbers& y, std::size_t n);
void in_a_kernel(const balm::scattered_spline<2>& surface, const balm::device& device, numbers& height,
                 const numbers& x, const numbers& y, std::size_t n) {
    using namespace balm::dsl;
    auto drop = balm::kernel<1>(
        "drop", [&](In<double> lattice, Mixed<double> low, In<double> east, In<double> north) {
            const Index i = global_id(0);
            low[i] = max(Double(low[i]) - 0.1, surface(lattice, east[i], north[i]));
        });
    device.execute(drop(surface.lattice(), height, x, y), {n});
}

void scattered_points(const balm::context& ctx, const std::vector<double>& times,
                      const std::vector<double>& samples, const balm::vector<float>& px,
                      const balm::vector<float>& py, const balm::vector<float>& pz,
                      const balm::vector<float>& mass);
void scattered_points(const balm::context& ctx, const std::vector<double>& times,
                      const std::vector<double>& samples, const balm::vector<float>& px,
                      const balm::vector<float>& py, const balm::vector<float>& pz,
                      const balm::vector<float>& mass) {
    balm::scattered_spline<1> curve(ctx, {{0}, {10}}, std::tie(times), samples);  // std::vector<double>
    balm::scattered_spline<3, float> density({{0, 0, 0}, {1, 1, 1}}, std::tuple(px, py, pz), mass,
                                             {.cells = {4, 4, 4}, .levels = 5, .tolerance = 1e-3});
    std::cout << describe(curve) << '\n' << curve.residual_max() << '\n';
}

void values_on_a_grid(const numbers& samples);
void values_on_a_grid(const numbers& samples) {
    balm::cubic_spline<1> road({{0}, {1}}, samples, balm::spline_ends::natural);
}
