// Launches a kernel of the user's: checks the grid, binds the arguments, tells the queue what is read and
// written.

#include "kernel/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "balm/bound_kernel.hpp"
#include "balm/error.hpp"
#include "balm/module.hpp"
#include "balm/queue.hpp"
#include "emit/printer.hpp"
#include "ir/passes/hidden_parameters.hpp"
#include "kernel/launch/requirements.hpp"
#include "kernel/module/module_constants.hpp"
#include "kernel/module/module_state.hpp"
#include "kernel/print/print_records.hpp"
#include "kernel/sub_groups.hpp"
#include "runtime/queue/event_state.hpp"

namespace balm {

namespace kernels {

namespace {

struct observation {
    std::atomic<bool> is_on{false};
    std::mutex mutex;
    compilation_observer observer;
};
observation& the_observation() {
    static observation& o = *new observation;  // kernels may be compiled while static objects go
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
    facts.on_cpu = device.info().type == device_type::cpu;
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
                                   const ir::launch_facts& facts) {
    const emit::dialect& language = emit::dialect_of(device.driver().language());
    const ir::lowered fitted = ir::lower(written_out(kernel, language.has, device.info()), facts);
    return {.text = emit::print(fitted.kernel, language),
            .kernel_name = emit::kernel_name(kernel, language),
            .options = {},
            .plan = {ir::origins_of(fitted.kernel), fitted.elements_per_item, fitted.most_lead,
                     fitted.local_size, fitted.rows_per_item}};
}

namespace {

/// The identity of the program of a kernel for what is known of a launch.
runtime::program_identity identity_of(const ir::function& kernel, const ir::launch_facts& facts,
                                      const detail::instance_state* within) {
    return {kernel.identity, within != nullptr ? within->options_key() : runtime::digest{}, facts};
}

/// A fact by which launches of a kernel differ.
struct variation {
    bool& (*of)(ir::launch_facts&);
    const char* holds;
    const char* does_not;
};
constexpr variation variations[] = {
    {[](ir::launch_facts& f) -> bool& { return f.distinct; }, "arguments that share no memory",
     "arguments that share memory"},
    {[](ir::launch_facts& f) -> bool& { return f.is_shifted; }, "memory from within an allocation",
     "memory from its allocation's start"},
    {[](ir::launch_facts& f) -> bool& { return f.grid.is_offset; }, "an offset", "no offset"},
    {[](ir::launch_facts& f) -> bool& { return f.grid.is_part; }, "a grid in parts", "a grid in one part"},
    {[](ir::launch_facts& f) -> bool& { return f.grid.is_filled; }, "a grid that work-groups do not divide",
     "a grid that work-groups divide"},
};
using variation_set = std::bitset<std::size(variations)>;

/// The variations in which launches of the kernel have differed least from this one on the device; none
/// where it has had none.
std::optional<variation_set> nearest_difference(runtime::program_store& programs, const ir::function& kernel,
                                                const ir::launch_facts& facts,
                                                const detail::instance_state* within) {
    std::optional<variation_set> nearest;
    const bool is_of_any_groups = facts.only_for[0] == 0;  // and so not yet among them
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

/// What is new about the launch of a user's kernel.
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
            fmt::format("'{}' reads the constant '{}' of a module, which only the module's own launches are "
                        "given: launch it in the module's entry, by p.execute({}(…), …). Vector expressions "
                        "cannot read such constants",
                        kernel.name, kernel.given.front()->name, kernel.name));
    // A kernel given as text is compiled as it is, whatever is known of the launch.
    ir::launch_facts facts = known;
    if (kernel.text) {
        facts = {};
        facts.grid.is_offset = known.grid.is_offset;
    }
    runtime::program_store& programs = device.programs();
    const runtime::program_identity identity = identity_of(kernel, facts, within);
    if (auto loaded = programs.find(identity)) return loaded;
    return programs.get(identity, [&] {
        check_requirements(kernel, emit::dialect_of(device.driver().language()), device.info());
        report_compilation(kernel, facts);
        runtime::program_source source = source_for(device, kernel, facts);
        if (within != nullptr) source.options = within->options();
        if (facts.max_registers > 0)
            source.options += device.driver().words_for({.max_registers = facts.max_registers});
        source.why = why.empty() ? words_for(programs, kernel, facts, within) : std::string(why);
        return source;
    });
}

}  // namespace kernels

namespace {

using runtime::storage;

struct memory_use {
    runtime::storage_list reads;
    runtime::storage_list writes;
};

bool overlap(const bound_argument& a, const bound_argument& b) {
    return a.memory == b.memory && a.offset < b.offset + b.extent && b.offset < a.offset + a.extent;
}

/// Whether no written memory is bound to a second parameter.
bool is_distinct(const bound_call& call) {
    const auto& all = call.arguments;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (!all[k].memory || ir::is_only_read(call.function->parameters[k])) continue;
        for (std::size_t other = 0; other < all.size(); ++other)
            if (other != k && all[other].memory && overlap(all[k], all[other])) return false;
    }
    return true;
}

/// A hidden argument.
runtime::argument value_argument(std::int64_t value) {
    runtime::argument argument;
    argument.size = sizeof value;
    std::memcpy(argument.bytes.data(), &value, sizeof value);
    return argument;
}

/// Whether memory begins where the driver cannot bind it, so that the kernel is told by how much. Text is
/// compiled as it is, and so is given none.
bool needs_shift(const bound_call& call, const runtime::device_state& device) {
    if (kernels::features_of(device).passes_addresses) return false;
    const std::size_t alignment = std::max<std::size_t>(device.info().memory_alignment, 1);
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
        const bound_argument& given = call.arguments[k];
        if (!given.memory || given.offset % alignment == 0) continue;
        if (call.function->text)
            throw usage_error(
                fmt::format("argument {} of kernel '{}' is memory from byte {} of its allocation on, but {} "
                            "binds memory to "
                            "OpenCL C text only from multiples of {} bytes on; begin there, or pass the "
                            "whole buffer and the "
                            "place as a value",
                            k + 1, call.function->name, given.offset, device.words(), alignment));
        return true;
    }
    return false;
}

memory_use memory_of(const bound_call& call, const runtime::device_state& device) {
    memory_use use;
    for (std::size_t k = 0; k < call.arguments.size(); ++k) {
        storage* memory = call.arguments[k].memory.get();
        if (!memory && call.arguments[k].what == bound_argument::kind::memory)
            throw usage_error(fmt::format(
                "argument {} of kernel '{}' is a vector without elements and without a device; give it a "
                "size, balm::vector<T>(context, n), or assign to it first",
                k + 1, call.function->name));
        if (!memory) continue;
        if (&memory->device() != &device)
            throw usage_error(
                fmt::format("argument {} of kernel '{}' lives on {}, but the kernel is launched on {}", k + 1,
                            call.function->name, memory->device().words(), device.words()));
        const ir::parameter& parameter = call.function->parameters[k];
        if (!ir::is_only_read(parameter)) use.writes.push_back(memory);
        if (ir::is_only_read(parameter) || parameter.use == trace::access::mixed) use.reads.push_back(memory);
    }
    return use;
}

/// Refuses an image that is written and bound a second time: what is read of it then, no device says.
void check_images(const bound_call& call) {
    const auto& all = call.arguments;
    for (std::size_t k = 0; k < all.size(); ++k) {
        if (call.function->parameters[k].use != trace::access::out_image) continue;
        for (std::size_t other = 0; other < all.size(); ++other)
            if (other != k && all[other].memory == all[k].memory)
                throw usage_error(
                    fmt::format("kernel '{}' is given one image as arguments {} and {}, and writes it: an "
                                "image that a launch "
                                "writes is bound once. Write to another image, and copy it",
                                call.function->name, std::min(k, other) + 1, std::max(k, other) + 1));
    }
}

runtime::argument user_argument(const bound_call& call, std::size_t k) {
    const bound_argument& given = call.arguments[k];
    if (given.what == bound_argument::kind::image)
        return runtime::argument::of(given.memory->native(),
                                     kernels::image_use_of(call.function->parameters[k].use), given.sampler);
    if (given.memory) return runtime::argument::of(given.memory->native(), given.offset);
    runtime::argument made;  // a value, or room in local memory
    made.what = static_cast<runtime::argument::kind>(given.what);
    made.size = given.size;
    made.alignment = given.alignment;
    made.bytes = given.bytes;
    if (given.long_value) made.long_value = given.long_value->data();
    return made;
}

/// The largest number that a work-item's place can be.
constexpr std::size_t most_items_in_grid = std::numeric_limits<std::int64_t>::max();

/// "64 x 48". What does not fit a signed number was negative before it became a size.
template <class Sizes>
std::string product(const runtime::grid& g, const Sizes& of) {
    std::string words;
    for (std::uint32_t d = 0; d < g.dimensions; ++d)
        words += fmt::format("{}{}", d == 0 ? "" : " x ", static_cast<std::int64_t>(of[d]));
    return words;
}

bool is_empty(const runtime::grid& g) {
    return std::find(g.global.begin(), g.global.end(), std::size_t{0}) != g.global.end();
}

/// Refuses negative sizes, more work-items than can be counted, and places that cannot be.
void check_sizes(const runtime::grid& g, const std::size_t* local, const std::int64_t* offset,
                 const std::string& kernel) {
    const auto is_negative = [](std::size_t size) { return size > most_items_in_grid; };
    const std::size_t* const global = g.global.data();
    if (std::any_of(global, global + g.dimensions, is_negative))
        throw usage_error(
            fmt::format("kernel '{}' is launched over {} work-items: a grid's sizes are 0 or more", kernel,
                        product(g, global)));
    if (local != nullptr && std::any_of(local, local + g.dimensions, is_negative))
        throw usage_error(
            fmt::format("kernel '{}' is launched over {} work-items in work-groups of {}: a work-group's "
                        "sizes are 1 or more",
                        kernel, product(g, global), product(g, local)));
    if (is_empty(g)) return;
    std::size_t room = most_items_in_grid;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (global[d] > room)
            throw usage_error(fmt::format(
                "kernel '{}' is launched over {} work-items, more than the {} that can be counted", kernel,
                product(g, global), most_items_in_grid));
        room /= global[d];
        if (offset != nullptr && offset[d] > 0 &&
            global[d] > most_items_in_grid - static_cast<std::size_t>(offset[d]))
            throw usage_error(
                fmt::format("kernel '{}' is launched over {} work-items from {} on in dimension "
                            "{}: its last work-items would be beyond place {}",
                            kernel, global[d], offset[d], d, most_items_in_grid));
    }
}

