#pragma once
// The flat list behind every array expression, whatever the type of its elements: operations and leaves in
// postfix order, which building an expression appends to in place.

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
                   ///< whether that is a multiple of 4; `leaf`: 1 where it is one position by its size
        apply,     ///< row `detail` of builtins.def on the last `arity` values
        convert,   ///< the last value as `type`
        select,    ///< of the last three values
        memory,    ///< leaf number `leaf` as a whole, for functions that take memory; `detail`: a memory_use
        position,  ///< where map number `leaf` says that the element lies (i64)
        at,        ///< takes the last value (i64): the index at which the steps up to `end` are computed
        end,
        image,   ///< image number `leaf`, for functions that take one; `detail`: the trace::access
        call,    ///< function number `leaf` on the last `arity` values
        keep,    ///< the last value, as number `bits` from here on
        kept,    ///< the value of that number
        within,  ///< of the last two values the second
        record   ///< the array::operation that `bits` points to, on the last `arity` values; `detail`: row
    };
    trace::type type;  ///< of the value; of the elements, for memory
    kind what = kind::vector;
    std::uint32_t detail = 0;
    std::uint16_t arity = 0;
    std::uint16_t leaf = 0;
    std::uint64_t bits = 0;

    /// One of three words, the last of which are the bits: to be compared and hashed.
    std::uint64_t word(std::size_t k) const {
        std::uint64_t found;
        std::memcpy(&found, reinterpret_cast<const char*>(this) + k * sizeof found, sizeof found);
        return found;
    }
};

/// What functions do with memory that they take.
enum class memory_use : std::uint32_t {
    read,
    write,
    read_constant  ///< in the constant address space
};

inline constexpr std::size_t step_kinds = static_cast<std::size_t>(step::kind::record) + 1;

/// What the kernel language does with values of types that are more than scalars: recorded as it stands
/// there, so that arrays have no rules of their own. One for each operation and types of its operands.
struct operation {
    trace::node (*record)(const trace::node* operands);
    const char* name;  ///< null for a row of builtins.def
};

/// Whether a step's `bits` belong to the structure.
constexpr bool has_structural_bits(const step& s) {
    return s.what == step::kind::constant || s.what == step::kind::record;
}

/// An image that a function takes, and the sampler through which it sees it, if any.
struct image_leaf {
    std::shared_ptr<runtime::storage> memory;
    balm::sampler sampler;
    trace::type type;
    trace::access use = trace::access::in_image;
};

/// What is no function of one index, such as a reduction along a dimension: a leaf of expressions that is
/// computed as a whole just before the expression, and then read as any vector is.
class producer {
public:
    virtual ~producer() = default;
    producer(const producer&) = delete;
    producer& operator=(const producer&) = delete;

    /// A new vector of `extents().count()` elements of `type()` on the devices of `near()`.
    virtual std::shared_ptr<vector_state> compute() const = 0;
    /// The same in a vector of that type and size, which has its memory to itself; false, with nothing done,
    /// where it is on other devices, or read.
    virtual bool compute_into(vector_state&) const = 0;

    const shape& extents() const { return extents_; }
    trace::type type() const { return type_; }
    /// A vector, of whatever size, on the devices where the result will be.
    const std::shared_ptr<vector_state>& near() const { return near_; }

protected:
    producer(const shape& extents, trace::type type, std::shared_ptr<vector_state> near)
        : extents_(extents), type_(type), near_(std::move(near)) {}

private:
    shape extents_;
    trace::type type_;
    std::shared_ptr<vector_state> near_;
};

/// A leaf whose vector `by` makes; until then `by->near()` has its place among the tape's vectors.
struct produced_leaf {
    std::shared_ptr<const producer> by;
    std::uint16_t leaf = 0;
};

