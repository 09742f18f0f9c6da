// A system of particles in four layouts: all have the same positions, bit by bit, as the host's.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernel/run.hpp"

namespace balm::test {

namespace {

using namespace balm::dsl;

/// 24 bytes, aligned to 4.
struct loose_particle {
    float pos[3], vel[3];
};
BALM_STRUCT(loose_particle, pos, vel)
/// 32 bytes, aligned to 16.
struct vector_particle {
    float4 pos, vel;
};
BALM_STRUCT(vector_particle, pos, vel)

class G7_particles : public testing::Test {
protected:
    G7_particles() {
        auto random = seeded_random();
        std::uniform_real_distribution<float> numbers(-100, 100);
        for (std::size_t i = 0; i < count; ++i) {
            loose_particle one{};
            vector_particle other{};
            for (int k = 0; k < 3; ++k) {
                one.pos[k] = other.pos[k] = numbers(random);
                one.vel[k] = other.vel[k] = numbers(random);
            }
            loose.push_back(one);
            vectors.push_back(other);
        }
        expected = loose;
        for (int step = 0; step < steps; ++step)
            for (loose_particle& p : expected) {
                p.vel[1] -= fall;
                for (int k = 0; k < 3; ++k) p.pos[k] = std::fma(dt, p.vel[k], p.pos[k]);  // as kernels round
            }
    }

    template <class Kernel>
    static void run_steps(const device& on, const Kernel& launch) {
        for (int step = 0; step < steps; ++step) on.execute(launch, {count});
    }
    /// at(i): the particle's position and velocity, of which three numbers count.
    template <class Position, class Velocity>
    void expect_where(const Position& position, const Velocity& velocity) const {
        for (std::size_t i = 0; i < count; ++i)
            for (int k = 0; k < 3; ++k) {
                ASSERT_EQ(position(i)[k], expected[i].pos[k]) << i << ' ' << k;
                ASSERT_EQ(velocity(i)[k], expected[i].vel[k]) << i << ' ' << k;
            }
    }
    /// The kernel steps these particles, in structures, to where they are expected.
    template <class Kernel, class Particle>
    void expect_of_structures(const Kernel& kernel, const std::vector<Particle>& particles) const {
        on_all_devices([&](const device& on) {
            auto memory = on.mixed_buffer<Particle>(count);
            memory.write(particles);
            run_steps(on, kernel(dt, fall, memory));
            const auto got = memory.read();
            expect_where([&](std::size_t i) { return got[i].pos; },
                         [&](std::size_t i) { return got[i].vel; });
        });
    }

    static constexpr std::size_t count = 333;
    static constexpr int steps = 4;
    static constexpr float dt = 0.01f, fall = 9.81f * dt;
    std::vector<loose_particle> loose, expected;
    std::vector<vector_particle> vectors;
};

TEST_F(G7_particles, in_structures_member_by_member) {
    const auto kernel = balm::kernel<1>("member_by_member(dt, fall, particles)",
                                        [](Float by, Float less, Mixed<loose_particle> particles) {
                                            const Index i = global_id(0);
                                            particles[i].vel[1] -= less;
                                            for (int k = 0; k < 3; ++k)
                                                particles[i].pos[k] += by * particles[i].vel[k];
                                        });
    expect_of_structures(kernel, loose);
}

TEST_F(G7_particles, in_structures_loaded_at_once) {
    const auto kernel = balm::kernel<1>("at_once(dt, fall, particles)",
                                        [](Float by, Float less, Mixed<loose_particle> particles) {
                                            const Index i = global_id(0);
                                            Var<loose_particle> p = particles[i];
                                            p.vel[1] -= less;
                                            for (int k = 0; k < 3; ++k) p.pos[k] += by * p.vel[k];
                                            particles[i] = p;
                                        });
    expect_of_structures(kernel, loose);
}

TEST_F(G7_particles, in_aligned_structures) {
    const auto kernel = balm::kernel<1>("aligned(dt, fall, particles)",
                                        [](Float by, Float less, Mixed<vector_particle> particles) {
                                            const Index i = global_id(0);
                                            Var<vector_particle> p = particles[i];
                                            p.vel.y -= less;
                                            p.pos += by * p.vel;
                                            particles[i] = p;
                                        });
    expect_of_structures(kernel, vectors);
}

TEST_F(G7_particles, in_an_array_for_each_member) {
    const auto kernel = balm::kernel<1>("arrays(dt, fall, pos, vel)",
                                        [](Float by, Float less, Mixed<float4> pos, Mixed<float4> vel) {
                                            const Index i = global_id(0);
                                            Var<float4> v = vel[i];
                                            v.y -= less;
                                            pos[i] += by * v;
                                            vel[i] = v;
                                        });
    on_all_devices([&](const device& on) {
        std::vector<float4> places, speeds;
        for (const vector_particle& each : vectors) {
            places.push_back(each.pos);
            speeds.push_back(each.vel);
        }
        auto pos = on.mixed_buffer<float4>(count), vel = on.mixed_buffer<float4>(count);
        pos.write(places);
        vel.write(speeds);
        run_steps(on, kernel(dt, fall, pos, vel));
        const auto got_pos = pos.read(), got_vel = vel.read();
        expect_where([&](std::size_t i) { return got_pos[i]; }, [&](std::size_t i) { return got_vel[i]; });
    });
}

}  // namespace

}  // namespace balm::test
