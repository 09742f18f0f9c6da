#pragma once
// The recording side of device values: what `Int`, `IF` and `range` call to append to the kernel that is
// being traced. Users do not call these; they are here so that the headers of the kernel language stay thin.

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

/// A C++ line, taken by default arguments where the user's code stands.
struct location {
    const char* file = nullptr;
    std::uint32_t line = 0;
};

/// A value or variable of the kernel being traced: its number, the trace it belongs to, its type.
struct node {
    std::uint32_t id = ~0u;
    std::uint32_t trace = 0;
    trace::type type;
};

/// Where a work-item stands in the grid.
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

/// How a parameter is used in a kernel; `value` is passed by value. Images are read by position, sampled or
/// written.
enum class access : std::uint8_t { value, in, out, mixed, local, in_image, sampled_image, out_image };

/// A scalar, or the pointer that points nowhere (bits: 0).
node constant(type what, std::uint64_t bits);
node query(place what, int dimension, location where);
/// The number of dimensions of the kernel's grid: known while a kernel is traced, refused in a function.
int grid_dimensions(location where);
node apply(builtin what, const node* operands, std::size_t count, location where = {});
inline node apply(builtin what, node a, node b, location where = {}) {
    const node operands[] = {a, b};
    return apply(what, operands, 2, where);
}
/// The value as another scalar type, in all of its lanes; a pointer as its address (u64).
node convert(node value, scalar to);
node select(node condition, node if_true, node if_false);

/// A vector that concatenates these scalars and vectors; one scalar fills all lanes.
node compose(type vector, const node* parts, std::size_t count);
/// Lanes of a vector, in an order of 4 bits each, the first lowest.
node swizzle(node vector, std::uint64_t order, int count);
/// The vector with `lanes` in place of those that `order` names.
node insert(node vector, std::uint64_t order, node lanes);

/// The value of a variable at this point of the program.
node read(node variable);
void write(node variable, node value);
/// Gives a value the user's own word for it, which the printed source then uses.
void name(node value, std::string_view word);

/// A volatile access is never eliminated, merged or moved.
node load(node pointer, node index, location where, bool is_volatile = false);
void store(node pointer, node index, node value, location where, bool is_volatile = false);

/// Memory of the work-item's own (private) or of its group's (local): `count` elements, none of them
/// initialised unless `zeroed`. Gives the pointer to the first.
node object(type element, std::uint64_t count, space where, bool zeroed, location at);
/// Private memory for one element that begins as this value.
node object(node initial);
/// Constant data of the program's.
node constant_array(const std::shared_ptr<const ir::constant_data>&);
/// pointer + index
node offset(node pointer, node index);
/// The flat index (i64), in row-major order, of an element of a memory parameter of `count` dimensions. Its
/// sizes become hidden parameters of the kernel.
node flat_index(node memory, const node* at, std::size_t count, location where);
/// The k-th member of the structure (its first element, where it is an array) or lane of the vector that the
/// pointer points to.
node member_of(node pointer, int k);
/// The same address as another type of pointer.
node reinterpret(node pointer, type to);
/// Throws trace_error for a constant index that is none of an array's elements.
void check_index(node index, std::uint64_t elements, location where);
/// Throws trace_error for a lane, chosen on the host, that a vector does not have.
void check_lane(std::int64_t lane, int lanes);
/// The address of a variable, which from now on lives in memory.
node address_of(node variable);

/// An element of an image, at a position (i32) or, through its sampler, at coordinates (f32); x first.
node read_image(node image, const node* at, location where);
void write_image(node image, const node* at, node value, location where);
/// Its width, height or depth (i32).
node image_size(node image, int dimension);

/// 1: local memory, 2: global memory, 3: both.
void barrier(unsigned memories, location where);

/// The same for local and global memory, which also gives how many work-items come with a true condition.
node barrier_count(node condition, location where);

/// Orders the memory accesses of a work-item before it ahead of those after it, as seen by this many.
enum class memory_scope : std::uint8_t { group, device, system };
void fence(memory_scope among, location where);

/// What the lanes of a sub-group do together. ballot takes a condition; the shuffles take a value, a lane or
/// a distance (i32) and the sub-group's last lane (i32); barrier takes nothing, the others a value.
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

/// What an atomic operation makes of an element. inc and dec wrap at a limit; compare_exchange takes what it
/// expects, then the new value; load takes nothing, and store gives nothing.
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
/// The element's value before the operation.
node atomic(atomic_op what, node pointer, node index, const node* values, std::size_t count, location where);

/// Leaves a record of these u32 words, which the host shows in this format.
void print(const std::shared_ptr<const ir::print_format>&, const node* words, std::size_t count);

/// The point that the trace has reached; what follows can be moved into a region of its own.
struct position {
    std::uint32_t block = 0;
    std::uint32_t size = 0;
};
position here();
/// left && right (or ||), where everything recorded since `since` belongs to the right operand.
node guard(bool is_and, node left, position since, node right);

void break_(location where);
void continue_(location where);
void return_(const node* value, location where);

/// A traced block's ways in and out. `open` gives the token that `close` checks.
std::uint32_t open_if(node condition, location where);
void open_else(std::uint32_t token);
/// Says that an ELSE follows, so that one that records nothing is seen; true.
bool mark_else();
std::uint32_t open_while(location where);
void test_while(std::uint32_t token, node condition);
std::uint32_t open_for(node begin, node end, node step, node& variable, location where);
/// Loops over the grid's dimensions may stand in each other, the last dimension outside.
std::uint32_t open_grid_for(node count, node& variable, location where, int dimension = 0);
void close(std::uint32_t token);
/// Called by the destructor of a block that was left by a C++ `break`, `return` or `goto`: remembers the
/// fault, which the next instruction throws. Does nothing while an exception passes.
void left_early(std::uint32_t token, const char* construct, location where, int exceptions_at_start) noexcept;

/// Begins the trace of a kernel (dimensions 1–3) or function (0); traces nest.
class recording {
public:
    recording(std::string_view signature, int dimensions, location where);
    recording(const recording&) = delete;
    recording& operator=(const recording&) = delete;
    ~recording();

    /// A parameter of this type, or, but for access::value and images, a pointer to elements of it. `where`
    /// they lie: global memory, or constant memory where they are only read. A signature that names
    /// parameters names them all.
    node parameter(type what, access use, space where = space::global, std::string name = {});
    /// What the kernel does, in a few words, for the first line of the printed source.
    void describe(std::string words);
    /// Ends the trace: verified, simplified and ready to share.
    std::shared_ptr<const ir::function> finish(const node* result);

private:
    std::unique_ptr<tracer> tracer_;
};

/// A call of a traced function; `nothing` in the node's type for a function without a result.
node call(const std::shared_ptr<const ir::function>& callee, const node* arguments, std::size_t count,
          location where);

/// Whether this thread traces a kernel or function.
bool is_recording() noexcept;

/// True once the static objects are made of the program or shared library that calls: a fault in a kernel
/// defined before that is kept for its first use, since nothing could catch it. For headers only: a shared
/// Balm does not know whose it would be.
bool main_has_begun() noexcept;

}  // namespace balm::trace