std::size_t largest_divisor(std::size_t n, std::size_t limit) {
    for (std::size_t d = std::min(n, limit); d > 1; --d)
        if (n % d == 0) return d;
    return 1;
}

/// Work-items of a group in the first dimension, where memory is contiguous, if there are others.
constexpr std::size_t row_length = 32;

/// The most work-items of a group in dimension d where there is room for so many.
std::size_t most_items(const runtime::grid& g, std::uint32_t d, std::size_t room, const device_info& device) {
    const std::size_t most = std::min(room, device.max_work_item_sizes[d]);
    return d == 0 && g.dimensions > 1 ? std::min(most, row_length) : most;
}

/// Fills the group, the first dimension first, with what `size_for(global, most)` takes of each dimension.
template <class SizeFor>
void fill_group(runtime::grid& g, std::size_t room, const device_info& device, SizeFor&& size_for) {
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        g.local[d] = size_for(g.global[d], most_items(g, d, room, device));
        room = std::max<std::size_t>(room / g.local[d], 1);
    }
}

bool divides_grid(const runtime::grid& g) {
    for (std::size_t d = 0; d < g.dimensions; ++d)
        if (g.global[d] % g.local[d] != 0) return false;
    return true;
}

/// Groups of fewer work-items waste most of a CPU's vectors and of the time that a group takes to begin.
constexpr std::size_t small_group = 64;

