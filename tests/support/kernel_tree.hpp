#pragma once
// A random kernel as a tree of its own, which says what is computed without Balm's types. It is read twice:
// recorded with the kernel language (kernel_tree_record.cpp), and executed on host numbers
// (kernel_tree_run.cpp). The two readings share no code, so that what is wrong in the tracer, the passes or
// the printers shows. Functions given as text are recorded as OpenCL C (kernel_tree_text.cpp).

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "balm/balm.hpp"
#include "balm/kernel.hpp"

namespace balm::test::tree {

/// Numbers have 32 bits. Floats are whole and at most 1023 in size between two expressions: then products and
/// sums are exact, contracted or not. Signed integers are masked before they could overflow.
enum class number : std::uint8_t { i32, u32, f32, truth };

enum class operation : std::uint8_t {
    literal,  // bits
    read,     // place a
    convert,  // a, from its type
    round,    // the float a / 4 as an i32, rounded as bits says: a balm::rounding
    narrow,   // a as the type that bits says, a `narrowed`, saturated; an i32, or a u32 for narrowed::u32
    neg,
    bit_not,
    add,
    sub,
    mul,
    div,  // x / 0 is 0, x % 0 is x
    rem,
    bit_and,
    bit_or,
    bit_xor,
    shl,
    shr,
    min,
    max,
    mul_add,  // a * b + c
    less,
    equal,
    logic_not,
    logic_and,  // b is evaluated only where a asks for it
    logic_or,
    select,  // b where a holds, else c
    step_on  // place a becomes its low 15 bits + 1, which is the value; behind && and || only
};

/// What integers are narrowed to.
enum class narrowed : std::uint8_t { i8, u8, i16, u16, i32, u32 };
inline constexpr int narrowed_types = 6;

/// A position in one of the tables of a program.
using id = std::int32_t;
inline constexpr id none = -1;

struct expression {
    operation what = operation::literal;
    number type = number::i32;
    std::uint32_t bits = 0;
    id a = none, b = none, c = none;
};

enum class kind : std::uint8_t {
    variable,
    array,          // private, of 16
    matrix,         // private, 4 by 4
    tile,           // local, a row of 16 for each work-item
    shared,         // a local parameter, 16 for each work-item
    mixed,          // global memory, 16 for each work-item
    in,             // global memory of 64 that is read; floats are 8 by 8
    in_halves,      // 16 half4 that are read
    halves,         // half in global memory, 16 for each work-item
    half_vectors,   // half3 in global memory, 4 for each work-item
    constant,       // constant data of 16
    given,          // a module's constant array of 16
    given_record,   // a module's constant of one structure
    image,          // an image of 16 by 8 uint4 that is read by position
    sampled,        // an image of 8 by 8 floats that is read through a sampler
    out_image,      // a row of 16 for each work-item, of an image that is written
    spread,         // global memory of which a grid_range's body sees one element
    vector,         // a uint4
    complex,        // a pair of floats
    record,         // a structure
    records,        // structures in global memory, two for each work-item
    pointer,        // into the object `of`, between its elements 0 and 7
    deep_pointer,   // to pointers into the object `of`
    pointer_array,  // 4 pointers into the object `of`
    record_pointer  // to the record `of`, or to the work-item's records in global memory; none: a parameter
};
/// Elements of an array, and of what a work-item owns of memory that it shares.
inline constexpr int window = 16;
/// How far a pointer may point, and how far it is followed.
inline constexpr int reach = 8;
/// The pointers of an array of pointers.
inline constexpr int pointers_each = 4;

struct object {
    kind what = kind::variable;
    number type = number::i32;
    std::string word;          ///< the name that the kernel gives it; empty: none
    id of = none;              ///< of pointers: what they point into; none for a function's parameter
    kind space = kind::mixed;  ///< of pointers: the kind of what they point into
};

/// The members of a record, and of the structures in it.
enum member : std::uint8_t {
    of_int,
    of_float,
    of_uints,
    of_lanes,
    of_inner_int,
    of_inner_floats,
    of_inners_ints,   ///< the int of an element of the array of structures
    of_inners_floats  ///< the last float of one
};
/// The structures in a record: `in`, values[0], values[1].
inline constexpr int inner_records = 3;

/// Something that is read and written: an object, or an element, lane or member of it.
struct place {
    number type = number::i32;
    id where = none;
    id index = none;  ///< an expression (i32) that is in range; of an image its column, or x
    id other = none;  ///< of an image its row, or y; of 8 by 8 floats the row, where they are not indexed
                      ///< flat; of an array of pointers which of them
    int part = 0;  ///< lane (of short vectors of half too), member of a record, 0 or 1 of a complex number;
                   ///< of a pointer a step ahead
};

enum class action : std::uint8_t {
    declare,     // object `target`: a variable from a; an array; a record; a pointer at a; …
    assign,      // place `where` = a
    add_to,      // place `where` += a
    combine,     // vector or complex `target` = target op object b; complex target / divisors[part]
    round_trip,  // complex `target` = a function's inverse of the function of b, rounded: `part` says which
    shuffle_lanes,  // vector `target`.xy = object b .zw
    copy,           // record, or pointer, `target` = object b
    copy_inner,     // structure part / 3 in record `target` = structure part % 3 in record b
    load_record,    // record `target` = records[part]
    store_record,   // records[part] = record b
    move,           // pointer `target` goes on by a, around its reach
    redirect,   // deep pointer `target`: what it points to becomes a pointer at a; pointer_array: its b-th
    paint,      // out_image(the work-item's row, a) = b
    call,       // variable or record `target` = function `callee`(arguments)
    branch,     // if (a) inner else other
    count,      // for (variable `target` = a; < b; += part) inner
    repeat,     // while (variable `target` < part && a) { target steps on by op; inner }
    leave,      // break_; in a block that is uniform all work-items leave
    next,       // continue_
    give_back,  // return_, with a in a function
    share_out,  // for (variable `target` of grid_range(a)) inner
    exchange,   // variable `target` = what work-item (lid + part) % 64 has in its shared[a]; uniform
    together,   // variable `target` = a, by the sub-group operation `part` with operand b; uniform
    tally       // variable `target` = in how many work-items a holds; uniform
};

/// How the counter of a `repeat` steps on: + 1 or * 3 + 1, from 0; or * 2, from 1.
inline constexpr std::array<operation, 3> steps{operation::add, operation::mul_add, operation::shl};
inline constexpr int first_of(operation step) { return step == operation::shl ? 1 : 0; }
inline constexpr int stepped(operation step, int turn) {
    return step == operation::add ? turn + 1 : step == operation::shl ? turn * 2 : turn * 3 + 1;
}

/// What sub-groups do: with the operand, a lane or a distance, the shuffles.
enum class lanes_do : std::uint8_t {
    reduce_add,
    reduce_min,
    reduce_max,
    inclusive_add,
    inclusive_min,
    inclusive_max,
    exclusive_add,
    exclusive_min,
    exclusive_max,
    shuffle,
    shuffle_up,
    shuffle_down,
    shuffle_xor,
    ballot,
    count
};

struct statement {
    action what = action::assign;
    id target = none;
    id where = none;
    id a = none, b = none;
    operation op = operation::add;
    int part = 0;
    bool is_uniform = false;  ///< of a branch or loop: all work-items take it alike, together
    id callee = none;
    std::vector<id> arguments = {};
    std::vector<statement> inner = {}, other = {};
};

/// What a function takes and gives.
enum class shape : std::uint8_t {
    numbers,             // Int(Int, UInt)
    floats,              // Float(Float, Int)
    global_pointer,      // Int(Ptr<int>, Int)
    private_pointer,     // Float(PrivatePtr<float>, Int)
    of_record,           // record(record, Int)
    from_record,         // UInt(record, Int)
    record_pointer,      // Int(Ptr<record>, Int)
    own_record_pointer,  // Float(PrivatePtr<record>, Int)
    meeting  // UInt(UInt, Int), called by all work-items together: has sub-group operations; no text
};
inline constexpr int shapes = 9;

struct function {
    shape what = shape::numbers;
    bool is_text = false;  ///< given as OpenCL C
    std::string name;
    std::array<id, 2> parameters{none, none};
    std::vector<statement> body;
    id result = none;  ///< an expression, or the record returned
};

/// What the texts of a program call what they declare. All names are distinct but for members', which are
/// distinct in a structure.
struct text_names {
    std::string record, inner_record;
    std::array<std::string, 6> members;  ///< of a record, and
    std::array<std::string, 2> inner_members;
    std::string quotient, remainder;  ///< functions
    std::string macro;
    bool has_tags = false;     ///< structures are `struct x`, else typedefs
    bool is_one_text = false;  ///< all functions are, else one declares the types and others a function each
};

struct program {
    std::uint64_t seed = 0;
    std::string signature;
    sampler through;  ///< of `sampled`
    std::vector<expression> expressions;
    std::vector<place> places;
    std::vector<object> objects;
    std::vector<function> functions;
    text_names in_texts;
    std::vector<std::array<std::uint32_t, window>> constants;  ///< of the constant objects, in their order
    std::vector<statement> body;
    /// The kernel's parameters, what it begins with, and the module's constants.
    id s = none, u = none, t = none, in_ints = none, in_floats = none, in_halves = none, ints = none,
       floats = none, halves = none, half_vectors = none, records = none, spread = none, image = none,
       sampled = none, out_image = none, shared = none, tile = none, given = none, given_record = none;
};

/// The same seed gives the same program, whatever the compiler; another one where some of its functions may
/// be given as text.
program draw(std::uint64_t seed, bool with_texts = false);

// ---- the data that kernels run on

inline constexpr int items = 64;  ///< one group
inline constexpr int in_elements = 64, in_columns = 8;
inline constexpr int records_each = 2;
inline constexpr int in_half_vectors = 16, half_vectors_each = 4;
inline constexpr int spread_elements = 150;  ///< no multiple of the work-items
inline constexpr int image_width = 16, image_height = 8, sampled_size = 8;

struct inner_record {
    std::int32_t threadIdx;
    float w[2];

