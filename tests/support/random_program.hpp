#pragma once
// Kernels drawn at random from a seed, written with the kernel language itself: nested control flow,
// variables, guarded conditions, calls, loads and stores. Every device must give bit for bit what the
// interpreter gives: signed arithmetic is masked so that it cannot overflow, and floating point uses what
// IEEE 754 rounds correctly.

#include <cstdint>

#include "balm/kernel.hpp"

namespace balm::test {

/// Every work-item reads anywhere in the inputs, and reads and writes its own slots of the rest.
struct random_program {
    static constexpr std::int64_t input_size = 64;  ///< elements of each In
    static constexpr std::int64_t slots = 4;        ///< elements a work-item of each Out and Mixed

    using kernel_type =
        typed_kernel<1, dsl::Int, dsl::UInt, dsl::Float, dsl::In<std::int32_t>, dsl::In<std::uint32_t>,
                     dsl::In<float>, dsl::In<half>, dsl::Mixed<std::int32_t>, dsl::Out<std::int32_t>,
                     dsl::Out<std::uint32_t>, dsl::Out<std::int64_t>, dsl::Out<float>, dsl::Out<half>>;
    std::uint64_t seed;
    kernel_type kernel;
};

struct random_program_options {
    bool divides_floats = true;  ///< f32 division and sqrt, which not every OpenCL device rounds correctly
};

/// The same seed gives the same program, whatever the compiler.
random_program draw_program(std::uint64_t seed, random_program_options = {});

}  // namespace balm::test
