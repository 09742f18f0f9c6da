#pragma once
// What keeps compilers from working while the process exits and destroys them.

#include <string_view>

namespace balm::runtime {

/// Held while a driver's compiler may be at work. A compiler has static objects, some made when it first
/// compiles something, so an object that is older than these outlives the compiler.
class compiler_use {
public:
    /// Throws device_error, saying what was to be compiled, once end_compiling() was called.
    explicit compiler_use(std::string_view compiled);
    compiler_use(const compiler_use&) = delete;
    compiler_use& operator=(const compiler_use&) = delete;
    ~compiler_use();
};

/// From here on nothing is compiled. Returns when what other threads are compiling is done.
void end_compiling();

}  // namespace balm::runtime
