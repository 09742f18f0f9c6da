#pragma once
// A structure that kernels in OpenCL C declare, too.

#include <cstdint>

#include "balm/balm.hpp"

namespace balm::test {

struct particle {
    balm::float4 pos, vel;
    std::int32_t id;
};
BALM_STRUCT(particle, pos, vel, id)

}  // namespace balm::test
