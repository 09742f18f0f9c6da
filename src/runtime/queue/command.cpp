#include "runtime/queue/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "balm/error.hpp"
#include "runtime/memory/storage.hpp"
#include "runtime/program/program_store.hpp"

namespace balm::runtime {

namespace {

template <class... Cases>
struct overloaded : Cases... {
    using Cases::operator()...;
};
template <class... Cases>
overloaded(Cases...) -> overloaded<Cases...>;

region_layout packed(const region_extent& size) { return {0, size.row_bytes, size.row_bytes * size.rows}; }

// The driver's call for each command.
struct issuer {
    driver_queue& on;
    const dependencies& after;

    void operator()(const launch_command& of) const {
        if (of.kernel != nullptr) return on.launch(*of.kernel, of.over, of.arguments, after);
        const kernel_lease leased = of.program->lease_kernel();
        on.launch(*leased, of.over, of.arguments, after);
    }
    void operator()(const multiply_command& of) const { on.multiply(of.what, after); }
    void operator()(const copy_command& of) const {
        const auto& [to, from, size, source] = of;
        if (source != nullptr)
            on.copy_from(*source, to.native, to.layout.offset, from.native, from.layout.offset,
                         size.row_bytes, after);
        else if (to.is_contiguous())
            on.copy(to.native, to.layout.offset, from.native, from.layout.offset, size.row_bytes, after);
        else
            on.copy_region(to.native, to.layout, from.native, from.layout, size, after);
    }
    void operator()(const fill_command& of) const {
        on.fill(of.to, of.offset, of.bytes, std::span(of.pattern).first(of.pattern_bytes), after);
    }
    void operator()(const write_command& of) const {
        const auto& [to, from, size, keep] = of;
        if (to.is_contiguous())
            on.write(to.native, to.layout.offset, from, size.row_bytes, after);
        else
            on.write_region(to.native, to.layout, from, packed(size), size, after);
    }
    void operator()(const read_command& of) const {
        const auto& [to, from, size] = of;
        if (from.is_contiguous())
            on.read(to, from.native, from.layout.offset, size.row_bytes, after);
        else
            on.read_region(to, packed(size), from.native, from.layout, size, after);
    }
    void operator()(const map_command& of) const {
        if (of.from == memory{}) return record();
        *of.address = on.map(of.from, of.offset, of.bytes, of.use, after);
    }
    void operator()(const unmap_command& of) const {
        if (of.from == memory{}) return record();
        on.unmap(of.from, of.address, after);
    }
    void operator()(const marker_command&) const { record(); }
    void operator()(const native_command&) const { record(); }
    void operator()(const batch_command& of) const { on.submit_batch(*of.batch, after); }

    void record() const {
        if (after.made != nullptr) *after.made = on.record(after.wait_for);
    }
};

/// Replaces memory in a command, and counts what it replaced.
struct memory_replacer {
    std::span<const memory_replacement> all;
    std::vector<const storage*> found = {};

    void replace(memory& in) {
        for (const memory_replacement& each : all) {
            if (in != each.recorded->native()) continue;
            in = each.by->native();
            found.push_back(each.recorded);
            return;
        }
    }
    void operator()(launch_command&) const {}  // its arguments are replaced once they are owned
    void operator()(multiply_command& of) {
        for (batched_matrix* const each : {&of.what.a, &of.what.b, &of.what.result}) replace(each->native);
    }
    void operator()(copy_command& of) {
        replace(of.to.native);
        replace(of.from.native);
    }
    void operator()(fill_command& of) { replace(of.to); }
    void operator()(write_command& of) { replace(of.to.native); }
    void operator()(read_command& of) { replace(of.from.native); }
    void operator()(const auto&) const {}  // the others have no memory, or cannot be recorded
};

std::vector<std::shared_ptr<storage>> handles(std::span<storage* const> of) {
    std::vector<std::shared_ptr<storage>> all;
    for (storage* const each : of) all.push_back(each->weak_from_this().lock());
    return all;
}

}  // namespace

std::shared_ptr<std::byte[]> copy_aside(const void* from, std::size_t bytes) {
    std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);  // not zeroed
    if (bytes > 0) std::memcpy(copy.get(), from, bytes);      // for 0 bytes, the pointer may be null
    return copy;
}

void issue(const command& of, driver_queue& on, const dependencies& after) {
    std::visit(issuer{on, after}, of.what);
}

bool can_be_deferred(const command& of) {
    return std::visit(
        overloaded{[](const launch_command& launch) { return launch.program != nullptr; },
                   [](const map_command&) { return false; }, [](const unmap_command&) { return false; },
                   [](const marker_command& marker) { return !marker.is_immediate; },
                   [](const auto&) { return true; }},
        of.what);
}

bool reads_other_device(const command& of) {
    const auto* const copy = std::get_if<copy_command>(&of.what);
    return copy != nullptr && copy->source != nullptr;
}

