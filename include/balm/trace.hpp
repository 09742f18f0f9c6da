#pragma once
// The recording side of device values: the functions by which `Int`, `IF` and `range` append to the kernel
// that is being traced. Users do not call these; they are declared here to keep the headers of the kernel
// language small.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "balm/builtin.hpp"
#include "balm/device_type.hpp"
#include "balm/types.hpp"

namespace balm::ir {
struct function;
struct constant_data;
struct print_format;
}  // namespace balm::ir

namespace balm::trace {

struct tracer;

/// A C++ source line, captured at the call site by default arguments.
struct location {
    const char* file = nullptr;
    std::uint32_t line = 0;
};

/// A value or variable of the kernel being traced: its number, its trace, its type.
struct node {
    std::uint32_t id = ~0u;
    std::uint32_t trace = 0;
    trace::type type;
};

/// Positions of a work-item, and sizes of the grid and its groups.
enum class place : std::uint8_t {
    global_id,
    local_id,
    group_id,
    global_size,
    local_size,
    group_count,
    global_offset,
    local_linear_id,    ///< of all dimensions, the first varying fastest
    local_linear_size,  ///< work-items of the group
    sub_group_id
};

/// How a kernel uses a parameter; `value`: passed by value. Images are read by position, sampled or written.
enum class access : std::uint8_t { value, in, out, mixed, local, in_image, sampled_image, out_image };

/// A scalar, or the null pointer (bits: 0).
node constant(type what, std::uint64_t bits);
node query(place what, int dimension, location where);
/// The number of dimensions of the kernel's grid: known while a kernel is traced, an error in a function.
int grid_dimensions(location where);
node apply(builtin what, const node* operands, std::size_t count, location where = {});
inline node apply(builtin what, node a, node b, location where = {}) {
    const node operands[] = {a, b};
    return apply(what, operands, 2, where);
}
/// The value converted to another scalar type, in all of its lanes; a pointer as its address (u64).
node convert(node value, scalar to);
/// The f32 to store in memory of f16 in place of an f64, so that the number is rounded once.
node rounded_for_half(node f64);
node select(node condition, node if_true, node if_false);

/// What follows is a part of the fused statement with this number, 0 at first: sums are not contracted with
/// products of other statements, so that each rounds as in a kernel of its own.
void begin_statement(std::uint32_t number);

/// A vector that concatenates these scalars and vectors; a single scalar fills all lanes.
node compose(type vector, const node* parts, std::size_t count);
/// Lanes of a vector, selected by `order`: 4 bits for each, the first one lowest.
node swizzle(node vector, std::uint64_t order, int count);
/// The vector with `lanes` in place of those that `order` selects.
node insert(node vector, std::uint64_t order, node lanes);

/// The value of a variable at this point of the program.
node read(node variable);
void write(node variable, node value);
/// Names a value, for the printed source.
void name(node value, std::string_view word);

/// How a load or store accesses memory. A volatile access is never eliminated, merged or moved. A streaming
/// one tells the device that the data is not used again soon.
enum class access_kind : std::uint8_t { plain, volatile_, streaming };

node load(node pointer, node index, location where, access_kind how = access_kind::plain);
void store(node pointer, node index, node value, location where, access_kind how = access_kind::plain);
/// The scalars from `lanes` * index on as a vector, and the reverse. No alignment beyond theirs is required.
node load_vector(node pointer, node index, int lanes, location where, access_kind how);
void store_vector(node pointer, node index, node value, location where, access_kind how);
/// Tells the device that the element is used soon.
void prefetch(node pointer, node index, location where);

/// Private memory of the work-item, or local memory of its group: `count` elements, uninitialised unless
/// `zeroed`. Returns the pointer to the first one.
node object(type element, std::uint64_t count, space where, bool zeroed, location at);
/// Private memory for one element, initialised to this value.
node object(node initial);
/// Constant data of the program.
node constant_array(const std::shared_ptr<const ir::constant_data>&);
/// pointer + index
node offset(node pointer, node index);
/// The flat row-major index (i64) of an element of a memory parameter of `count` dimensions. The sizes of the
/// memory become hidden parameters of the kernel.
node flat_index(node memory, const node* at, std::size_t count, location where);
/// A pointer to the k-th member of the structure (for an array, its first element) or lane of the vector that
/// the pointer points to.
node member_of(node pointer, int k);
/// The same address as another pointer type.
node reinterpret(node pointer, type to);
/// Throws trace_error if the index is a constant out of the array's range.
void check_index(node index, std::uint64_t elements, location where);
/// Throws trace_error if the vector lacks this lane, selected on the host.
void check_lane(std::int64_t lane, int lanes);
/// The address of a variable, which is in memory from now on.
node address_of(node variable);

/// An element of an image at a position (i32) or, through its sampler, at coordinates (f32); x first.
node read_image(node image, const node* at, location where);
void write_image(node image, const node* at, node value, location where);
/// Its width, height or depth (i32).
node image_size(node image, int dimension);

/// The kernel relies on work-groups of this many work-items.
void require_group_size(std::size_t items);

/// `memories`: 1 for local memory, 2 for global memory, 3 for both.
void barrier(unsigned memories, location where);

/// A barrier for local and global memory that also returns the number of work-items whose condition is true.
node barrier_count(node condition, location where);

/// Orders a work-item's memory accesses before the fence ahead of those after it, for the work-items in the
/// scope.
enum class memory_scope : std::uint8_t { group, device, system };
void fence(memory_scope among, location where);

/// A collective operation of a sub-group. ballot takes a condition; the shuffles take a value, a lane or
/// distance (i32) and the last lane of the sub-group (i32); barrier takes nothing, the others take a value.
enum class sub_group_op : std::uint8_t {
    ballot,
    shuffle,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    barrier,
    reduce_add,
    reduce_min,
    reduce_max,
    scan_inclusive_add,
    scan_inclusive_min,
    scan_inclusive_max,
    scan_exclusive_add,
    scan_exclusive_min,
    scan_exclusive_max
};
node sub_group(sub_group_op what, const node* operands, std::size_t count, location where);

/// The change that an atomic operation makes to an element. inc and dec wrap at a limit; compare_exchange
/// takes the expected value, then the new one; load takes nothing, and store returns nothing.
enum class atomic_op : std::uint8_t {
    add,
    sub,
    exchange,
    min,
    max,
    inc,
    dec,
    bit_and,
    bit_or,
    bit_xor,
    compare_exchange,
    load,
    store
};
/// Returns the element's value before the operation.
node atomic(atomic_op what, node pointer, node index, const node* values, std::size_t count, location where);

/// Writes a record of these u32 words, which the host prints in this format.
void print(const std::shared_ptr<const ir::print_format>&, const node* words, std::size_t count);

/// A point in the trace; instructions recorded after it can be moved into a block of their own.
struct position {
    std::uint32_t block = 0;
    std::uint32_t size = 0;
};
position here();
/// left && right (or ||); everything recorded after `since` belongs to the right operand.
node guard(bool is_and, node left, position since, node right);

void break_(location where);
void continue_(location where);
void return_(const node* value, location where);

/// Begin and end of a traced block. `open` returns the token that `close` checks.
std::uint32_t open_if(node condition, location where);
void open_else(std::uint32_t token);
/// Announces an ELSE, so that an empty one is detected; returns true.
bool mark_else();
std::uint32_t open_while(location where);
void test_while(std::uint32_t token, node condition);
std::uint32_t open_for(node begin, node end, node step, node& variable, location where);
/// Loops over the dimensions of the grid may be nested, the last dimension outermost.
std::uint32_t open_grid_for(node count, node& variable, location where, int dimension = 0);
void close(std::uint32_t token);
/// Called by the destructor of a block that was left by a C++ `break`, `return` or `goto`: records the error,
/// which the next instruction throws. Does nothing during stack unwinding.
void left_early(std::uint32_t token, const char* construct, location where, int exceptions_at_start) noexcept;

/// The trace of a kernel (1 to 3 dimensions) or function (0), begun by the constructor; traces nest.
class recording {
public:
    recording(std::string_view signature, int dimensions, location where);
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;
    ~recording();

    /// A parameter of this type; except for access::value and images, a pointer to elements of this type.
    /// `where`: global memory, or constant memory if they are only read. A signature names all parameters or
    /// none.
    node parameter(type what, access use, space where = space::global, std::string name = {});
    /// Sets a short description of the kernel for the first line of the printed source.
    void describe(std::string words);
    /// States that vectors are neighbouring elements, whose functions may round differently from those of
    /// scalars.
    void use_vector_functions();
    /// Ends the trace, verifies and simplifies it, and returns it ready to share.
    std::shared_ptr<const ir::function> finish(const node* result);

private:
    std::unique_ptr<tracer> tracer_;
};

/// A call of a traced function; the node's type is `nothing` for a function without a result.
node call(const std::shared_ptr<const ir::function>& callee, const node* arguments, std::size_t count,
          location where);

/// Whether this thread is tracing a kernel or function.
bool is_recording() noexcept;

/// True once the static objects of the calling program or shared library have been constructed. An error in a
/// kernel that is defined earlier is kept until the kernel's first use, since nothing could catch it. Call it
/// only from headers: a shared Balm cannot know which program or library asks.
bool main_has_begun() noexcept;

}  // namespace balm::trace
