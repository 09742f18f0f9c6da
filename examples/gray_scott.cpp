// Two substances that diffuse and react, after Gray and Scott, on a torus: a drop of the second one grows
// into a pattern. Each substance is a stencil over both. Recorded, a step is two kernels, one for the
// elements along the border; two steps, there and back, are one replay.

#include <balm/balm.hpp>
#include <cstdio>
#include <string>

using plane = balm::vector<float>;

int main() {
    constexpr std::size_t side = 128;
    constexpr float diffusion = 0.16f, feed = 0.035f, kill = 0.06f;
    balm::context ctx;
    plane u(ctx, side * side, 1.f), v(ctx, side * side, 0.f), next_u(ctx, side * side),
        next_v(ctx, side * side);
    const auto square = [](auto& each) { return balm::view(each, {side, side}); };
    const auto middle = balm::slice(side / 2 - 6, side / 2 + 6);
    square(u)(middle, middle) = 0.5f;
    square(v)(middle, middle) = 0.25f;

    const auto laplacian = [](const auto& w) {
        return w(-1, 0) + w(1, 0) + w(0, -1) + w(0, 1) - 4.f * w(0, 0);
    };
    const auto step = [&](const plane& u0, const plane& v0, plane& u1, plane& v1) {
        u1 = balm::stencil(
            balm::border::wrap,
            [&](const auto& a, const auto& b) {
                return a(0, 0) + diffusion * laplacian(a) - a(0, 0) * b(0, 0) * b(0, 0) +
                       feed * (1.f - a(0, 0));
            },
            square(u0), square(v0));
        v1 = balm::stencil(
            balm::border::wrap,
            [&](const auto& a, const auto& b) {
                return b(0, 0) + diffusion / 2 * laplacian(b) + a(0, 0) * b(0, 0) * b(0, 0) -
                       (feed + kill) * b(0, 0);
            },
            square(u0), square(v0));
    };
    const balm::recording two_steps = balm::record(ctx, [&] {
        step(u, v, next_u, next_v);
        step(next_u, next_v, u, v);
    });

    for (int frame = 0; frame < 3; ++frame) {
        const balm::host_array<float> values = v.to_host();
        std::printf("after %d steps:\n", 1000 * frame);
        for (std::size_t y = 4; y < side; y += 8) {
            std::string line;
            for (std::size_t x = 2; x < side; x += 4) {
                const float here = values[y * side + x];
                line += here > 0.25f ? '#' : here > 0.1f ? '+' : '.';
            }
            std::puts(line.c_str());
        }
        two_steps.repeat(500);
    }
    const double unevenness = balm::max(abs(square(v) - square(v).transpose()));
    std::printf("the pattern is as symmetric as the drop: %s\n", unevenness < 1e-3 ? "yes" : "no");
}
