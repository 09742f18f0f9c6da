#pragma once
// The flat list behind every array expression of any element type: operations and leaves in postfix order,
// appended in place as the expression is built.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "balm/affine_map.hpp"
#include "balm/builtin.hpp"
#include "balm/inline_vector.hpp"
#include "balm/rare_list.hpp"
#include "balm/sampler.hpp"
#include "balm/shape.hpp"
#include "balm/shared_state.hpp"
#include "balm/trace.hpp"

namespace balm {

namespace runtime {
class storage;
}

namespace array {

class vector_state;

/// One step of an expression in postfix order.
struct step {
    enum class kind : std::uint16_t {
        vector,    ///< an element of leaf number `leaf`
        scalar,    ///< a host value, an argument of the kernel
        constant,  ///< a host value, part of the kernel
        index,     ///< the element's position plus the value in `bits`, an argument of the kernel; `detail`:
                   ///< whether that is a multiple of 4; `leaf`: 1 if its size makes it a single position
        apply,     ///< row `detail` of builtins.def on the last `arity` values
        convert,   ///< the last value as `type`
        select,    ///< of the last three values
        memory,    ///< leaf number `leaf` as a whole, for functions that take memory; `detail`: a memory_use
        position,  ///< the element's position by map number `leaf` (i64); `detail`: from_flat_index, or 0
        at,        ///< takes the last value (i64): the index at which the steps up to `end` are computed
        end,
        image,   ///< image number `leaf`, for functions that take one; `detail`: the trace::access
        call,    ///< function number `leaf` on the last `arity` values
        keep,    ///< names the last value: number `bits` from here on; `detail`: a value_of_statement
        kept,    ///< the value of that number
        within,  ///< the second of the last two values
        record   ///< the array::operation that `bits` points to, on the last `arity` values; `detail`: row
    };
    trace::type type;  ///< of the value; of the elements, for memory
    kind what = kind::vector;
    std::uint32_t detail = 0;
    std::uint16_t arity = 0;
    std::uint16_t leaf = 0;
    std::uint64_t bits = 0;

    /// One of three words, the last of which is `bits`: for comparison and hashing.
    std::uint64_t word(std::size_t k) const {
        std::uint64_t found;
        std::memcpy(&found, reinterpret_cast<const char*>(this) + k * sizeof found, sizeof found);
        return found;
    }
};

static_assert(sizeof(step) == 3 * sizeof(std::uint64_t), "step::word reads all of it");

/// What a kept value is in a list of several statements.
enum class value_of_statement : std::uint32_t {
    none,     ///< a part of an expression
    earlier,  ///< a result, and another one of the statement follows
    last      ///< the last result of the statement
};

/// How functions access memory that they take.
enum class memory_use : std::uint32_t {
    read,
    write,
    read_constant  ///< in the constant address space
};

inline constexpr std::size_t step_kinds = static_cast<std::size_t>(step::kind::record) + 1;

/// An operation of the kernel language on values that are not all scalars. The kernel language records it, so
/// arrays have no rules of their own. There is one object for each operation and combination of operand
/// types.
struct operation {
    trace::node (*record)(const trace::node* operands);
    const char* name;  ///< null for a row of builtins.def
};

/// Whether a step's `bits` belong to the structure of the expression.
constexpr bool has_structural_bits(const step& s) {
    return s.what == step::kind::constant || s.what == step::kind::record;
}

/// An image that a function takes, and its sampler, if any.
struct image_leaf {
    std::shared_ptr<runtime::storage> memory;
    balm::sampler sampler;
    trace::type type;
    trace::access use = trace::access::in_image;
};

/// A materialised operand, such as a reduction along a dimension: it cannot be computed element by element.
/// It is computed as a whole just before the expression, and then read like any vector.
class producer {
public:
    virtual ~producer() = default;
    producer(const producer&) = delete;
    producer& operator=(const producer&) = delete;

    /// A new vector of `extents().count()` elements of `type()` on the devices of `near()`.
    virtual std::shared_ptr<vector_state> compute() const = 0;
    /// Computes into a vector of that type and size that shares its memory with no other, and is over several
    /// devices if `near()` is, else on the same one. Returns false and does nothing if it must not be
    /// written.
    virtual bool compute_into(vector_state&) const = 0;

    const shape& extents() const { return extents_; }
    trace::type type() const { return type_; }
    /// A vector, of any size, on the devices of the result.
    const std::shared_ptr<vector_state>& near() const { return near_; }

protected:
    producer(const shape& extents, trace::type type, std::shared_ptr<vector_state> near)
        : extents_(extents), type_(type), near_(std::move(near)) {}

private:
    shape extents_;
    trace::type type_;
    std::shared_ptr<vector_state> near_;
};

/// A leaf whose vector `by` computes; until then `by->near()` is its placeholder among the tape's vectors.
struct produced_leaf {
    std::shared_ptr<const producer> by;
    std::uint16_t leaf = 0;
};

/// The list behind every expr<T>. Copying and destroying its lists is compiled in the library: in headers it
/// took a fifth of the compilation of a program of twenty expressions (g++ 12 -O0, 2026-11-25).
struct tape {
    tape();
    tape(const tape&);
    tape(tape&&) noexcept;
    tape& operator=(const tape&);
    tape& operator=(tape&&) noexcept;
    ~tape();

