#pragma once
// Keeps compilers from running while the exit of the process destroys them.

#include <optional>
#include <string_view>

#include "base/exit_gate.hpp"

namespace balm::runtime {

/// Held while a driver's compiler may be loaded or running. A compiler has static objects, some constructed
/// when it first compiles, so an object that is older than these outlives the compiler.
class compiler_use {
public:
    /// Throws device_error, which names what was to be done, after end_compiling(). Waits after
    /// compile_in_main_thread_only().
    explicit compiler_use(std::string_view what, std::string_view done = "compiled");
    compiler_use(const compiler_use&) = delete;
    compiler_use& operator=(const compiler_use&) = delete;
    ~compiler_use();

private:
    std::optional<exit_pass> until_compiled_;  // the exit handler waits for it
};

/// Waits for the compilations under way, and holds back others as long as it lives, for a second at most. For
/// a thread that may be in exit(), which destroys first what these compilations construct.
class compiler_pause {
public:
    compiler_pause();
    compiler_pause(const compiler_pause&) = delete;
    compiler_pause& operator=(const compiler_pause&) = delete;
    ~compiler_pause();
};

/// Called when the main thread begins to exit. exit() destroys first what was constructed last, such as what
/// a compiler constructs meanwhile in another thread: holds back compilations of other threads, for a second
/// at most, and waits for those under way.
void compile_in_main_thread_only();
/// The end of that: end_compiling() will be called before the compiler is destroyed.
void compile_in_all_threads();

/// Refuses further compilations from now on, and waits for those of other threads.
void end_compiling();
/// Whether that was called: the static objects of drivers and their libraries may be gone.
bool has_ended_compiling();

}  // namespace balm::runtime