/// Chooses the work-group size of a launch that gives none. Where the kernel cannot tell, the size need not
/// divide the grid: on a GPU the last groups are filled up, and the work-items beyond leave at once; on a
/// CPU, whose compiler makes no vectors of work-items that may leave, the rest of the rows becomes a part.
void choose_local(const ir::function& kernel, runtime::grid& g, std::size_t limit, const device_info& device,
                  ir::launch_facts& facts) {
    const std::size_t room = std::min(limit, kernels::usual_local_size);
    if (!kernel.sees_groups && !facts.on_cpu) {
        fill_group(g, room, device, [](std::size_t n, std::size_t most) { return std::min(n, most); });
        facts.grid.is_filled = !divides_grid(g);
        return;
    }
    fill_group(g, room, device, largest_divisor);
    const std::size_t items = g.local[0] * g.local[1] * g.local[2];
    const std::size_t all = g.global[0] * g.global[1] * g.global[2];
    if (kernel.sees_groups || items >= std::min(all, small_group)) return;
    g.local = {std::min(g.global[0], room), 1, 1};
    facts.grid.is_part = !divides_grid(g);
}

void check_local(const runtime::grid& g, const std::string& kernel, const device_info& device) {
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (g.local[d] == 0 || g.global[d] % g.local[d] != 0)
            throw usage_error(
                fmt::format("kernel '{}': the local size {} does not divide the global size {} in "
                            "dimension {}",
                            kernel, g.local[d], g.global[d], d));
        if (g.local[d] > device.max_work_item_sizes[d])
            throw usage_error(
                fmt::format("kernel '{}': the local size {} in dimension {} is beyond the {} that "
                            "'{}' allows",
                            kernel, g.local[d], d, device.max_work_item_sizes[d], device.name));
    }
}