    detail::inline_vector<step, 20> steps;
    detail::inline_vector<std::shared_ptr<vector_state>, 10> vectors;
    detail::inline_vector<std::shared_ptr<const ir::function>, 1> functions;
    detail::rare_list<image_leaf> images;
    detail::rare_list<affine_map> maps;  ///< the maps of `position` steps
    detail::rare_list<produced_leaf> produced;
    detail::rare_list<std::byte> values;  ///< host values that are not scalars: from byte `bits` of a step on
    std::shared_ptr<vector_state> near;   ///< an empty vector on the devices of a tape without vectors
    std::int64_t size = -1;               ///< number of elements; -1: unknown
    std::int32_t box = -1;                ///< the map whose box is the expression's; -1: none
    std::uint64_t scalars_seen = 0;       ///< a bit for each; equal scalars share one
    bool may_repeat = false;              ///< whether two of its scalars may be equal
    bool writes_memory = false;           ///< in addition to computing its value
    bool wants_constant_memory = false;   ///< for some of its vectors
    bool has_no_device = false;           ///< one of its vectors, which is empty and not in `vectors`

    step& push(const step& s) {
        if (steps.size() >= most_steps) [[unlikely]]
            refuse_more();
        steps.push_back(s);
        return steps.back();
    }
    /// A step of this kind, to be filled in place: a copy would wait for the stores of its members.
    step& push(step::kind what) {
        step& s = push(step{});
        s.what = what;
        return s;
    }
    void push_vector(std::shared_ptr<vector_state>);
    /// A vector without a device or elements.
    void push_no_elements(trace::type);
    /// A vector to be read at positions, from constant memory if possible.
    void push_constant_memory(std::shared_ptr<vector_state>);
    /// The result of a producer, with its extents.
    void push_produced(std::shared_ptr<const producer>);
    /// A vector of any size as memory: any element may be read or written.
    void push_memory(std::shared_ptr<vector_state>, memory_use = memory_use::read);
    void push_image(image_leaf);
    /// The positions of a map; its box becomes that of the expression.
    void push_position(const affine_map&);
    void push_value(step::kind, trace::type, std::uint64_t bits);
    /// The bytes of a host value that is not a scalar.
    void push_bytes(trace::type, const void* value, std::size_t size);
    void push_operation(const operation&, trace::type, std::uint16_t arity, builtin row);
    /// Numbers the last value, and returns the number, by which the value can be pushed again.
    std::uint64_t push_keep(trace::type);
    void push_kept(trace::type, std::uint64_t number);
    void push_within(trace::type);
    /// Resets the tape to its initial state, but keeps allocated memory.
    void clear() noexcept;
    void push_call(std::shared_ptr<const ir::function>, trace::type, std::uint16_t arity);
    void append(tape&&);
    void append(const tape& other) { append(tape(other)); }
    /// The same for values that are assigned to some of the elements: one element does not count as a scalar.
    void append_assigned(tape&&);
    /// Uses the last value as the index at which the other tape is computed.
    void append_at(tape&& of);
    void append_at(const tape& of) { append_at(tape(of)); }

private:
    static constexpr std::size_t most_steps = 60000;  ///< leaf numbers have 16 bits
    [[noreturn]] static void refuse_more();
    void push_leaf(step::kind, std::shared_ptr<vector_state>, std::uint32_t detail);
    void splice(tape&&);
    /// Makes an expression of one element an expression of any size, which reads that element for each of its
    /// own.
    void repeat();
};

/// A tape from the thread's stock, passed on by address: `a + b * c` moves no list, and allocates none once
/// the stock is filled.
class tape_handle {
public:
    tape_handle() : list_(taken()) {}
    tape_handle(tape&& list) : tape_handle() { *list_ = std::move(list); }  // NOLINT
    tape_handle(const tape_handle& other) : tape_handle() { *list_ = *other; }
    tape_handle(tape_handle&& other) noexcept : list_(std::exchange(other.list_, nullptr)) {}
    tape_handle& operator=(const tape_handle& other) { return *this = tape_handle(other); }
    tape_handle& operator=(tape_handle&& other) noexcept {
        std::swap(list_, other.list_);
        return *this;
    }
    ~tape_handle() {
        if (list_ != nullptr) give_back(list_);
    }
    tape& operator*() { return *list(); }
    const tape& operator*() const { return *list(); }
    tape* operator->() { return list(); }
    operator tape&&() && { return std::move(*list()); }  // NOLINT

private:
    static tape* taken();
    static void give_back(tape*) noexcept;
    tape* list() const {
        if (list_ == nullptr) [[unlikely]]
            balm::detail::moved_from("an expression");
        return list_;
    }

    tape* list_;
};

struct selection;
/// The elements of a view as an expression; see view.hpp.
tape read(const selection&);

/// The extents of an expression: those of its views, otherwise one dimension. Throws usage_error if nothing
/// in it determines the number of elements.
shape box_of(const tape&);

}  // namespace array

}  // namespace balm