/// The list behind every expr<T>, whatever T. What copies and destroys its lists is compiled in the library:
/// in headers it took a compiler a fifth of a program of twenty expressions (g++ 12 -O0, 2026-11-25).
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
    detail::rare_list<affine_map> maps;  ///< of its positions
    detail::rare_list<produced_leaf> produced;
    detail::rare_list<std::byte> values;  ///< host values that are no scalars: from byte `bits` of a step on
    std::shared_ptr<vector_state> near;   ///< without elements: on the devices of a tape without vectors
    std::int64_t size = -1;               ///< elements, where no vector says it; -1: unknown
    std::int32_t box = -1;                ///< the map whose box is the expression's own, if any
    std::uint64_t scalars_seen = 0;       ///< a bit for each, which equal ones share
    bool may_repeat = false;              ///< whether two of its scalars may be equal
    bool writes_memory = false;           ///< beside its value
    bool wants_constant_memory = false;   ///< for some of its vectors
    bool has_no_device = false;           ///< one of its vectors: it has no elements and stands in no list

    step& push(const step& s) {
        if (steps.size() >= most_steps) [[unlikely]]
            refuse_more();
        steps.push_back(s);
        return steps.back();
    }
    /// A step of this kind, to be completed in its place: a copy would wait for the stores of its members.
    step& push(step::kind what) {
        step& s = push(step{});
        s.what = what;
        return s;
    }
    void push_vector(std::shared_ptr<vector_state>);
    /// A vector without a device, which has no elements.
    void push_no_elements(trace::type);
    /// The same, to be read at positions, from constant memory if it can be.
    void push_constant_memory(std::shared_ptr<vector_state>);
    /// What a producer makes, in its extents.
    void push_produced(std::shared_ptr<const producer>);
    /// The vector as memory, of any size, of which any element may be read, or written.
    void push_memory(std::shared_ptr<vector_state>, memory_use = memory_use::read);
    void push_image(image_leaf);
    /// Where the map's elements lie; its box becomes the expression's.
    void push_position(const affine_map&);
    void push_value(step::kind, trace::type, std::uint64_t bits);
    /// A host value that is more than a scalar, as it lies in memory.
    void push_bytes(trace::type, const void* value, std::size_t size);
    void push_operation(const operation&, trace::type, std::uint16_t arity, builtin row);
    /// Gives the last value a number, by which it can be pushed again.
    std::uint64_t push_keep(trace::type);
    void push_kept(trace::type, std::uint64_t number);
    void push_within(trace::type);
    /// As it began, but for memory that it keeps.
    void clear() noexcept;
    void push_call(std::shared_ptr<const ir::function>, trace::type, std::uint16_t arity);
    void append(tape&&);
    void append(const tape& other) { append(tape(other)); }
    /// The same of what is assigned to a part of the elements: one element does not count as a scalar.
    void append_assigned(tape&&);
    /// Takes the last value as the index at which the other tape is computed.
    void append_at(tape&& of);
    void append_at(const tape& of) { append_at(tape(of)); }

private:
    static constexpr std::size_t most_steps = 60000;  ///< their leaves' numbers have 16 bits
    [[noreturn]] static void refuse_more();
    void push_leaf(step::kind, std::shared_ptr<vector_state>, std::uint32_t detail);
    void splice(tape&&);
    /// Of one element: becomes an expression of any number, for each of which it reads that element.
    void repeat();
};

/// A tape of the thread's stock, handed on by its address: `a + b * c` moves no list, and allocates none
/// once the stock has some.
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
    tape& operator*() { return *list_; }
    const tape& operator*() const { return *list_; }
    tape* operator->() { return list_; }
    operator tape&&() && { return std::move(*list_); }  // NOLINT

private:
    static tape* taken();
    static void give_back(tape*) noexcept;

    tape* list_;
};

struct selection;
/// What a view gives, as an expression; see view.hpp.
tape read(const selection&);

/// The extents of an expression: those of its views, else one dimension. Throws usage_error where nothing in
/// it says how many elements it has.
shape box_of(const tape&);

}  // namespace array

}  // namespace balm
