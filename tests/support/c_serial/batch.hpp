#pragma once
// Kernels printed as plain C++, compiled together by the host's compiler, and run in this process.

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "ir/ir.hpp"
#include "support/interpreter.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

class serial_batch {
public:
    /// Adds a kernel of which nothing is left that the dialect has no word for; returns its number.
    std::size_t add(const ir::function& kernel);

    /// Calls the compiler once for all. Throws std::runtime_error with its words where it fails.
    void compile();

    /// Runs a kernel for every work-item of the grid, on arguments like the interpreter's.
    void run(std::size_t number, const interpreter_grid&, std::span<const interpreter_argument>) const;

private:
    struct close {
        void operator()(void* library) const noexcept;
    };

    scratch_directory folder_;
    std::string source_ = "#include \"runtime.hpp\"\n";
    std::size_t count_ = 0;
    std::unique_ptr<void, close> library_;
};

/// Whether the compiler that Balm was built with is there.
bool has_serial_compiler();

}  // namespace balm::test