std::string_view name_of(const command& of) {
    return std::visit(overloaded{[](const launch_command& launch) -> std::string_view {
                                     if (launch.program == nullptr) return "kernel";
                                     return launch.program->kernel_name();
                                 },
                                 [](const multiply_command& multiply) { return multiply.name; },
                                 [](const copy_command&) -> std::string_view { return "copy"; },
                                 [](const fill_command&) -> std::string_view { return "fill"; },
                                 [](const write_command&) -> std::string_view { return "write"; },
                                 [](const read_command&) -> std::string_view { return "read"; },
                                 [](const map_command&) -> std::string_view { return "map"; },
                                 [](const unmap_command&) -> std::string_view { return "unmap"; },
                                 [](const marker_command&) -> std::string_view { return "marker"; },
                                 [](const native_command&) -> std::string_view { return "native"; },
                                 [](const batch_command&) -> std::string_view { return "batch"; }},
                      of.what);
}

std::size_t bytes_of(const command& of) {
    return std::visit(overloaded{[](const launch_command&) { return std::size_t{0}; },
                                 [](const multiply_command&) { return std::size_t{0}; },
                                 [](const unmap_command&) { return std::size_t{0}; },
                                 [](const marker_command&) { return std::size_t{0}; },
                                 [](const native_command&) { return std::size_t{0}; },
                                 [](const batch_command&) { return std::size_t{0}; },
                                 [](const fill_command& fill) { return fill.bytes; },
                                 [](const map_command& map) { return map.bytes; },
                                 [](const auto& transfer) { return bytes_of(transfer.size); }},
                      of.what);
}

event_handle begin_of(const command& of) {
    const auto* const native = std::get_if<native_command>(&of.what);
    return native != nullptr ? native->begin : nullptr;
}

std::size_t work_items_of(const command& of) {
    const auto* const launch = std::get_if<launch_command>(&of.what);
    if (launch == nullptr) return 0;
    return launch->over.global[0] * launch->over.global[1] * launch->over.global[2];
}

owned_command own(const command& of) {
    owned_command owned{of, handles(of.reads), handles(of.writes), nullptr, nullptr, {}};
    owned.what.reads = owned.what.writes = {};
    if (auto* const launch = std::get_if<launch_command>(&owned.what.what)) {
        owned.program = launch->program->shared_from_this();
        const std::size_t count = launch->arguments.size();
        owned.arguments = std::make_unique<argument[]>(count);
        std::copy_n(launch->arguments.begin(), count, owned.arguments.get());
        launch->arguments = {owned.arguments.get(), count};
        for (argument& each : std::span(owned.arguments.get(), count)) {
            if (each.long_value == nullptr) continue;
            owned.long_values.push_back(copy_aside(each.long_value, each.size));
            each.long_value = owned.long_values.back().get();
        }
        launch->kernel = nullptr;  // leased when it is issued
    }
    if (auto* const write = std::get_if<write_command>(&owned.what.what)) {
        if (write->keep->object == nullptr) {
            auto copy = copy_aside(write->from, bytes_of(write->size));
            write->from = copy.get();
            *write->keep = host_memory_owner(std::move(copy));
        }
        write->keep = nullptr;
    }
    return owned;
}

owned_command with_memory(const owned_command& of, std::span<const memory_replacement> all,
                          host_memory_owner kept) {
    command replaced = of.what;
    memory_replacer replacer{all};
    std::visit(replacer, replaced.what);
    if (auto* const write = std::get_if<write_command>(&replaced.what)) write->keep = &kept;
    owned_command owned = own(replaced);
    if (const auto* const launch = std::get_if<launch_command>(&owned.what.what))
        for (argument& each : std::span(owned.arguments.get(), launch->arguments.size())) {
            if (each.what != argument::kind::memory && each.what != argument::kind::image) continue;
            memory native = each.memory_handle();
            replacer.replace(native);
            std::memcpy(each.bytes.data(), &native.handle, sizeof native.handle);
        }
    const auto in_place = [&](const std::vector<std::shared_ptr<storage>>& list) {
        std::vector<std::shared_ptr<storage>> made = list;
        for (std::shared_ptr<storage>& one : made)
            for (const memory_replacement& each : all) {
                if (one.get() != each.recorded) continue;
                if (std::find(replacer.found.begin(), replacer.found.end(), one.get()) ==
                    replacer.found.end())
                    throw usage_error(fmt::format(
                        "'{}' of a recording uses memory of an argument ({}) by its address, so the "
                        "recording cannot be replayed with another vector there",
                        name_of(of.what), one->label()));
                one = each.by;
                break;
            }
        return made;
    };
    owned.reads = in_place(of.reads);
    owned.writes = in_place(of.writes);
    return owned;
}

}  // namespace balm::runtime
