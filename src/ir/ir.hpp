#pragma once
// The IR: a small typed program, recorded by running C++ once with device values. Structured blocks hold the
// instructions in program order. Each value is defined once. Variables are cells that instructions read and
// write, so a value is fixed where it is read. The IR is independent of backends.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balm/builtin.hpp"
#include "balm/trace.hpp"
#include "balm/types.hpp"
#include "base/hash.hpp"
#include "base/launch_plan.hpp"
#include "ir/print_format.hpp"
#include "ir/text_body.hpp"

namespace balm::trace {

/// A number of at most 30 bits, different for each type.
constexpr std::uint64_t code(type t) {
    return static_cast<std::uint64_t>(t.element) | std::uint64_t{t.lanes} << 4 |
           static_cast<std::uint64_t>(t.where) << 9 | std::uint64_t{t.is_const} << 12 |
           std::uint64_t{t.aggregate} << 13 | std::uint64_t{t.is_packed} << 29;
}

}  // namespace balm::trace

namespace balm::ir {

using balm::space;
using trace::code;
using trace::type;
std::string to_string(type);
/// The type of values loaded from memory of this type, and stored to it: f16 is computed as f32, and values
/// have no alignment.
type value_of_memory(type);

/// A row of builtins.def, for the printers and tests.
struct builtin_info {
    const char* name;
    std::uint8_t arity;
    detail::rule takes;
    const char* symbol;       ///< operators: "+"; null for built-ins
    std::uint8_t precedence;  ///< operators only
    const char* opencl;       ///< see builtins.def
    const char* cuda;
    int ulp;
};
const builtin_info& info(builtin) noexcept;
inline constexpr std::size_t builtin_count = static_cast<std::size_t>(builtin::count);

/// A work-item's place in the grid; the dimension is in `bits`.
using trace::place;
const char* to_string(place) noexcept;

using trace::atomic_op;
/// "add", "compare_exchange"
const char* to_string(atomic_op) noexcept;

using trace::sub_group_op;
/// "ballot", "shuffle_up"
const char* to_string(sub_group_op) noexcept;
/// The lanes of a sub-group, on every device.
inline constexpr int sub_group_size = 32;  // dsl::lanes_of_sub_group

enum class opcode : std::uint8_t {
    parameter,   // bits: position among the function's parameters
    constant,    // bits: the value, as the type's bit pattern
    place,       // place in `detail`, dimension in bits -> i64
    builtin,     // row in `detail`, its operands; bits: the statement, until sums are contracted
    convert,     // operand -> result
    select,      // condition, if true, if false
    logic_and,   // left operand, a value of block 0, which is evaluated only if left is true
    logic_or,    // left operand, a value of block 0, which is evaluated only if left is false
    cell,        // a variable, initialised with the operand; only read_cell and write_cell use it
    read_cell,   // cell
    write_cell,  // cell, value
    load,        // pointer, index
    store,       // pointer, index, value
    prefetch,    // pointer, index
    if_,         // condition; blocks: then, else
    for_,      // begin, end, step; the result is the loop's variable; block: body. bits: 1 if the last value
               // plus the step may exceed the type's range
    while_,    // condition value of block 0; blocks: condition, body
    grid_for,  // count; bits: dimension; the result is the index; block: body. Lowered by device kind.
    break_,
    continue_,
    return_,         // value, or none
    barrier,         // bits: 1 local memory, 2 global memory, 3 both; with a condition: counts where it holds
    call,            // callee in `bits`, its arguments; the callee has effects
    evaluate,        // the same for a pure callee: the result depends on the arguments alone
    broadcast,       // scalar -> the same in every lane
    lane_index,      // scalar -> lanes: operand + {0, 1, 2, …}
    compose,         // scalars, one per lane -> vector
    swizzle,         // vector -> the lanes that `bits` names, 4 bits each
    insert,          // vector, lanes -> the vector with these as the lanes that `bits` names
    object,          // initial value, or none; bits: elements -> pointer to new memory
    constant_array,  // constant data in `bits` -> pointer
    offset,          // pointer, index -> pointer
    member,          // pointer to a structure or vector; bits: which member or lane -> pointer
    reinterpret,     // pointer -> pointer to another type at the same address
    atomic,          // operation in `detail`; pointer, index, its values -> the old element
    fence,           // bits: the scope
    sub_group,       // operation in `detail` and its operands; all lanes of the sub-group take part
    read_image,      // image, position (i32) or coordinates (f32), x first -> value of an element
    write_image,     // image, position, value
    image_size,      // image; bits: dimension, x first -> i32
    print,           // u32 words of the arguments; bits: position among the formats. Expanded before a
                     // kernel is lowered (kernel/print/print_records.hpp)
};

const char* to_string(opcode) noexcept;

/// The C++ line at which an instruction was recorded. The file name stays valid as long as the program runs.
using source_line = trace::location;
using trace::access;

using value_id = std::uint32_t;
using block_id = std::uint32_t;
inline constexpr std::uint32_t none = ~0u;

struct instruction {
    opcode op = opcode::constant;
    bool knows_line = false;  ///< `where` is its own line, not that of the last instruction with a known one
    /// builtin, place, atomic_op, sub_group_op, object_kind or access_kind
    std::uint16_t detail = 0;
    type result;
    std::uint8_t operand_count = 0;
    std::uint32_t first_operand = 0;  ///< into function::operands
    block_id blocks[2] = {none, none};
    std::uint64_t bits = 0;
    source_line where;
    std::uint32_t name = none;  ///< into function::names: the user's name for the value
};
inline bool is_call(const instruction& i) { return i.op == opcode::call || i.op == opcode::evaluate; }

/// Elements that kernels only read: part of the program, printed at its top, or a module's, which every
/// launch passes (kernel/module/module_constants.hpp).
struct constant_data {
    std::string name;
    type element;
    std::vector<std::uint64_t> bits;  ///< of each element that is part of the program
    std::uint64_t given_count = 0;    ///< number of elements that launches pass; 0: they are in `bits`