    friend bool operator==(const inner_record& a, const inner_record& b) {
        return a.threadIdx == b.threadIdx && a.w[0] == b.w[0] && a.w[1] == b.w[1];
    }
};
BALM_STRUCT(inner_record, threadIdx, w)

struct record {
    std::int32_t kernel;
    float half;
    std::uint32_t constant[3];
    balm::uint4 local;
    inner_record in;
    inner_record values[2];

    friend bool operator==(const record& a, const record& b) {
        return a.kernel == b.kernel && a.half == b.half && a.constant[0] == b.constant[0] &&
               a.constant[1] == b.constant[1] && a.constant[2] == b.constant[2] && a.local[0] == b.local[0] &&
               a.local[1] == b.local[1] && a.local[2] == b.local[2] && a.local[3] == b.local[3] &&
               a.in == b.in && a.values[0] == b.values[0] && a.values[1] == b.values[1];
    }
};
BALM_STRUCT(record, kernel, half, constant, local, in, values)

struct data {
    std::int32_t s = 0;
    std::uint32_t u = 0;
    float t = 0;
    std::vector<std::int32_t> in_ints;
    std::vector<float> in_floats;
    std::vector<half4> in_halves;
    std::vector<std::int32_t> ints;
    std::vector<float> floats;
    std::vector<half> halves;
    std::vector<half3> half_vectors;
    std::vector<record> records;
    std::vector<std::int32_t> spread;
    std::vector<std::array<std::uint32_t, 4>> image;
    std::vector<float> sampled;
    std::vector<std::int32_t> out_image;
    std::vector<std::int32_t> given;
    std::vector<record> given_record;  ///< one
    std::vector<std::uint32_t> out;    ///< one a work-item: a sum over its variables

