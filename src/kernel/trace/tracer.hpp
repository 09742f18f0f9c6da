#pragma once
// The state of a trace, for the files of this folder: one tracer per function that is being defined. Traces
// nest.

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "balm/trace.hpp"
#include "ir/ir.hpp"

namespace balm::trace {

[[noreturn]] void fail(location where, const std::string& what);

enum class construct : std::uint8_t { body, if_, while_, loop };

/// A block that is being recorded.
struct frame {
    construct kind = construct::body;
    ir::block_id block = 0;
    ir::value_id owner = ir::none;
    std::uint32_t token = 0;
    location where;
    bool has_else = false;
};

/// How much of the host's stack a trace may use.
struct stack_limit {
    /// For a trace that begins here.
    stack_limit();
    bool is_passed() const;

    std::uintptr_t begin, end;
};

struct tracer {
    tracer();

    ir::function function;
    std::uint32_t serial;
    std::vector<frame> frames{frame{}};
    std::uint32_t last_token = 0;
    std::size_t parameter_names = 0;
    std::vector<bool> assigned;   ///< by value: assigned after its definition, so it needs a variable
    std::vector<bool> addressed;  ///< by value: its address was taken, so the variable lives in memory
    location where;               ///< the last known line: instructions without one inherit it
    std::uint64_t statement = 0;  ///< the number of the current one
    bool has_statements = false;  ///< several
    std::string fault;            ///< noted by a destructor, thrown by the next instruction
    stack_limit stack;
    tracer* outer = nullptr;
    /// The sizes of memory that are hidden parameters; added to the body when the trace ends.
    std::vector<std::pair<runtime::parameter_origin, ir::value_id>> extents;

    void check();
    ir::value_id record(const ir::instruction& what, std::span<const ir::value_id> operands = {});
    ir::value_id use(node);
    node node_of(ir::value_id id) const { return {id, serial, function.code[id].result}; }

    ir::block_id add_block();
    std::uint32_t enter(construct, ir::value_id owner, location at);
    frame& top(std::uint32_t token);
    const std::vector<ir::value_id>& recorded(const frame& f) const { return function.blocks[f.block]; }
    [[noreturn]] void refuse_empty(const frame&, const char* what);
    bool in_loop() const;
};

/// The innermost trace of this thread; null if there is none.
extern thread_local constinit tracer* innermost;
/// The same; throws trace_error if there is none.
tracer& current();

inline ir::instruction make(ir::opcode op, ir::type result, location where = {}) {
    ir::instruction i;
    i.op = op;
    i.result = result;
    i.where = where;
    return i;
}

/// The size of a memory parameter's dimension.
ir::value_id extent_of(const node& memory, std::size_t dimension, location where);

/// The value of a constant of an integer type.
std::int64_t number_of(scalar, std::uint64_t bits);
/// A host integer of this type, extended to 64 bits, for messages.
std::string words_of(scalar, std::uint64_t value);
[[noreturn]] void refuse_index(std::int64_t index, std::uint64_t elements, location where);

/// The memory that a function is recorded into. A thread's traces reuse it: allocating it anew for each took
/// a third of the time of a long trace.
struct recording_memory {
    std::vector<ir::instruction> code;
    std::vector<ir::value_id> operands;

    void clear() noexcept;
    void swap(std::vector<ir::instruction>& other_code, std::vector<ir::value_id>& other_operands) noexcept {
        code.swap(other_code);
        operands.swap(other_operands);
    }
};

/// Turns assigned values into variables, and those whose address was taken into objects in memory. `recorded`
/// receives the code before this change.
void make_variables(tracer&, recording_memory& recorded);

/// Throws trace_error for errors that are known only after simplification: indices out of range, steps of 0.
void refuse_known_faults(const ir::function&);
/// Whether the function's result depends on its arguments and on memory alone, and it has no side effects.
bool only_reads(const ir::function&);
/// Whether the function, or one that it calls, loads from memory other than its own.
bool reads_memory(const ir::function&);

}  // namespace balm::trace
