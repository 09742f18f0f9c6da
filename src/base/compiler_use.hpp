#pragma once
// Keeps compilers from running while the exit of the process destroys them.

#include <string_view>

namespace balm::runtime {

/// Held while a driver's compiler may be running. A compiler has static objects, some constructed when it
/// first compiles, so an object that is older than these outlives the compiler.
class compiler_use {
public:
    /// Throws device_error, which names what was to be compiled, after end_compiling().
    explicit compiler_use(std::string_view compiled);
    compiler_use(const compiler_use&) = delete;
    compiler_use& operator=(const compiler_use&) = delete;
    ~compiler_use();
};

/// Refuses further compilations from now on, and waits for those of other threads.
void end_compiling();

}  // namespace balm::runtime