void check_group_size(const runtime::grid& g, const std::string& kernel, const device_info& device,
                      std::size_t of_program) {
    const std::size_t items = g.local[0] * g.local[1] * g.local[2];
    const std::size_t limit = std::min(of_program, device.max_work_group_size);
    if (items > limit)
        throw usage_error(
            fmt::format("kernel '{}': work-groups of {} work-items are asked for, but on '{}' this "
                        "kernel allows {}",
                        kernel, items, device.name, limit));
}

bool asks_in_text(const ir::function& f) {
    const std::vector<const ir::function*> all = ir::with_callees(f);
    return std::any_of(all.begin(), all.end(),
                       [](const ir::function* each) { return each->text && each->text->asks_for_its_place; });
}

/// OpenCL C as text asks the driver for its place, so that there the driver is told of the offset; false
/// where Balm adds it.
bool leave_offset_to_driver(const ir::function& kernel, const runtime::device_state& device, runtime::grid& g,
                            const std::int64_t* offset) {
    if (!kernel.text && asks_in_text(kernel))
        throw usage_error(
            fmt::format("kernel '{}' is launched with an offset, but a function that it calls is given "
                        "as text and asks for its place in the grid: pass the place to it as a value",
                        kernel.name));
    if (!kernel.text || !kernels::features_of(device).has_grid_offset) return false;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (offset[d] < 0)
            throw usage_error(
                fmt::format("kernel '{}' is given as text and launched with the offset {}; OpenCL knows "
                            "none below 0",
                            kernel.name, offset[d]));
        g.offset[d] = static_cast<std::size_t>(offset[d]);
    }
    return true;
}

/// Takes the work-group size that a kernel's text says it needs, or refuses another one.
bool take_required_local(const ir::function& kernel, runtime::grid& g, const std::size_t* given) {
    if (!kernel.text || kernel.text->required_local[0] == 0) return false;
    const auto& required = kernel.text->required_local;
    for (std::uint32_t d = 0; d < g.dimensions; ++d) {
        if (given && given[d] != required[d])
            throw usage_error(
                fmt::format("kernel '{}' says that it needs work-groups of {} x {} x {} "
                            "(reqd_work_group_size), but is launched with {} in dimension {}",
                            kernel.name, required[0], required[1], required[2], given[d], d));
        g.local[d] = required[d];
    }
    return true;
}