    bool is_given() const { return given_count != 0; }
    std::uint64_t given_bytes() const { return given_count * size_of(element); }
};
using constant_list = std::vector<std::shared_ptr<const constant_data>>;

/// `instruction::detail` of a load or store.
using trace::access_kind;

/// `instruction::detail` of a for_: whether compilers may vectorise the loop.
enum loop_kind : std::uint16_t { plain_loop, scalar_loop };

/// `instruction::detail` of an object. One element without an initial value is initialised with zeros.
enum object_kind : std::uint16_t { one_element, array, zeroed_array };

struct parameter {
    type what;
    access use = access::value;
    std::string name;
    bool is_restrict = false;  ///< distinct from every other memory parameter
    bool is_one = false;       ///< always points to one element
    bool is_small = false;     ///< a count in [0, 2^31): launch_facts::small_counts
    bool is_shifted = false;   ///< followed by another argument: the byte offset of the memory
    runtime::parameter_origin origin{};
};

/// Whether a kernel's parameter is bound to device memory.
inline bool is_global_memory(const parameter& p) {
    return p.use == access::in || p.use == access::out || p.use == access::mixed;
}

/// Whether a kernel's parameter is bound to memory or an image that the kernel only reads.
inline bool is_only_read(const parameter& p) {
    return p.use == access::in || p.use == access::in_image || p.use == access::sampled_image;
}

using block = std::vector<value_id>;

/// Work-items of a work-group per dimension; 0 in the first: not fixed.
using group_size = std::array<std::uint32_t, 3>;

/// A kernel or a device function.
struct function {
    std::string name;
    std::string description;  ///< what it does; may be empty
    source_line where;
    runtime::digest identity;  ///< hash(*this) of the finished trace
    bool is_pure = false;      ///< a device function that neither reads nor writes memory
    bool only_reads = false;   ///< a device function without side effects, pure or reading memory
    bool is_widened = false;   ///< its vectors are neighbouring elements (ir/lower/widen.hpp), not the user's
    std::uint16_t exchanges = 0;   ///< exchanged_types(*this) of the finished trace
    std::size_t local_bytes = 0;   ///< local_memory_of(*this) of the finished trace
    bool sees_groups = true;       ///< a kernel for which sees_groups() holds, or which prints or checks
    int dimensions = 0;            ///< of a kernel's grid; 0: a device function
    std::size_t group_items = 0;   ///< work-items of every group, if the body relies on it; 0: any number
    group_size only_for{};         ///< the only work-group size that may run the kernel; 0: any
    bool fences_barriers = false;  ///< PoCL's compiler is kept from moving control flow across barriers
    type result;
    std::vector<parameter> parameters;
    std::vector<instruction> code;   ///< indexed by value_id
    std::vector<value_id> operands;  ///< of all instructions
    std::vector<block> blocks;       ///< blocks[0] is the body
    std::vector<std::string> names;
    std::vector<std::shared_ptr<const function>> callees;
    constant_list constants;
    constant_list given;                    ///< given_constants(*this) of the finished trace
    std::shared_ptr<const text_body> text;  ///< of a function given as OpenCL C, which has no code
    /// For a function whose first parameter is an index (u64): a function that returns its results for four
    /// consecutive indices, from a multiple of four on, as a vector. It takes a quarter of the first index,
    /// and the other parameters.
    std::shared_ptr<const function> of_four;
    std::vector<std::shared_ptr<const print_format>> formats;
    bool has_output = false;  ///< it, or a function that it calls, prints or checks

    std::span<const value_id> operands_of(value_id v) const {
        return {operands.data() + code[v].first_operand, code[v].operand_count};
    }
    std::span<value_id> operands_of(value_id v) {
        return {operands.data() + code[v].first_operand, code[v].operand_count};
    }
    value_id operand(value_id v, std::size_t k) const { return operands[code[v].first_operand + k]; }

