// expect nothing: the programs of docs/array-elements.md, as they stand there.
#include <balm/balm.hpp>
#include <complex>
#include <iostream>
#include <numbers>
#include <vector>

using namespace balm::dsl;

struct particle {
    balm::float4 pos, vel;
    float mass;
};
BALM_STRUCT(particle, pos, vel, mass)

void short_vectors(const balm::context& ctx, std::size_t n, float dt);
void short_vectors(const balm::context& ctx, std::size_t n, float dt) {
    balm::vector<balm::float4> p(ctx, n, balm::float4{1, 2, 3, 4}), v(ctx, n);
    v = balm::normal<balm::float4>()(balm::element_index(), 42);
    p += dt * v;
    p = select(p < 0, -p, p);
    balm::vector<float> speed = length(v), x = balm::lane<0>(p);
    balm::vector<balm::float2> flat = balm::lanes<0, 1>(p);
    balm::vector<bool> inside = all_lanes(p < 10);
    p = balm::compose<balm::float4>(flat, x, 1.f);
    balm::vector<balm::uchar4> pixels = balm::convert_sat<balm::uchar4>(255 * v);
    std::cout << speed << inside << pixels;
}

void complex_numbers(const balm::context& ctx, const std::vector<std::complex<float>>& points);
void complex_numbers(const balm::context& ctx, const std::vector<std::complex<float>>& points) {
    using C = std::complex<float>;
    balm::vector<C> z(ctx, points);
    balm::vector<float> x = real(z), a = arg(z);
    z = exp(C(0, 1) * a) * abs(z);
    z = balm::compose<C>(x, a) / z;
    z = polar(x, a);
    balm::vector<std::complex<double>> wide = balm::complex_cast<double>(z);
}

void structures(const balm::context& ctx, const std::vector<particle>& host, float dt);
void structures(const balm::context& ctx, const std::vector<particle>& host, float dt) {
    balm::vector<particle> particles(ctx, host);
    balm::vector<balm::float4> momentum =
        balm::field<&particle::mass>(particles) * balm::field<&particle::vel>(particles);
    auto advance = balm::function("advance(p, dt)", [](Var<particle> p, Float by) {
        Var<particle> moved(p);
        moved.pos += by * p.vel;
        return moved;
    });
    particles = advance(particles, dt);
}

void effects(const balm::context& ctx, const balm::vector<float>& x);
void effects(const balm::context& ctx, const balm::vector<float>& x) {
    auto count_in = balm::function("count_in(bin, bins)", [](UInt bin, Mixed<unsigned> counts) {
        atomic_inc(counts[min(bin, 63u)], ~0u);
    });
    balm::vector<unsigned> bins(ctx, 64, 0u);
    balm::eval(count_in(balm::cast<unsigned>(64 * x), bins));
    balm::vector<float> y = balm::let(sin(2.5f * x), [](auto s) { return s * s + s; });
    y = x * std::numbers::pi_v<float>;
    y = x * balm::constant(std::numbers::pi_v<float>);
}
