#pragma once
// Serialises launches of one program that must not overlap, because of PoCL's table of work-group functions.

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/opencl/event.hpp"

namespace balm::opencl {

/// Serialises the launches of a program, whatever their queues.
///
/// PoCL keeps compiled work-group functions in a table and counts the launches that use each entry. An entry
/// serves one local size, and grids no wider than that of the launch that made it. A launch increments the
/// count of an entry that its grid fits, but decrements that of the first entry of its local size (PoCL 3.1,
/// lib/CL/devices/common.c, pocl_release_dlhandle_cache; 5.0 fails in the same assertion). If a launch is
/// wider than all before it while one of those runs in another queue, both decrement the new entry: PoCL
/// aborts with "found->ref_count > 0", or unloads a running function. (3.1 increments twice per launch, and
/// aborts only once two such launches run beside it.) A launch that runs alone finds its own entry.
///
/// Entries are keyed by the program's text, options and device, so equal programs share them, and so do a
/// program and one loaded from its binary.
class launch_turns {
public:
    /// The turns of the programs with this content; they live as long as anyone holds them.
    static std::shared_ptr<launch_turns> of(std::string_view content);
    /// Makes programs with this content take these turns, too.
    static void share(const std::shared_ptr<launch_turns>&, std::string_view content);

    /// Calls `submit` with the launch's dependencies, including the previous launch if it is in another
    /// queue.
    template <class Submit>
    cl_int take(cl_command_queue queue, const runtime::dependencies& needs, Submit&& submit) {
        const std::lock_guard lock(mutex_);
        std::vector<runtime::event_handle> after;
        std::span<const runtime::event_handle> wait_for = needs.wait_for;
        if (last_ != nullptr && static_cast<event&>(*last_).queue() != queue) {
            after.assign(wait_for.begin(), wait_for.end());
            after.push_back(last_);
            wait_for = after;
        }
        runtime::event_handle done;
        const cl_int code = submit(runtime::dependencies{wait_for, &done});
        if (code != CL_SUCCESS) return code;
        if (needs.made != nullptr) *needs.made = done;
        last_ = std::move(done);
        return code;
    }

private:
    std::mutex mutex_;
    runtime::event_handle last_;
};

}  // namespace balm::opencl