    /// Appends an instruction to `code` (to no block) and returns its id.
    value_id add(const instruction& what, std::span<const value_id> its_operands = {});
    /// Replaces the operands of an instruction. `its_operands` must not point into `operands`.
    void set_operands(value_id v, std::span<const value_id> its_operands);
};

/// The function and all functions that it calls, directly or indirectly, each once.
std::vector<const function*> with_callees(const function&);
/// Whether the function, or one it calls, has a barrier of the work-group.
bool has_barrier(const function&);
/// Bytes of the local arrays that the function declares itself.
std::size_t local_memory_of(const function&);
/// A bit for each scalar type whose values work-items exchange, by sub-group operations or a counting
/// barrier, in the function or one it calls; the bit of `nothing` for operations without a value. 0: none.
std::uint16_t exchanged_types(const function&);
/// The constants that a launch passes to the function and those that it calls, in order of first use: the
/// same for equal programs, whatever order the C++ compiler evaluated in.
constant_list given_constants(const function&);
/// Whether work-items of the function, or of one it calls, pass values to each other through memory.
bool shares_memory(const function&);
/// Whether the function, or one it calls, keeps pointers in memory, as arrays of pointers do.
bool keeps_pointers(const function&);
/// Whether it is a load or store of this kind.
bool accesses(const instruction&, access_kind);
inline bool is_volatile(const instruction& i) { return accesses(i, access_kind::volatile_); }
/// Whether the instruction must stay in place: it declares or writes memory, synchronises, controls the flow,
/// or is a volatile access.
bool has_effect(const instruction&);
/// The same for an instruction with its blocks: the right operand of && and || may write variables.
bool has_effect(const function&, value_id);

/// The value that a pointer is derived from: a parameter, an object, constant data, or an unknown pointer
/// (one that was stored in a variable).
value_id root_of(const function&, value_id pointer);

/// The variables and memory that an instruction, with the blocks inside it, may change.
struct effects {
    std::vector<value_id> cells;    ///< written
    std::vector<value_id> objects;  ///< stored to
    std::uint64_t parameters = 0;   ///< a bit for each memory parameter stored to (the last bit: all others)
    std::uint8_t spaces = 0;        ///< a bit for each space stored to through an unknown pointer
    bool all_memory = false;        ///< a barrier or a call: anything that other work-items may have written

    void add(const effects& more);
    bool touch_memory() const { return parameters != 0 || spaces != 0 || all_memory || !objects.empty(); }
};
effects effects_of(const function&, value_id);
/// Adds the effects of an instruction, without those of the blocks inside it.
void add_own_effects(const function&, value_id, effects& sum);
/// The effects of each block, found in one walk; empty for the body, whose effects are not needed.
std::vector<effects> effects_by_block(const function&);
/// Whether nothing in the kernel can write the memory behind a root.
bool is_constant_memory(const function&, value_id root);
/// Whether the effects may change the result of a reading instruction (read_cell, load, or one whose block
/// contains these).
bool clobbers(const function&, const effects&, value_id reader);

/// The maximal nesting depth of IF bodies, WHILE and range. Compilers based on clang accept 256 nested
/// brackets, including those of expressions.
inline constexpr int max_nesting = 200;
/// The same, including ELSE blocks (a chain of ELIFs) and right operands of && and ||. Each level takes a
/// level of host recursion.
inline constexpr int max_chain = 500;

/// Throws trace_error on the first violation of the IR's rules: a value used before its definition or outside
/// its scope, types that a row does not accept, a jump outside a loop, a barrier in divergent control flow,
/// blocks that are nested too deeply.
void verify(const function&);
/// Throws trace_error if only some sub-groups of a group may reach a sub-group operation: devices that
/// emulate it by barriers of the group cannot run it.
void require_whole_groups(const function&);
/// What surrounds the barriers of a function and of those that it calls; nothing, if they have none.
struct barrier_use {
    bool steps_over = false;  ///< a branch holds one, or what may become a branch, or a jump skips one
    bool parts_ways = false;  ///< there is a divergent branch or loop, or code that is not known
};
barrier_use use_of_barriers(const function&);

/// Folds constants, eliminates common subexpressions, forwards variables and removes dead code, until nothing
/// changes. Then orders pure values by use, so that equal programs are equal whatever order the C++ compiler
/// evaluated operands in. Results stay the same bit for bit.
void simplify(function&);

/// The value of a row applied to constants; empty unless all devices agree on it bit for bit.
std::optional<std::uint64_t> fold(builtin, scalar operand_type, std::span<const std::uint64_t> bits);
std::uint64_t fold_conversion(scalar from, scalar to, std::uint64_t bits);

/// Fuses a multiplication and an addition that is its only use into `fma`, so that every backend rounds
/// alike.
void contract(function&);

/// The identity of a program: equal for equal traces, whatever the C++ lines.
runtime::digest hash(const function&);

/// Instructions and blocks as text, for messages and tests.
std::string dump(const function&);

}  // namespace balm::ir
