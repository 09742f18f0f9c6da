#include "kernel/print/print_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "balm/error.hpp"
#include "balm/kernel.hpp"
#include "ir/passes/hidden_parameters.hpp"
#include "kernel/print/print_format.hpp"
#include "runtime/device/device_state.hpp"
#include "runtime/queue/event_state.hpp"
#include "runtime/queue/print_outlet.hpp"

namespace balm::kernels {

namespace {

using namespace balm::dsl;
using ir::opcode;
using ir::print_format;
using ir::value_id;
using traced_function = std::shared_ptr<const ir::function>;
using format_list = std::vector<std::shared_ptr<const print_format>>;

// The buffer's words: a header, the record of the check that failed first, and the records of prints.
constexpr std::uint32_t next_word = 0;     // where the next record goes
constexpr std::uint32_t end_word = 1;      // of the buffer
constexpr std::uint32_t dropped_word = 2;  // how many records did not fit; the low half, then the high one
constexpr std::uint32_t failed_word = 4;   // 1 once a check has failed
constexpr std::uint32_t full_word = 5;     // where the first record that did not fit would begin; 0: none
constexpr std::uint32_t header_words = 6;
/// Words ahead of a record's values: its format, counted from 1, and two for its work-item.
constexpr std::uint32_t record_head = 3;

/// The most launches whose prints have not been shown; the next one waits, so that buffers do not pile up.
constexpr std::size_t most_launches_unseen = 64;

// ---- work-items

// A record's place in the order is an item's number, and in the bits above it the phase of the kernel: the
// number of grid_ranges that it has entered and left. Inside a grid_range the number is the index, because
// devices distribute indices differently. No device runs more work-items than the remaining bits count.
constexpr int phase_shift = 48;
constexpr std::uint64_t last_phase =
    (std::uint64_t{1} << (64 - phase_shift)) - 1;  // odd: within a grid_range
constexpr std::uint64_t item_mask = (std::uint64_t{1} << phase_shift) - 1;

traced_function work_item(int dimensions) {
    auto body = [dimensions] {
        Index item = 0;
        for (int d = dimensions - 1; d >= 0; --d)
            item = item * global_size(d) + group_id(d) * local_size(d) + local_id(d);
        return cast<std::uint64_t>(item);
    };
    return balm::function("work_item", body).function();
}

traced_function in_phase() {
    auto body = [](ULong item, ULong phase) {
        return ULong((item & ULong(item_mask)) | phase << phase_shift);
    };
    return balm::function("in_phase(item, phase)", body).function();
}

// ---- the functions that write records

void fill_record(const InOut<std::uint32_t>& records, const UInt& at, const UInt& format, const ULong& item,
                 const std::vector<UInt>& words) {
    records[at] = format;
    records[at + 1u] = cast<std::uint32_t>(item);
    records[at + 2u] = cast<std::uint32_t>(item >> 32);
    for (std::uint32_t k = 0; k < words.size(); ++k) records[at + (record_head + k)] = words[k];
}

void reserve_and_fill(const InOut<std::uint32_t>& records, const UInt& format, const ULong& item,
                      const std::vector<UInt>& words) {
    const auto size = static_cast<std::uint32_t>(record_head + words.size());
    UInt at = 0u;
    // Nobody adds once the buffer is full, so the count never wraps. Not atomic_load: OpenCL 1.2's is a
    // volatile load, which Oclgrind reports as a race.
    IF (atomic_or(records[next_word], 0u) < records[end_word]) {
        UInt reserved = atomic_add(records[next_word], size);
        IF (reserved + size <= records[end_word]) {
            at = reserved;
        }
        ELIF (reserved < records[end_word]) {
            records[full_word] = reserved;  // the records end here
        }
    }
    IF (at != 0u) {
        fill_record(records, at, format, item, words);
    }
    ELSE {
        IF (atomic_add(records[dropped_word], 1u) == ~0u) {
            atomic_add(records[dropped_word + 1], 1u);
        }
    }
}

void fill_if_first(const InOut<std::uint32_t>& records, const UInt& format, const ULong& item,
                   const std::vector<UInt>& words) {
    IF (atomic_exchange(records[failed_word], 1u) == 0u) {
        fill_record(records, UInt(header_words), format, item, words);
    }
}

/// record_3(records, item, format, and 3 words)
traced_function recorder(bool is_check, std::size_t word_count) {
    trace::recording recording(fmt::format("{}_{}", is_check ? "fail" : "print", word_count), 0, {});
    const InOut<std::uint32_t> records(recording.parameter(scalar::u32, trace::access::mixed));
    const ULong item(recording.parameter(scalar::u64, trace::access::value));
    const UInt format(recording.parameter(scalar::u32, trace::access::value));
    std::vector<UInt> words;
    words.reserve(word_count);
    for (std::size_t k = 0; k < word_count; ++k)
        words.emplace_back(recording.parameter(scalar::u32, trace::access::value));
    (is_check ? fill_if_first : reserve_and_fill)(records, format, item, words);
    return recording.finish(nullptr);
}

// ---- the pass

/// The formats of a kernel and the functions that it calls, without duplicates: equal kernels have equal
/// lists.
struct format_table {
    format_list formats;
    std::map<std::string_view, std::size_t> number;

