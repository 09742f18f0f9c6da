#pragma once
// From a traced kernel to a device's program: lowered for the facts of a launch, printed in the device's
// dialect, then compiled or found in a cache.

#include <functional>
#include <memory>
#include <string_view>

#include "emit/dialect.hpp"
#include "ir/lower/lower.hpp"
#include "runtime/device/device_state.hpp"

namespace balm::detail {
class instance_state;
}

namespace balm::kernels {

/// The program of a kernel for a device and the facts of a launch, compiled with the options of the module
/// that launches it, if any. `why` says what is new about it, if that is known. Throws build_error;
/// usage_error for a kernel that reads a module's constants and is launched outside of a module.
std::shared_ptr<runtime::compiled_program> program_for(runtime::device_state&, const ir::function&,
                                                       const ir::launch_facts&,
                                                       const detail::instance_state* = nullptr,
                                                       std::string_view why = {});
/// The same for launches in work-groups of one size, which may exceed the program's limit. A compiler that
/// does not know the size may use more registers than large groups leave for a work-item; then the size is
/// compiled in, and limits them.
std::shared_ptr<runtime::compiled_program> program_for_groups(runtime::device_state&, const ir::function&,
                                                              ir::launch_facts, const ir::group_size&,
                                                              const detail::instance_state* = nullptr,
                                                              std::string_view why = {});
/// The source that such a program is compiled from, and the compiler's options with those of the module.
runtime::program_source source_for(const runtime::device_state&, const ir::function&, const ir::launch_facts&,
                                   std::string_view module_options = {});
/// The features of the language of the device's programs.
const emit::features& features_of(const runtime::device_state&);
/// The kernel with everything expanded that the language lacks: module constants, sub-groups, prints.
ir::function written_out(const ir::function& kernel, const emit::features&, const device_info&);

/// Called for every kernel that is compiled, before it is lowered, with the facts that it is lowered for.
using compilation_observer = std::function<void(const ir::function&, const ir::launch_facts&)>;
/// Sets or removes the observer; for tests, which compile every kernel for CUDA too.
void observe_compilations(compilation_observer);
/// Whether there is an observer; costs one load.
bool compilations_are_observed() noexcept;
/// Reports a kernel to the observer.
void report_compilation(const ir::function&, const ir::launch_facts&);

/// The facts that hold for all launches on the device.
ir::launch_facts facts_for(const runtime::device_state&);

/// How a kernel uses an image that is bound to a parameter of this access.
runtime::image_use image_use_of(trace::access);

/// The work-group size if Balm chooses it. On CPUs a fixed 256 is 8 times faster than 1, and 46 times faster
/// than the driver's choice for a prime count (PoCL 3.1, measured 2026-11-21).
inline constexpr std::size_t usual_local_size = 256;

}  // namespace balm::kernels