using sizes = std::array<std::size_t, 3>;

sizes group_counts(const runtime::grid& g) {
    sizes counts;
    for (std::size_t d = 0; d < 3; ++d) counts[d] = (g.global[d] - 1) / g.local[d] + 1;
    return counts;
}
/// How many of them the driver takes at once.
sizes most_groups(const runtime::grid& g, const device_info& device) {
    sizes most = group_counts(g);
    std::size_t room = device.max_groups;
    for (std::size_t d = 0; d < 3; ++d) {
        most[d] = std::min({most[d], device.max_group_counts[d], room});
        room /= most[d];
    }
    return most;
}
bool fits_at_once(const runtime::grid& g, const device_info& device) {
    return most_groups(g, device) == group_counts(g);
}

/// Texts ask the driver for their place, and a grid_range would be walked once in each part.
void check_can_be_parted(const ir::function& kernel, const runtime::grid& g, const device_info& device) {
    const bool walks = std::any_of(kernel.code.begin(), kernel.code.end(),
                                   [](const ir::instruction& i) { return i.op == ir::opcode::grid_for; });
    if (!walks && !kernel.text && !asks_in_text(kernel)) return;
    const sizes most = most_groups(g, device);
    throw usage_error(fmt::format(
        "kernel '{}', {}, is launched over {} work-items in work-groups of {}, which are more groups than "
        "the "
        "{} that '{}' takes at once; launch {}",
        kernel.name, walks ? "which walks a grid_range" : "which is or calls text that asks for its place",
        product(g, g.global), product(g, g.local), product(g, most), device.name,
        walks ? "fewer work-items, each of which then walks more" : "larger groups, or parts"));
}

/// What is launched at once, of one dimension.
struct part {
    std::size_t first, size, local;
};

std::vector<part> parts_of(std::size_t global, std::size_t local, std::size_t most_groups, bool is_filled) {
    const std::size_t whole = is_filled ? global : global / local * local;
    const std::size_t step = most_groups > whole / local ? whole : most_groups * local;
    std::vector<part> list;
    for (std::size_t first = 0; first < whole; first += step)
        list.push_back({first, std::min(step, whole - first), local});
    if (whole < global) list.push_back({whole, global - whole, global - whole});
    return list;
}

/// The part that is the whole grid.
std::array<part, 3> whole_of(const runtime::grid& g) {
    std::array<part, 3> all;
    for (std::size_t d = 0; d < 3; ++d) all[d] = {0, g.global[d], g.local[d]};
    return all;
}

/// What the parameters of a launch are bound to.
struct launch_sources {
    const bound_call& call;
    const detail::instance_state* within;
    const kernels::launch_records& records;
    const runtime::grid& grid;   ///< the whole, in groups of which hidden local memory is shared out
    const std::int64_t* offset;  ///< null: none
};

runtime::argument local_room(std::size_t bytes) {
    runtime::argument room;
    room.what = runtime::argument::kind::local;
    room.size = static_cast<std::uint32_t>(bytes);
    return room;
}

/// The arguments of a launch, or of a part of it.
runtime::argument_list bound_arguments(const runtime::launch_plan& plan, const launch_sources& from,
                                       const std::array<part, 3>& at) {
    using runtime::origin;
    const ir::function& kernel = *from.call.function;
    runtime::argument_list list;
    for (const runtime::parameter_origin& each : plan.parameters) {
        const std::size_t k = each.number;
        switch (each.from) {
            case origin::user: list.push_back(user_argument(from.call, k)); break;
            case origin::shift: {  // the driver is not told of the offset
                const runtime::argument memory = list.back();
                list.back() = runtime::argument::of(memory.memory_handle());
                list.push_back(value_argument(static_cast<std::int64_t>(memory.offset())));
                break;
            }
            case origin::constant:
                list.push_back(
                    runtime::argument::of(from.within->memory_of(*kernel.given[k], kernel).native()));
                break;
            case origin::exchange: {
                const auto& local = from.grid.local;
                list.push_back(local_room(local[0] * local[1] * local[2] * size_of(static_cast<scalar>(k))));
                break;
            }
            case origin::records: list.push_back(from.records.argument()); break;
            case origin::offset: list.push_back(value_argument(from.offset[k])); break;
            case origin::first: list.push_back(value_argument(static_cast<std::int64_t>(at[k].first))); break;
            case origin::size:
                list.push_back(value_argument(static_cast<std::int64_t>(from.grid.global[k])));
                break;
            case origin::item: break;  // of functions alone
        }
    }
    return list;
}

