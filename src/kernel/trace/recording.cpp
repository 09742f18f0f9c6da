// From a signature to a verified and simplified ir::function. In between, the user's lambda runs and calls
// the functions of balm/trace.hpp.

#include "kernel/trace/tracer.hpp"

#include <utility>

#include "balm/dsl/value.hpp"
#include "balm/error.hpp"
#include "base/thread_stock.hpp"
#include "emit/names.hpp"
#include "ir/lower/grid.hpp"
#include "ir/passes/turns.hpp"

namespace balm::trace {

using ir::instruction;
using ir::opcode;

namespace {

using spare_memory = runtime::scratch<recording_memory, 1>;

/// "mat_mult(n, a, b, result)" -> the name and the parameter names.
std::vector<std::string> split_signature(std::string_view signature, location where) {
    std::vector<std::string> words;
    std::string word;
    for (char c : signature) {
        if (c == '(' || c == ',' || c == ')') {
            word.erase(word.find_last_not_of(' ') + 1);
            words.push_back(std::exchange(word, {}));
        } else if (c != ' ' || !word.empty()) {
            word += c;
        }
    }
    if (!word.empty()) words.push_back(word);
    for (const std::string& w : words)
        if (!emit::is_identifier(w))
            fail(where,
                 fmt::format(
                     "'{}' is not a valid name for a kernel or function: use a C identifier, optionally "
                     "followed by parameter names in parentheses, as in \"scale(n, in, out)\"",
                     signature));
    if (words.empty()) fail(where, "a kernel or function needs a name");
    return words;
}

}  // namespace

recording::recording(std::string_view signature, int dimension_count, location where)
    : tracer_(std::make_unique<tracer>()) {
    tracer& t = *tracer_;
    t.function.names = split_signature(signature, where);
    t.function.name = t.function.names[0];
    t.parameter_names = t.function.names.size() - 1;
    t.function.where = where;
    t.function.dimensions = dimension_count;
    t.function.blocks.resize(1);
    spare_memory()->swap(t.function.code, t.function.operands);
    t.where = where;
    t.outer = std::exchange(innermost, &t);
}

recording::~recording() {
    if (tracer_) innermost = tracer_->outer;
}

void recording::describe(std::string words) { tracer_->function.description = std::move(words); }

void recording::use_vector_functions() { tracer_->function.is_widened = true; }

namespace {

/// From here on, equal values of different statements are one.
void join_statements(ir::function& f) {
    for (instruction& i : f.code)
        if (i.op == opcode::builtin) i.bits = 0;
    ir::simplify(f);
}

}  // namespace

node recording::parameter(type what, access use, space where, std::string name) {
    tracer& t = *tracer_;
    const std::size_t position = t.function.parameters.size();
    ir::parameter p;
    p.what = use == access::value || what.is_image() ? what
             : use == access::local                  ? pointer_to(what, space::local)
                                                     : pointer_to(what, where, use == access::in);
    p.use = use;
    p.name = position < t.parameter_names ? t.function.names[position + 1] : std::move(name);
    t.function.parameters.push_back(p);
    instruction i = make(opcode::parameter, p.what);
    i.bits = position;
    return t.node_of(t.record(i));
}

void recording_memory::clear() noexcept {
    constexpr std::size_t most_kept = 1 << 15;
    if (code.capacity() > most_kept) {
        code = {};
        operands = {};
    }
    code.clear();
    operands.clear();
}

std::shared_ptr<const ir::function> recording::finish(const node* result) {
    tracer& t = *tracer_;
    if (result) return_(result, t.where);
    t.check();
    if (t.frames.size() != 1) fail(t.frames.back().where, "this block is not closed at the kernel's end");
    const std::size_t named = t.parameter_names, taken = t.function.parameters.size() - t.extents.size();
    if (named > 0 && named != taken)
        fail(t.function.where,
             fmt::format("'{}' names {} parameters, but its lambda takes {}", t.function.name, named, taken));
    ir::block& body = t.function.blocks[0];
    for (const auto& each : t.extents) body.insert(body.begin(), each.second);
    t.function.result = result ? result->type : type();
    recording_memory recorded;
    make_variables(t, recorded);
    spare_memory()->swap(recorded.code, recorded.operands);
    ir::verify(t.function);
    ir::simplify(t.function);
    refuse_known_faults(t.function);
    ir::contract(t.function);
    if (t.has_statements) join_statements(t.function);
    ir::mark_overflowing_loops(t.function);
    t.function.exchanges = ir::exchanged_types(t.function);
    t.function.given = ir::given_constants(t.function);
    t.function.local_bytes = ir::local_memory_of(t.function);
    t.function.only_reads = only_reads(t.function);
    t.function.is_pure = t.function.only_reads && !reads_memory(t.function);
    t.function.sees_groups = t.function.has_output || ir::sees_groups(t.function);
    t.function.identity = ir::hash(t.function);
    return std::make_shared<const ir::function>(std::move(t.function));
}

}  // namespace balm::trace

namespace balm::dsl::detail {

void unsigned_range_counts_down(location where) {
    trace::fail(where, "a range over unsigned values has a negative step: count down with Int or Long");
}

namespace {

/// The line that is being recorded; none outside of kernels.
location recorded_line() { return trace::is_recording() ? trace::current().where : location{}; }

}  // namespace

void constant_does_not_fit(scalar type, scalar given, std::uint64_t value) {
    trace::fail(recorded_line(),
                fmt::format("the host constant {} does not fit the device type {}; use a variable of a "
                            "wider type (Long x = …)",
                            trace::words_of(given, value), to_string(type)));
}

void unsigned_constant_does_not_fit(scalar type, std::uint64_t value) {
    trace::fail(
        recorded_line(),
        fmt::format("the host constant {0} is converted to {1}, the type of the other operand, and is out of "
                    "range: cast<std::uint{2}_t>(x) makes the other operand unsigned, Long(x) makes it wider",
                    value, to_string(type), 8 * size_of(type)));
}

}  // namespace balm::dsl::detail
