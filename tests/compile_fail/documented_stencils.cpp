// expect nothing: the programs of docs/stencils.md, as they stand there.
#include <balm/balm.hpp>
#include <vector>

using floats = balm::vector<float>;

void overview(const floats& x, floats& y, floats& smooth, floats& flux, const floats& conductivity, int rows,
              int columns);
void overview(const floats& x, floats& y, floats& smooth, floats& flux, const floats& conductivity, int rows,
              int columns) {
    const auto M = balm::view(x, {rows, columns});
    y = balm::stencil(
        balm::border::clamp,
        [](const auto& u) { return u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0f * u(0, 0); }, M);
    smooth = balm::convolve(balm::border::mirror, x, {0.25f, 0.5f, 0.25f});
    flux = balm::stencil(
        balm::border::wrap,
        [](const auto& u, const auto& k) { return k(0) * (u(1) - u(0)) - k(-1) * (u(0) - u(-1)); }, x,
        conductivity);
    y = x + 0.1f * balm::stencil(
                       balm::border::clamp, [](const auto& u) { return u(-1) - 2.0f * u(0) + u(1); }, x);
}

void convolutions(const floats& x, floats& edges, floats& late, floats& matched, const floats& pulse,
                  const std::vector<float>& weights, int rows, int columns);
void convolutions(const floats& x, floats& edges, floats& late, floats& matched, const floats& pulse,
                  const std::vector<float>& weights, int rows, int columns) {
    const auto M = balm::view(x, {rows, columns});
    edges = balm::convolve(balm::border::clamp, M, {1.0f, 0.0f, -1.0f}, {.dimension = 0});
    late = balm::convolve(balm::constant_border{0.0f}, x, weights, {.centre = 0});
    const auto n = static_cast<std::int64_t>(pulse.size());
    matched =
        balm::convolve(balm::constant_border{0.0f}, x, pulse[n - 1 - balm::element_index(0, pulse.size())]);
}