void check_local_memory(std::uint64_t bytes, const ir::function& kernel, const device_info& device) {
    bytes += kernel.local_bytes;
    if (bytes > device.local_memory)
        throw usage_error(
            fmt::format("kernel '{}' asks for {} bytes of local memory, but '{}' has {} per work-group",
                        kernel.name, bytes, device.name, device.local_memory));
}

/// The local memory among arguments.
template <class Arguments>
std::uint64_t local_bytes(const Arguments& all) {
    std::uint64_t bytes = 0;
    for (const auto& each : all)
        if (static_cast<runtime::argument::kind>(each.what) == runtime::argument::kind::local)
            bytes += each.size;
    return bytes;
}

/// The program for a launch in work-groups of g.local. A compiler that is not told of their size may take
/// more registers than large ones leave to each work-item; told, it finds room.
std::shared_ptr<runtime::compiled_program> program_for_groups(
    std::shared_ptr<runtime::compiled_program> usual, runtime::device_state& device,
    const ir::function& kernel, ir::launch_facts facts, const runtime::grid& g,
    const detail::instance_state* within) {
    const std::size_t items = g.local[0] * g.local[1] * g.local[2];
    const bool is_small = items <= usual->max_work_group_size();
    if (is_small || items > device.info().max_work_group_size || kernel.text) return usual;
    std::transform(g.local.begin(), g.local.end(), facts.only_for.begin(),
                   [](std::size_t size) { return static_cast<std::uint32_t>(size); });
    return kernels::program_for(device, kernel, facts, within);
}

/// The program of a launch, and its work-group size.
std::shared_ptr<runtime::compiled_program> fitted_program(const ir::function& kernel,
                                                          runtime::device_state& device,
                                                          const std::size_t* local, runtime::grid& g,
                                                          ir::launch_facts& facts,
                                                          const detail::instance_state* within) {
    const device_info& info = device.info();
    const bool is_given = take_required_local(kernel, g, local) || local;
    if (local) std::copy_n(local, g.dimensions, g.local.begin());
    if (is_given) check_local(g, kernel.name, info);
    const runtime::grid_facts given = facts.grid;
    for (std::size_t limit = info.max_work_group_size;;) {
        facts.grid = given;
        if (!is_given) choose_local(kernel, g, limit, info, facts);
        if (!fits_at_once(g, info)) {
            check_can_be_parted(kernel, g, info);
            facts.grid.is_part = true;
        }
        auto program = kernels::program_for(device, kernel, facts, within);
        if (is_given) program = program_for_groups(std::move(program), device, kernel, facts, g, within);
        if (is_given || g.local[0] * g.local[1] * g.local[2] <= program->max_work_group_size()) {
            check_group_size(g, kernel.name, info, program->max_work_group_size());
            return program;
        }
        limit = program->max_work_group_size();
    }
}