    explicit format_table(const ir::function& kernel) {
        for (const ir::function* f : ir::with_callees(kernel))
            for (const auto& each : f->formats)
                if (number.try_emplace(each->key, formats.size()).second) formats.push_back(each);
    }
    /// The word at which the records of prints begin.
    std::uint32_t first_record() const {
        std::size_t longest = 0;
        for (const auto& each : formats)
            if (each->is_check) longest = std::max(longest, record_head + each->words);
        return static_cast<std::uint32_t>(header_words + longest);
    }
    bool has_prints() const {
        return std::any_of(formats.begin(), formats.end(), [](const auto& each) { return !each->is_check; });
    }
};

class print_pass final : public ir::hidden_parameter_pass {
public:
    explicit print_pass(const ir::function& kernel) : table_(kernel) {}

private:
    /// A function that is being rewritten, and the value for the work-item at this point.
    struct part {
        ir::function& f;
        ir::block after;
        value_id records, item;
    };

    bool concerns(const ir::function& f) const override { return f.has_output; }
    std::vector<ir::parameter> parameters(const ir::function& f) const override {
        ir::parameter records, item;
        records.what = trace::pointer_to(scalar::u32, space::global);
        records.use = trace::access::mixed;
        records.name = "records";
        records.origin = {runtime::origin::records};
        if (f.dimensions != 0) return {records};
        item.what = scalar::u64;
        item.name = "item";
        item.origin = {runtime::origin::item};
        return {records, item};
    }
    void derive(ir::function& f, ir::builder& b, ir::hidden_values& values) override {
        if (f.dimensions == 0) return;
        const std::uint64_t callee = ir::callee_number(f, item_function(f.dimensions));
        values.add({runtime::origin::item}, b.make(opcode::call, scalar::u64, {}, 0, callee));
    }
    void rewrite(ir::function& f, const ir::hidden_values& values) override {
        part here{f, {}, values(runtime::origin::records), values(runtime::origin::item)};
        block_(here, 0, {});
    }

    static value_id add(part& p, opcode op, trace::type result, std::initializer_list<value_id> operands,
                        std::uint64_t bits = 0) {
        ir::instruction i;
        i.op = op;
        i.result = result;
        i.bits = bits;
        p.after.push_back(p.f.add(i, {operands.begin(), operands.size()}));
        return p.after.back();
    }

