#pragma once
// Every kernel that a test makes is printed for CUDA too and compiled with NVRTC, where that is found: it
// needs no GPU. A kernel that NVRTC refuses fails the test that made it.

#include <functional>
#include <string>

#include "ir/lower/lower.hpp"

namespace balm::test {

/// Begins to observe compilations; main() calls it once, before the tests run.
void compile_kernels_with_nvrtc();

/// The same after a test has observed them itself.
void compile_kernels_with_nvrtc_again();

/// How many kernels are compiled while the body runs.
int compilations_of(const std::function<void()>& body);

/// Compiles a kernel that no device compiled, with the rest at the end of the test.
void also_compile_with_nvrtc(const ir::function& kernel, const ir::launch_facts& = {});
/// The same for printed text.
void also_compile_with_nvrtc(std::string cuda_source);

}  // namespace balm::test