    explicit data(std::uint64_t seed);
    friend bool operator==(const data&, const data&) = default;
};

/// The tree's first reading: a kernel in a module, whose constants an entry sets before it launches it.
using kernel_type =
    typed_kernel<1, dsl::Int, dsl::UInt, dsl::Float, dsl::In<std::int32_t>, dsl::In<float, 2>, dsl::In<half4>,
                 dsl::Mixed<std::int32_t>, dsl::Mixed<float>, dsl::Mixed<half>, dsl::Mixed<half3>,
                 dsl::Mixed<record>, dsl::Mixed<std::int32_t>, dsl::InImage<balm::uint4, 2>,
                 dsl::Sampled<float, 2>, dsl::OutImage<std::int32_t, 2>, dsl::Local<std::int32_t>,
                 dsl::Out<std::uint32_t>>;
struct recorded {
    kernel_type kernel;
    sampler through;
    module<event(const bound_kernel<1>&, const data&, const wait_list&)> launch;
};
recorded record_kernel(const program&, const compile_options& how = {});

/// The texts that a function given as text is in, all of them OpenCL C.
std::vector<std::string> texts_of(const program&, const function&);

/// The tree's second reading: what the kernel leaves.
void run(const program&, data&);

/// Functions of complex numbers, each with the one that undoes it: what is left, rounded to whole numbers, is
/// exact whatever the functions' errors.
enum class journey : std::uint8_t {
    log,
    log10,
    square,
    pow,
    polar,
    asin,
    acos,
    atan,
    asinh,
    acosh,
    atanh,
    count
};

/// Complex numbers by which whole ones are divided without rounding, and 0.
inline constexpr std::array<std::array<float, 2>, 8> divisors{
    {{1, 0}, {0, 1}, {-2, 0}, {0, -4}, {1, 1}, {2, -2}, {-1, 1}, {0, 0}}};

/// The generator that both the trees and their data are drawn with (splitmix64): of the standard library only
/// engines are the same everywhere.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    /// 0 … sides - 1
    int roll(int sides) { return static_cast<int>(bits() % static_cast<unsigned>(sides)); }
    bool chance(int percent) { return roll(100) < percent; }
    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

private:
    std::uint64_t state_;
};

}  // namespace balm::test::tree
