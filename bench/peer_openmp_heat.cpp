#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "peer_heat.hpp"

namespace peer::openmp {

struct heat {
    std::size_t width, height, pitch;
    std::array<float, 6> keep, take;
    std::unique_ptr<std::uint8_t[]> codes;
    std::unique_ptr<float[]> now, next;
};

heat* heat_make(const heat_world& from) {
    const std::size_t pitch = from.width + 2, size = pitch * (from.height + 2);
    auto* const made = new heat{from.width,
                                from.height,
                                pitch,
                                {},
                                {},
                                std::make_unique<std::uint8_t[]>(size),
                                std::make_unique<float[]>(size),
                                std::make_unique<float[]>(size)};
    std::memcpy(made->keep.data(), from.keep, sizeof made->keep);
    std::memcpy(made->take.data(), from.take, sizeof made->take);
    std::memcpy(made->codes.get(), from.codes, size);
    std::memcpy(made->now.get(), from.state, size * sizeof(float));
    std::memcpy(made->next.get(), from.state, size * sizeof(float));
    return made;
}

void heat_advance(heat* world, unsigned steps) {
    const std::size_t width = world->width, height = world->height, pitch = world->pitch;
    const float *const keep = world->keep.data(), *const take = world->take.data();
    for (unsigned step = 0; step < steps; ++step) {
#pragma omp parallel for schedule(static)
        for (std::size_t y = 1; y <= height; ++y) {
            const float* __restrict s = world->now.get() + y * pitch;
            float* __restrict to = world->next.get() + y * pitch;
            const std::uint8_t* __restrict code = world->codes.get() + y * pitch;
#pragma omp simd
            for (std::size_t x = 1; x <= width; ++x)
                to[x] = keep[code[x]] * s[x] +
                        take[code[x]] * ((s[x - pitch] + s[x + pitch]) + (s[x - 1] + s[x + 1]));
        }
        std::swap(world->now, world->next);
    }
}

const float* heat_state(const heat* world) { return world->now.get(); }

void heat_release(heat* world) { delete world; }

}  // namespace peer::openmp
