// A table per device, destroyed with the device. A look-up takes a shared lock and compares the structure;
// nothing is printed or hashed as text.

#include "array/kernel_cache.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "balm/error.hpp"
#include "base/bounded_table.hpp"
#include "base/forked.hpp"
#include "kernel/launch/kernel_program.hpp"
#include "kernel/launch/work_groups.hpp"
#include "runtime/device/process_exit.hpp"

namespace balm::array {

namespace {

/// A kernel and its cache key. It holds no vectors or images: those would keep their devices alive.
struct entry {
    std::any key;
    ir::launch_facts facts;
    tape structure;  ///< without its leaves
    layout leaves;
    kernels::device_kernel kernel;
};

/// A table that kernels read, keyed by its contents.
struct table_entry {
    std::any key;
    std::shared_ptr<vector_state> elements;
};
constexpr std::size_t most_tables = 64;

class table final : public runtime::kernel_table {
public:
    static table& of(runtime::device_state& device) {
        return static_cast<table&>(device.expressions(
            [] { return std::unique_ptr<runtime::kernel_table>(std::make_unique<table>()); }));
    }
    void close() noexcept override {
        entries.close();
        kept.close();
    }

    runtime::bounded_table<entry> entries{runtime::program_store::most_programs};
    runtime::bounded_table<table_entry> kept{most_tables};
};

/// How the cache key differs from that of the most similar kernel.
std::string what_is_new(const runtime::device_state& device, const kernel_key& key, const tape& p,
                        const layout& leaves) {
    const char* words = "its operations and types are new";
    int nearest = 0;
    const auto say = [&](int how_near, const char* what_differs) {
        if (how_near > nearest) words = what_differs;
        nearest = std::max(nearest, how_near);
    };
    for (const auto& each : runtime::live_devices())
        table::of(*each).entries.for_each([&](const entry& e) {
            if (!key.is_kind_of(e.key) || !same_structure(e.structure, p)) return;
            if (!e.leaves.repeats_like(leaves))
                say(1, "its operands repeat in different places: a + a is not a + b");
            else if (!e.leaves.places.is_like(leaves.places))
                say(2, "its views have different dimensions or kinds of strides");
            else if (!key.is(e.key) || !e.leaves.is_like(leaves))
                say(3, "its targets, or the uses of its values, differ");
            else if (each.get() != &device)
                say(4, "it was compiled for other devices only");
            else
                say(5,
                    "its assumptions about memory differ, such as whether each vector owns its allocation");
        });
    return words;
}

/// The tape without its leaves, which are not part of the structure.
tape without_leaves(const tape& p) {
    tape bare;
    bare.steps = p.steps;
    bare.functions = p.functions;
    return bare;
}

/// Throws usage_error if the kernel relies on larger work-groups than the device can run it in.
std::shared_ptr<runtime::compiled_program> compiled(runtime::device_state& device, const ir::function& kernel,
                                                    const ir::launch_facts& facts, std::string_view why) {
    const std::size_t items = kernel.group_items;
    if (items == 0) return kernels::program_for(device, kernel, facts, nullptr, why);
    auto program = kernels::program_for_groups(device, kernel, facts,
                                               {static_cast<std::uint32_t>(items), 1, 1}, nullptr, why);
    kernels::check_group_size({.local = {items, 1, 1}}, kernel.name, device.info(),
                              program->max_work_group_size());
    return program;
}

layout without_vectors(const layout& leaves) {
    layout bare = leaves;
    bare.vectors = {};
    return bare;
}

}  // namespace

std::shared_ptr<const kernels::device_kernel> kernel_for(
    runtime::device_state& device, const kernel_key& key, const tape& p, const layout& leaves,
    ir::launch_facts facts, const std::function<std::shared_ptr<const ir::function>()>& trace) {
    runtime::refuse_if_forked();
    const std::uint64_t hash = runtime::table_hash().add(leaves, key, structure_hash(p)).value();
    const auto is_it = [&](const entry& e) {
        return key.is(e.key) && e.facts == facts && e.leaves.is_like(leaves) &&
               same_structure(e.structure, p);
    };
    // One reference count for both: holding the kernel holds its entry.
    const auto kernel_of = [](std::shared_ptr<entry>&& found) {
        const kernels::device_kernel* const kernel = &found->kernel;
        return std::shared_ptr<const kernels::device_kernel>(std::move(found), kernel);
    };
    runtime::bounded_table<entry>& entries = table::of(device).entries;
    if (std::shared_ptr<entry> known = entries.find(hash, is_it)) return kernel_of(std::move(known));

    const std::string why = what_is_new(device, key, p, leaves);
    const std::shared_ptr<const ir::function> traced = trace();
    kernels::device_kernel kernel{compiled(device, *traced, facts, why)};
    if (kernels::is_needed_to_launch(*traced)) kernel.traced = traced;
    auto made = std::make_shared<entry>(
        entry{key.copy(), facts, without_leaves(p), without_vectors(leaves), std::move(kernel)});
    return kernel_of(entries.insert(hash, std::move(made), is_it));
}

namespace {

/// Memory that does not keep its device alive, since the device owns it.
std::shared_ptr<vector_state> made_for(runtime::device_state& device, trace::type type, std::size_t size) {
    const std::size_t bytes = balm::detail::bytes_of(shape(size), trace::size_of(type));
    runtime::memory_pool::block block;
    block.bytes = runtime::memory_pool::block_bytes(bytes);
    try {
        block.native = device.driver().allocate(block.bytes);
    } catch (const out_of_memory_error&) {
        if (device.pool().trim() == 0) throw;
        block.native = device.driver().allocate(block.bytes);
    }
    const std::shared_ptr<runtime::device_state> not_kept(std::shared_ptr<void>(), &device);
    return std::make_shared<vector_state>(
        std::make_shared<runtime::storage>(not_kept, block, bytes, runtime::memory_label{"a table"}), type,
        size, 0);
}

}  // namespace

std::shared_ptr<vector_state> kept_table(runtime::device_state& device, const kernel_key& key,
                                         trace::type type, std::size_t size,
                                         const std::function<void(vector_state&)>& fill) {
    runtime::refuse_if_forked();
    const std::uint64_t hash = runtime::table_hash().add(key).value();
    const auto is_it = [&](const table_entry& e) { return key.is(e.key); };
    runtime::bounded_table<table_entry>& kept = table::of(device).kept;
    if (const auto known = kept.find(hash, is_it)) return known->elements;
    auto made = std::make_shared<table_entry>(table_entry{key.copy(), made_for(device, type, size)});
    const runtime::recording_pause pause;  // it is there for all kernels
    fill(*made->elements);
    return kept.insert(hash, std::move(made), is_it)->elements;
}

std::size_t group_size_of(const kernels::device_kernel& kernel, std::size_t most) {
    return std::bit_floor(std::min(most, kernel.program->max_work_group_size()));
}

}  // namespace balm::array