    void block_(part& p, ir::block_id b, ir::block beginning) {
        ir::block around = std::exchange(p.after, std::move(beginning));
        const ir::block before = std::move(p.f.blocks[b]);
        for (const value_id v : before) instruction_(p, v);
        p.f.blocks[b] = std::exchange(p.after, std::move(around));
    }
    void instruction_(part& p, value_id v) {
        const opcode op = p.f.code[v].op;
        const std::uint64_t bits = p.f.code[v].bits;
        if (op == opcode::print) return print(p, v);
        if (op == opcode::grid_for) return grid_range(p, v);
        if (op == opcode::call && p.f.callees[bits]->has_output) p.f.operands_of(v).back() = p.item;
        inside(p, v);
        p.after.push_back(v);
    }
    void inside(part& p, value_id v) {
        const auto blocks = std::to_array(p.f.code[v].blocks);  // a copy: the code grows meanwhile
        for (const ir::block_id inner : blocks)
            if (inner != ir::none) block_(p, inner, {});
    }
    void print(part& p, value_id v) {
        const print_format& format = *p.f.formats[p.f.code[v].bits];
        const value_id id = add(p, opcode::constant, scalar::u32, {}, table_.number.at(format.key) + 1);
        std::vector<value_id> operands{p.records, p.item, id};
        const auto words = p.f.operands_of(v);
        operands.insert(operands.end(), words.begin(), words.end());
        traced_function& known = recorders_[{format.is_check, format.words}];
        if (!known) known = recorder(format.is_check, format.words);
        const std::uint64_t callee = ir::callee_number(p.f, known);
        p.f.code[v].op = opcode::call;
        p.f.code[v].bits = callee;
        p.f.set_operands(v, operands);
        p.after.push_back(v);
    }
    void grid_range(part& p, value_id loop) {
        const value_id outside = p.item;
        const ir::block_id body = p.f.code[loop].blocks[0];
        ir::block around = std::exchange(p.after, {});
        p.item = phased(p, add(p, opcode::convert, scalar::u64, {loop}), next_phase());
        ir::block beginning = std::exchange(p.after, std::move(around));
        block_(p, body, std::move(beginning));
        p.after.push_back(loop);
        p.item = phased(p, outside, next_phase());
    }
    /// Odd within a grid_range, even outside. Those that no longer fit share the last two numbers.
    std::uint64_t next_phase() { return phase_ = phase_ == last_phase ? phase_ - 1 : phase_ + 1; }
    value_id phased(part& p, value_id item, std::uint64_t phase) {
        if (!in_phase_) in_phase_ = in_phase();
        const value_id number = add(p, opcode::constant, scalar::u64, {}, phase);
        return add(p, opcode::evaluate, scalar::u64, {item, number}, ir::callee_number(p.f, in_phase_));
    }
    const traced_function& item_function(int dimensions) {
        if (!work_item_) work_item_ = work_item(dimensions);
        return work_item_;
    }

    format_table table_;
    std::uint64_t phase_ = 0;
    std::map<std::pair<bool, std::size_t>, traced_function> recorders_;
    traced_function work_item_, in_phase_;
};

// ---- the host

/// A record among the words that were read.
struct record {
    std::uint64_t item;
    const print_format* format;
    const std::uint32_t* words;
};

record record_at(const std::uint32_t* at, const format_table& table) {
    return {std::uint64_t{at[2]} << 32 | at[1], table.formats.at(at[0] - 1).get(), at + record_head};
}

/// The records in order: by item, then by phase, then by reservation.
std::vector<record> sorted(const std::vector<std::uint32_t>& words, const format_table& table) {
    std::vector<record> list;
    for (std::size_t at = 0; at < words.size();) {
        list.push_back(record_at(&words[at], table));
        at += record_head + list.back().format->words;
    }
    const auto place = [](const record& r) { return r.item << (64 - phase_shift) | r.item >> phase_shift; };
    std::stable_sort(list.begin(), list.end(),
                     [&](const record& a, const record& b) { return place(a) < place(b); });
    return list;
}

/// The output of a launch.
struct output {
    std::shared_ptr<const ir::function> kernel;
    std::shared_ptr<runtime::storage> memory;
    runtime::grid grid;

