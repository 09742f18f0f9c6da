// Finds or compiles the program of a kernel, and reports what is new about it.

#include <fmt/format.h>

#include <atomic>
#include <bitset>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "balm/error.hpp"
#include "emit/printer.hpp"
#include "ir/passes/hidden_parameters.hpp"
#include "ir/passes/reciprocals.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/launch/requirements.hpp"
#include "kernel/module/module_constants.hpp"
#include "kernel/module/module_state.hpp"
#include "kernel/print/print_records.hpp"
#include "kernel/sub_groups.hpp"

namespace balm::kernels {

namespace {

struct observation {
    std::atomic<bool> is_on{false};
    std::mutex mutex;
    compilation_observer observer;
};
observation& the_observation() {
    static observation& o = *new observation;  // kernels may be compiled during static destruction
    return o;
}

}  // namespace

void observe_compilations(compilation_observer observer) {
    observation& o = the_observation();
    const std::lock_guard lock(o.mutex);
    o.is_on = static_cast<bool>(observer);
    o.observer = std::move(observer);
}

bool compilations_are_observed() noexcept { return the_observation().is_on.load(std::memory_order_relaxed); }

void report_compilation(const ir::function& kernel, const ir::launch_facts& facts) {
    if (!compilations_are_observed()) return;
    observation& o = the_observation();
    const std::lock_guard lock(o.mutex);
    if (o.observer) o.observer(kernel, facts);
}

ir::launch_facts facts_for(const runtime::device_state& device) {
    ir::launch_facts facts;
    // Groups of fewer work-items than a sub-group share too little: such a device computes as CPUs do.
    facts.on_cpu = device.info().type == device_type::cpu ||
                   device.info().max_work_group_size < static_cast<std::size_t>(ir::sub_group_size);
    facts.loops_over_items = device.driver().loops_over_items();
    return facts;
}

runtime::image_use image_use_of(trace::access use) {
    return use == trace::access::out_image       ? runtime::image_use::written
           : use == trace::access::sampled_image ? runtime::image_use::sampled
                                                 : runtime::image_use::read;
}

const emit::features& features_of(const runtime::device_state& device) {
    return emit::dialect_of(device.driver().language()).has;
}

ir::function written_out(const ir::function& kernel, const emit::features& has, const device_info& device) {
    return write_out_prints(write_out_sub_groups(write_out_constants(kernel, has, device), has));
}

runtime::program_source source_for(const runtime::device_state& device, const ir::function& kernel,
                                   const ir::launch_facts& facts, std::string_view module_options) {
    const emit::dialect& language = emit::dialect_of(device.driver().language());
    const ir::lowered fitted = ir::lower(
        ir::with_reciprocals(written_out(kernel, language.has, device.info()), facts.small_counts), facts);
    emit::printed source = emit::print_program(fitted.kernel, language);
    // The options of a module may limit registers themselves, and compilers refuse two limits.
    const std::uint32_t wanted = module_options.empty() ? fitted.max_registers : 0;
    const std::uint32_t max_registers = facts.max_registers > 0 ? facts.max_registers : wanted;
    return {.text = std::move(source.text),
            .kernel_name = std::move(source.kernel_name),
            .options =
                device.driver().words_for({.optimise = fitted.is_optimised, .max_registers = max_registers}) +
                std::string(module_options),
            .plan = {ir::origins_of(fitted.kernel), fitted.elements_per_item, fitted.most_peeled,
                     fitted.local_size, fitted.rows_per_item}};
}

namespace {

/// The identity of a kernel's program for the facts of a launch.
runtime::program_identity identity_of(const ir::function& kernel, const ir::launch_facts& facts,
                                      const detail::instance_state* within) {
    return {kernel.identity, within != nullptr ? within->options_key() : runtime::digest{}, facts};
}

/// A fact in which launches of a kernel may differ.
struct variation {
    bool& (*of)(ir::launch_facts&);
    const char* holds;
    const char* does_not;
};
constexpr variation variations[] = {
    {[](ir::launch_facts& f) -> bool& { return f.distinct; }, "arguments that share no memory",
     "arguments that share memory"},
    {[](ir::launch_facts& f) -> bool& { return f.is_shifted; }, "memory at an offset in its allocation",
     "memory at the start of its allocation"},
    {[](ir::launch_facts& f) -> bool& { return f.grid.is_offset; }, "an offset", "no offset"},
    {[](ir::launch_facts& f) -> bool& { return f.grid.is_subgrid; }, "a grid in parts", "a grid in one part"},
    {[](ir::launch_facts& f) -> bool& { return f.grid.is_padded; }, "a grid that work-groups do not divide",
     "a grid that work-groups divide"},
};
using variation_set = std::bitset<std::size(variations)>;

/// The variations between this launch and the most similar earlier launch of the kernel on the device; empty
/// if there was none.
std::optional<variation_set> nearest_difference(runtime::program_store& programs, const ir::function& kernel,
                                                const ir::launch_facts& facts,
                                                const detail::instance_state* within) {
    std::optional<variation_set> nearest;
    const bool is_of_any_groups = facts.only_for[0] == 0;  // then differing = 0 is this program, which is new
    for (unsigned long differing = is_of_any_groups ? 1 : 0; differing < 1ul << std::size(variations);
         ++differing) {
        const variation_set each(differing);
        if (nearest && nearest->count() <= each.count()) continue;
        ir::launch_facts other = facts;
        other.only_for = {};
        for (std::size_t k = 0; k < each.size(); ++k) variations[k].of(other) ^= each[k];
        if (programs.find(identity_of(kernel, other, within)) != nullptr) nearest = each;
    }
    return nearest;
}

/// Describes what is new about the launch of a user-defined kernel.
std::string words_for(runtime::program_store& programs, const ir::function& kernel, ir::launch_facts facts,
                      const detail::instance_state* within) {
    ir::launch_facts usual;
    variation_set told;
    for (std::size_t k = 0; k < told.size(); ++k)
        told[k] = variations[k].of(facts) != variations[k].of(usual);
    told = nearest_difference(programs, kernel, facts, within).value_or(told);
    std::string words = "launched for the first time";
    const char* joint = " with";
    const auto add = [&](std::string_view more) {
        words += fmt::format("{} {}", joint, more);
        joint = " and";
    };
    for (std::size_t k = 0; k < told.size(); ++k)
        if (told[k]) add(variations[k].of(facts) ? variations[k].holds : variations[k].does_not);
    if (const ir::group_size& g = facts.only_for; g[0] != 0)
        add(fmt::format("groups of {} x {} x {}", g[0], g[1], g[2]));
    return words;
}

}  // namespace

std::shared_ptr<runtime::compiled_program> program_for(runtime::device_state& device,
                                                       const ir::function& kernel,
                                                       const ir::launch_facts& known,
                                                       const detail::instance_state* within,
                                                       std::string_view why) {
    if (within == nullptr && !kernel.given.empty())
        throw usage_error(
            fmt::format("'{}' reads the constant '{}' of a module, which is available only to launches by "
                        "that module: launch it in the module's entry, with p.execute({}(…), …). Vector "
                        "expressions cannot read module constants",
                        kernel.name, kernel.given.front()->name, kernel.name));
    // A kernel given as text is compiled unchanged, but for its barriers on CPUs.
    ir::launch_facts facts = known;
    if (kernel.text) {
        facts = {};
        facts.on_cpu = known.on_cpu;
        facts.loops_over_items = known.loops_over_items;
        facts.grid.is_offset = known.grid.is_offset;
    }
    runtime::program_store& programs = device.programs();
    const runtime::program_identity identity = identity_of(kernel, facts, within);
    if (auto loaded = programs.find(identity)) return loaded;
    return programs.get(identity, [&] {
        check_requirements(kernel, emit::dialect_of(device.driver().language()), device.info());
        report_compilation(kernel, facts);
        runtime::program_source source =
            source_for(device, kernel, facts, within != nullptr ? within->options() : std::string_view());
        source.why = why.empty() ? words_for(programs, kernel, facts, within) : std::string(why);
        return source;
    });
}

std::shared_ptr<runtime::compiled_program> program_for_groups(
    runtime::device_state& device, const ir::function& kernel, ir::launch_facts facts,
    const ir::group_size& size, const detail::instance_state* within, std::string_view why) {
    auto usual = program_for(device, kernel, facts, within, why);
    const std::size_t items = std::size_t{size[0]} * size[1] * size[2];
    const bool is_small = items <= usual->max_work_group_size();
    if (is_small || items > device.info().max_work_group_size || kernel.text) return usual;
    facts.only_for = size;
    return program_for(device, kernel, facts, within);
}

}  // namespace balm::kernels