/// Launches the parts of the grid, mostly one; `done` is when the last of them is.
void enqueue(runtime::queue_state& queue, runtime::kernel_lease& kernel, const launch_sources& from,
             const runtime::grid_facts& facts, const memory_use& use, std::span<const event> waits,
             event& done) {
    const runtime::grid& whole = from.grid;
    const auto launch_part = [&](const std::array<part, 3>& at) {
        const runtime::argument_list arguments = bound_arguments(kernel.program().plan(), from, at);
        if (from.call.function->exchanges != 0)
            check_local_memory(local_bytes(arguments), *from.call.function, queue.device().info());
        runtime::grid g = whole;
        for (std::size_t d = 0; d < 3; ++d) {
            g.global[d] =
                facts.is_filled ? (at[d].size + at[d].local - 1) / at[d].local * at[d].local : at[d].size;
            g.local[d] = at[d].local;
        }
        // Each part waits: if an event fails, none may run.
        queue.enqueue_launch(kernel, g, arguments, use.reads, use.writes, waits, &done);
    };
    if (!facts.is_part) return launch_part(whole_of(whole));
    std::array<std::vector<part>, 3> parts;
    const sizes most = most_groups(whole, queue.device().info());
    for (std::size_t d = 0; d < 3; ++d)
        parts[d] = parts_of(whole.global[d], whole.local[d], most[d], facts.is_filled);
    runtime::event_handle first;
    for (const part& z : parts[2])
        for (const part& y : parts[1])
            for (const part& x : parts[0]) {
                launch_part({x, y, z});
                if (first == nullptr) first = done.state()->driver;
            }
    done.state()->begin = std::move(first);
}

}  // namespace

std::size_t detail::work_items(std::size_t count, std::size_t size) {
    if (size == 0) throw usage_error("work-groups of 0 work-items are asked for");
    if (count > most_items_in_grid || size > most_items_in_grid)
        throw usage_error(
            fmt::format("{} work-groups of {} work-items are asked for: both numbers are "
                        "positive",
                        static_cast<std::int64_t>(count), static_cast<std::int64_t>(size)));
    if (count > most_items_in_grid / size)
        throw usage_error(
            fmt::format("{} work-groups of {} work-items are more than any grid holds", count, size));
    return count * size;
}

event detail::launch(const std::shared_ptr<runtime::queue_state>& queue, const bound_call& call,
                     int dimensions, const std::size_t* global, const std::size_t* local,
                     const std::int64_t* offset, const wait_list& waits) {
    return launch_within(nullptr, queue, call, dimensions, global, local, offset, waits);
}

event detail::launch_within(const instance_state* within, const std::shared_ptr<runtime::queue_state>& queue,
                            const bound_call& call, int dimensions, const std::size_t* global,
                            const std::size_t* local, const std::int64_t* offset, const wait_list& waits) {
    runtime::device_state& device = queue->device();
    const ir::function& kernel = *call.function;
    memory_use use = memory_of(call, device);
    check_images(call);
    check_local_memory(local_bytes(call.arguments), kernel, device.info());  // before it is compiled
    runtime::grid g;
    g.dimensions = static_cast<std::uint32_t>(dimensions);
    std::copy_n(global, dimensions, g.global.begin());
    check_sizes(g, local, offset, kernel.name);
    if (is_empty(g)) return waits.empty() ? event{} : queue->record(waits.events());

    ir::launch_facts facts = kernels::facts_for(device);
    facts.distinct = is_distinct(call);
    facts.is_shifted = needs_shift(call, device);
    facts.grid.is_offset =
        offset && std::any_of(offset, offset + dimensions, [](std::int64_t at) { return at != 0; });
    if (facts.grid.is_offset && leave_offset_to_driver(kernel, device, g, offset))
        facts.grid.is_offset = false;
    const auto program = fitted_program(kernel, device, local, g, facts, within);
    for (const auto& each : kernel.given) use.reads.push_back(&within->memory_of(*each, kernel));

    kernels::launch_records records(*queue, call.function);
    runtime::grid told = g;  // as the user sees it
    if (offset)
        std::transform(offset, offset + dimensions, told.offset.begin(),
                       [](std::int64_t start) { return static_cast<std::size_t>(start); });
    records.prepare(use.writes, told);
    event done;
    runtime::kernel_lease lease = program->lease_kernel();
    enqueue(*queue, lease, {call, within, records, g, offset}, facts.grid, use, waits.events(), done);
    records.launched(done);
    return done;
}

}  // namespace balm