    void show(runtime::driver_queue& reader, std::shared_ptr<runtime::print_outlet>& outlet) const {
        const format_table table(*kernel);
        const std::uint32_t first = table.first_record();
        const std::vector<std::uint32_t> head = words(reader, 0, first);
        const std::uint32_t end =
            head[full_word] != 0 ? head[full_word] : std::min(head[next_word], head[end_word]);
        print(sorted(words(reader, first, end - first), table), head, outlet);
        if (head[failed_word] != 0) fail(record_at(&head[header_words], table));
    }

private:
    std::vector<std::uint32_t> words(runtime::driver_queue& reader, std::size_t from,
                                     std::size_t count) const {
        std::vector<std::uint32_t> read(count);
        if (count == 0) return read;
        reader.read(read.data(), memory->native(), 4 * from, 4 * count, {});
        try {
            reader.finish();
        } catch (...) {
            reader.finish();  // a pending read would write into freed memory
        }
        return read;
    }
    void print(const std::vector<record>& records, const std::vector<std::uint32_t>& head,
               std::shared_ptr<runtime::print_outlet>& outlet) const {
        const std::uint64_t dropped = std::uint64_t{head[dropped_word + 1]} << 32 | head[dropped_word];
        if (records.empty() && dropped == 0) return;
        std::vector<std::string> prints;
        prints.reserve(records.size() + 1);
        for (const record& each : records) prints.push_back(formatted(*each.format, each.words));
        if (dropped > 0)
            prints.push_back(fmt::format(
                "… {} records of kernel '{}' were dropped: they do not fit into print_buffer_size, which "
                "is {} bytes\n",
                dropped, kernel->name, 4 * (head[end_word] - format_table(*kernel).first_record())));
        outlet = memory->device().outlet();
        outlet->add(std::move(prints));
    }
    [[noreturn]] void fail(const record& r) const {
        throw check_error(fmt::format(
            "{}:{}: a check failed in kernel '{}' on {}: {} ({})", r.format->where.file, r.format->where.line,
            kernel->name, memory->device().words(), formatted(*r.format, r.words), place_of(r.item)));
    }
    std::string place_of(std::uint64_t item) const {
        std::uint64_t number = item & item_mask;
        if ((item >> phase_shift) % 2 == 1) return fmt::format("index {} of grid_range", number);
        std::array<std::int64_t, 3> global{}, local{}, group{};
        for (std::uint32_t d = 0; d < grid.dimensions; ++d) {
            const std::uint64_t id = number % grid.global[d];
            number /= grid.global[d];
            global[d] = static_cast<std::int64_t>(id + grid.offset[d]);
            local[d] = static_cast<std::int64_t>(id % grid.local[d]);
            group[d] = static_cast<std::int64_t>(id / grid.local[d]);
        }
        return fmt::format("work-item {}: {} of work-group {}", ids(global), ids(local), ids(group));
    }
    std::string ids(const std::array<std::int64_t, 3>& of) const {
        if (grid.dimensions == 1) return std::to_string(of[0]);
        std::string text = "(" + std::to_string(of[0]);
        for (std::uint32_t d = 1; d < grid.dimensions; ++d) text += ", " + std::to_string(of[d]);
        return text + ")";
    }
};

}  // namespace

ir::function write_out_prints(const ir::function& kernel) {
    return kernel.has_output ? print_pass(kernel).apply(kernel) : kernel;
}

launch_records::launch_records(runtime::queue_state& queue, const std::shared_ptr<const ir::function>& kernel,
                               const runtime::grid& grid)
    : queue_(queue) {
    if (queue.pending_host_parts() >= most_launches_unseen) queue.finish_quietly();
    const format_table table(*kernel);
    std::vector<std::uint32_t> head(table.first_record());
    head[next_word] = table.first_record();
    head[end_word] = table.first_record();
    if (table.has_prints())
        head[end_word] += static_cast<std::uint32_t>(queue.device().outlet()->buffer_bytes / 4);
    memory_ = queue.device().allocate(std::size_t{4} * head[end_word],
                                      {fmt::format("the prints of kernel '{}'", kernel->name)});
    queue.enqueue_write(*memory_, 0, head.data(), 4 * head.size(), nullptr);
    left_ = runtime::host_parts::prepare(
        [left = output{kernel, memory_, grid}](runtime::driver_queue& reader,
                                               std::shared_ptr<runtime::print_outlet>& outlet) {
            left.show(reader, outlet);
        });
}

void launch_records::launched(const event& done) noexcept { queue_.when_done(done, std::move(left_)); }

}  // namespace balm::kernels
