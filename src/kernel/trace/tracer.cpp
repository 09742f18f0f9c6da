// The active trace and its limits.

#include "kernel/trace/tracer.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "balm/error.hpp"
#include "base/system.hpp"

namespace balm::trace {

namespace {

/// If tracing uses more of the host's stack than this, a C++ function on device values is calling itself.
constexpr std::size_t max_stack_bytes = 1 << 20;
/// The stack that is kept free for calls between two instructions and for the exception: this much, or a
/// quarter of the rest of a small stack.
constexpr std::size_t spare_stack_bytes = 128 << 10;
/// The current stack address. A local variable may be elsewhere (with AddressSanitizer it is).
inline std::uintptr_t stack_here() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }

std::atomic<std::uint32_t> traces_begun{0};

}  // namespace

thread_local constinit tracer* innermost = nullptr;

void fail(location where, const std::string& what) {
    throw trace_error(where.file ? fmt::format("{}:{}: {}", where.file, where.line, what) : what);
}

stack_limit::stack_limit() : begin(stack_here()), end(begin - std::min(begin, max_stack_bytes)) {
    const runtime::stack_bounds thread = runtime::stack_of_thread();
    if (begin <= thread.low || begin > thread.high) return;  // a coroutine's stack, whose bounds are unknown
    end = std::max(end, thread.low + std::min(spare_stack_bytes, (begin - thread.low) / 4));
}

bool stack_limit::is_passed() const { return stack_here() < end; }

tracer::tracer() : serial(++traces_begun) {}

void tracer::check() {
    if (!fault.empty()) throw trace_error(std::exchange(fault, {}));
    if (stack.is_passed())
        fail(where, fmt::format("the trace of '{}' does not end: a C++ function on device values calls "
                                "itself (it took {} KiB of this thread's stack). Devices have no "
                                "recursion; write it with WHILE or range",
                                function.name, (stack.begin - stack.end) >> 10));
}

ir::value_id tracer::record(const ir::instruction& what, std::span<const ir::value_id> operands) {
    check();
    const ir::value_id id = function.add(what, operands);
    ir::instruction& made = function.code[id];
    if (made.op == ir::opcode::builtin) made.bits = statement;
    made.knows_line = made.where.file != nullptr;
    if (made.knows_line)
        where = made.where;
    else
        made.where = where;
    function.blocks[frames.back().block].push_back(id);
    return id;
}

ir::value_id tracer::use(node n) {
    if (n.trace == serial) return n.id;
    fail(where, fmt::format("a device value that belongs to another kernel or function is used in '{}'; "
                            "pass it as a parameter",
                            function.name));
}

ir::block_id tracer::add_block() {
    function.blocks.emplace_back();
    return static_cast<ir::block_id>(function.blocks.size() - 1);
}

std::uint32_t tracer::enter(construct kind, ir::value_id owner, location at) {
    frames.push_back({kind, function.code[owner].blocks[0], owner, ++last_token, at});
    return last_token;
}

frame& tracer::top(std::uint32_t token) {
    check();
    if (frames.back().token == token) return frames.back();
    fail(frames.back().where, "this block is not closed where the one around it ends");
}

void tracer::refuse_empty(const frame& f, const char* what) {
    fail(f.where, fmt::format("this {} block records nothing. A C++ continue inside it cannot be seen "
                              "by the device: write continue_()",
                              what));
}

bool tracer::in_loop() const {
    return std::any_of(frames.begin(), frames.end(), [](const frame& f) {
        return f.kind == construct::loop || f.kind == construct::while_;
    });
}

bool is_recording() noexcept { return innermost != nullptr; }

tracer& current() {
    if (innermost) return *innermost;
    throw trace_error(
        "a device value (Int, Float, …) is used outside of a kernel. Device values exist only while "
        "balm::kernel or balm::function runs its lambda");
}

}  // namespace balm::trace
