// A particle system in four memory layouts with the same results; the bandwidth of each is printed to
// standard error. `particles [count]`

#include <algorithm>
#include <balm/balm.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

namespace {

using namespace balm::dsl;

/// 24 bytes, aligned to 4: no device can load it at once.
struct particle {
    float pos[3], vel[3];
};
BALM_STRUCT(particle, pos, vel)

/// 32 bytes, aligned to 16: two loads of four numbers. The fourth ones are free for a mass or a charge.
struct aligned_particle {
    balm::float4 pos, vel;
};
BALM_STRUCT(aligned_particle, pos, vel)

// Each step: the particles accelerate downwards, then move by their velocity.

const auto member_by_member = balm::kernel<1>("member_by_member(dt, fall, particles)",
                                              [](Float dt, Float fall, InOut<particle> particles) {
                                                  Index i = global_id(0);
                                                  particles[i].vel[1] -= fall;
                                                  for (int k = 0; k < 3; ++k)
                                                      particles[i].pos[k] += dt * particles[i].vel[k];
                                              });

const auto whole =
    balm::kernel<1>("whole(dt, fall, particles)", [](Float dt, Float fall, InOut<particle> particles) {
        Index i = global_id(0);
        Var<particle> p = particles[i];
        p.vel[1] -= fall;
        for (int k = 0; k < 3; ++k) p.pos[k] += dt * p.vel[k];
        particles[i] = p;
    });

const auto aligned = balm::kernel<1>("aligned(dt, fall, particles)",
                                     [](Float dt, Float fall, InOut<aligned_particle> particles) {
                                         Index i = global_id(0);
                                         Var<aligned_particle> p = particles[i];
                                         p.vel.y -= fall;
                                         p.pos += dt * p.vel;
                                         particles[i] = p;
                                     });

const auto arrays = balm::kernel<1>(
    "arrays(dt, fall, pos, vel)", [](Float dt, Float fall, InOut<balm::float4> pos, InOut<balm::float4> vel) {
        Index i = global_id(0);
        Var<balm::float4> v = vel[i];
        v.y -= fall;
        pos[i] += dt * v;
        vel[i] = v;
    });

constexpr int steps = 10;
constexpr float dt = 0.01f, fall = 9.81f * dt;

/// Runs the steps; prints the median bandwidth, with each byte read and written counted once.
template <class Kernel>
void run(const balm::device& on, const char* layout, const Kernel& kernel, size_t n, size_t bytes_each) {
    std::vector<std::uint64_t> nanoseconds;
    for (int k = 0; k < steps; ++k) {
        balm::event done = on.execute(kernel, {n});
        nanoseconds.push_back(done.profile().duration());
    }
    std::sort(nanoseconds.begin(), nanoseconds.end());
    const double bytes = 2.0 * static_cast<double>(bytes_each * n);
    std::cerr << layout << ": " << bytes / static_cast<double>(nanoseconds[steps / 2]) << " GB/s\n";
}

}  // namespace

int main(int argc, char** argv) {
    const size_t n = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1 << 21;
    std::mt19937 random(2026);
    std::uniform_real_distribution<float> numbers(-100, 100);
    std::vector<particle> start(n);
    std::vector<aligned_particle> start_aligned(n);
    std::vector<balm::float4> start_pos(n), start_vel(n);
    for (size_t i = 0; i < n; ++i) {
        for (int k = 0; k < 3; ++k) {
            start[i].pos[k] = start_pos[i][k] = numbers(random);
            start[i].vel[k] = start_vel[i][k] = numbers(random);
        }
        start_pos[i].w = start_vel[i].w = 0;
        start_aligned[i] = {start_pos[i], start_vel[i]};
    }
    std::vector<particle> expected = start;
    for (int step = 0; step < steps; ++step)
        for (particle& p : expected) {
            p.vel[1] -= fall;
            for (int k = 0; k < 3; ++k) p.pos[k] = std::fma(dt, p.vel[k], p.pos[k]);  // rounds as kernels do
        }

    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto packed = dev.mixed_buffer<particle>(n);
    auto in_fours = dev.mixed_buffer<aligned_particle>(n);
    auto pos = dev.mixed_buffer<balm::float4>(n), vel = dev.mixed_buffer<balm::float4>(n);

    bool all_right = true;
    const auto report = [&](const char* layout, auto&& place) {
        bool is_right = true;
        for (size_t i = 0; i < n; ++i)
            for (int k = 0; k < 3; ++k) is_right = is_right && place(i, k) == expected[i].pos[k];
        std::cout << layout << ": " << (is_right ? "right" : "wrong") << '\n';
        all_right = all_right && is_right;
    };
    {
        packed.write(start);
        run(dev, "structures, member by member", member_by_member(dt, fall, packed), n, sizeof(particle));
        const auto got = packed.read();
        report("structures, member by member", [&](size_t i, int k) { return got[i].pos[k]; });
    }
    {
        packed.write(start);
        run(dev, "structures, in one piece", whole(dt, fall, packed), n, sizeof(particle));
        const auto got = packed.read();
        report("structures, in one piece", [&](size_t i, int k) { return got[i].pos[k]; });
    }
    {
        in_fours.write(start_aligned);
        run(dev, "aligned structures", aligned(dt, fall, in_fours), n, sizeof(aligned_particle));
        const auto got = in_fours.read();
        report("aligned structures", [&](size_t i, int k) { return got[i].pos[k]; });
    }
    {
        pos.write(start_pos);
        vel.write(start_vel);
        run(dev, "an array for each member", arrays(dt, fall, pos, vel), n, 2 * sizeof(balm::float4));
        const auto got = pos.read();
        report("an array for each member", [&](size_t i, int k) { return got[i][k]; });
    }
    return all_right ? 0 : 1;
}
