#pragma once
// From a traced kernel to a program of a device: lowered for what is known of the launch, printed in the
// device's dialect, compiled or found.

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

/// The program of a kernel for a device and what is known of the launch, compiled with the options of the
/// module that launches it, if any. `why` says what is new about it, where that is known. Throws build_error;
/// usage_error for a kernel with constants of a module that is launched by none.
std::shared_ptr<runtime::compiled_program> program_for(runtime::device_state&, const ir::function&,
                                                       const ir::launch_facts&,
                                                       const detail::instance_state* = nullptr,
                                                       std::string_view why = {});
/// The source that such a program is compiled from.
runtime::program_source source_for(const runtime::device_state&, const ir::function&,
                                   const ir::launch_facts&);
/// What the language of the device's programs has.
const emit::features& features_of(const runtime::device_state&);
/// The kernel with all that the language has no word for written out: module constants, sub-groups, prints.
ir::function written_out(const ir::function& kernel, const emit::features&, const device_info&);

/// Called with every kernel that a program is made of, before it is lowered, and with what it is lowered for.
using compilation_observer = std::function<void(const ir::function&, const ir::launch_facts&)>;
/// Sets the observer, or takes it away; for tests, which compile every kernel for CUDA too.
void observe_compilations(compilation_observer);
/// Whether there is an observer; costs one load.
bool compilations_are_observed() noexcept;
/// Tells the observer of a kernel.
void report_compilation(const ir::function&, const ir::launch_facts&);

/// What holds for kernels on this device, whatever the launch.
ir::launch_facts facts_for(const runtime::device_state&);

/// How a kernel uses an image that it has as such a parameter.
runtime::image_use image_use_of(trace::access);

/// The work-group size for kernels that Balm lays out itself. On CPUs a fixed 256 is 8 times faster than 1,
/// and 46 times faster than what a driver chooses for a prime count (PoCL 3.1, measured 2026-11-21).
inline constexpr std::size_t usual_local_size = 256;

}  // namespace balm::kernels
