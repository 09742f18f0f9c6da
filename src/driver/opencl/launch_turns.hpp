#pragma once
// Launches of one program that must not overlap: PoCL's table of work-group functions.

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/opencl/event.hpp"

namespace balm::opencl {

/// Has the launches of a program follow each other, whichever queues they are in.
///
/// PoCL keeps compiled work-group functions in a table and counts the launches that use each entry. An entry
/// holds for one local size and for grids no wider than that of the launch that made it. A launch is counted
/// in where its grid fits, but counted out of the first entry of its local size (PoCL 3.1, lib/CL/devices/
/// common.c, pocl_release_dlhandle_cache; 5.0 fails in the same assertion). If a launch is wider than all
/// before it while one of those runs in another queue, both are counted out of the new entry: PoCL aborts
/// with "found->ref_count > 0", or unloads a function that runs. (3.1 counts each launch in twice, and aborts
/// only once two such launches run beside it.) A launch that runs alone finds its own entry.
///
/// Entries are keyed by the program's text, options and device, so programs made of the same share them,
/// and so do a program and one loaded from its binary.
class launch_turns {
public:
    /// Those of the programs made of this content; they last as long as anybody has them.
    static std::shared_ptr<launch_turns> of(std::string_view content);
    /// Programs made of this content take these turns, too.
    static void share(const std::shared_ptr<launch_turns>&, std::string_view content);

    /// Calls `submit` with what the launch waits for, the launch before it included.
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
