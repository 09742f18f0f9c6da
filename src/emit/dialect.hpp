#pragma once
// What a dialect is: its features, a table of words, and functions for the few things whose words depend on
// types. Each has a folder, which nothing but dialect_of() names. The printer asks features and reads words;
// passes ahead of it ask features.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emit/text.hpp"
#include "ir/ir.hpp"
#include "runtime/backend.hpp"

namespace balm::emit {

struct program_parts;
struct dialect;

/// A function printed ahead of the kernels that need it.
struct helper_function {
    std::string name;
    std::string text;
};

struct builtin_spelling {
    std::string pattern;                   ///< with $0, $1 … for the operands
    bool is_call = true;                   ///< else an expression whose operands bind as in a call's place
    std::vector<helper_function> helpers;  ///< that the pattern uses
};

/// An expression with $0, $1 … for the operands, which stand as a call's arguments.
struct sync_spelling {
    std::string pattern;
    std::vector<helper_function> helpers;
};

struct features {
    bool is_cpp = false;              ///< structures are named by their tag, vectors have constructors
    bool has_vectors = false;         ///< short vectors with operators, swizzles, select and convert_T
    bool has_address_spaces = false;  ///< in the types of pointers
    bool has_samplers = false;        ///< a sampler is an argument of its own
    bool has_sub_groups = false;      ///< shuffles and votes among 32 work-items, and barriers that count
    bool has_ptx = false;             ///< in asm statements
    bool has_pow_of_f32 = false;      ///< one that is as fast and as right as Balm's
    bool has_grid_offset = false;     ///< its driver adds a launch's offset to the work-items' places
    bool passes_addresses = false;    ///< memory may begin anywhere in its allocation
    bool masks_shift_counts = false;  ///< takes a shift count modulo the width
    bool keeps_texts = false;         ///< takes OpenCL C as it is
    bool rewrites_texts = false;      ///< takes OpenCL C as src/text rewrites it for CUDA
    std::size_t most_local_array = SIZE_MAX;  ///< bytes in local memory whose size is part of the program
    int version_that_adds_f64 = 0;            ///< of devices that add to doubles atomically; 0: all
};

/// Behind a text, {0} … are filled in by fmt.
struct words {
    std::array<std::string_view, 12> scalars;  ///< by scalar
    std::string_view kernel;                   ///< ahead of a kernel
    std::string_view only_for;                 ///< behind it: the work-group's size {0}, {1}, {2}, in all {3}
    std::string_view helper;                   ///< ahead of a helper function
    std::string_view device_function;          ///< ahead of a function
    std::string_view number_function;          ///< ahead of one of numbers, without memory or structures
    std::string_view member_function;          ///< ahead of a constructor
    std::string_view aligned;                  ///< behind `struct`, of alignment {0}
    std::string_view global_memory;            ///< ahead of a pointer to global memory
    std::string_view local_memory;             ///< ahead of a pointer to local memory
    std::string_view local_array;              ///< ahead of an array in local memory
    std::string_view local_room;      ///< statement: what local parameters are offsets into; empty: pointers
    std::string_view constant_array;  ///< ahead of one in constant memory
    std::string_view zeroed;          ///< behind an array that begins as zeros
    std::string_view restrict_pointer;   ///< behind the star
    std::string_view long_suffix;        ///< of a 64-bit literal
    std::string_view f32_bits, f32_end;  ///< around the bits of a float that has no literal
    std::string_view f64_bits, f64_end;
    std::string_view f32_to_word, f64_to_word;  ///< functions from and to unsigned integers of their bits
    std::string_view word_to_f32, word_to_f64;
    std::string_view f64_to_long;               ///< to signed ones
    std::string_view half_to_f32, f32_to_half;  ///< bodies of functions of `a`: 16 bits to a float and back
    std::array<std::string_view, 10> places;  ///< by ir::place; $ is the dimension; of one row of work-items
    std::array<std::string_view, 3> linear_places;  ///< the last three where there may be more dimensions
    std::array<std::string_view, 3> axes;           ///< what $ becomes
    std::string_view local_barrier, global_barrier, full_barrier;
};

/// How images are spelt; x comes first.
struct image_words {
    /// The declaration of a parameter.
    std::string (*parameter)(program_parts&, const ir::parameter&, const std::string& name);
    /// An element at a position (integers), or at coordinates through the image's sampler.
    text (*read)(program_parts&, ir::type image, bool by_position, const std::string& name,
                 const std::string& sampler, const std::vector<std::string>& at);
    /// The name of a function of (image, position, value) that writes an element, and nothing beyond the
    /// edges.
    std::string (*writer)(program_parts&, ir::type image);
    /// The width (0), height (1) or depth (2).
    std::string (*size)(const std::string& name, std::uint64_t dimension);
};

struct dialect {
    std::string_view name;
    features has;
    words say;
    /// A built-in (no operator) on scalars of this type.
    builtin_spelling (*row)(const dialect&, builtin, scalar);
    /// The function of (address, values …) on elements of this type that gives the element as it was; empty:
    /// there is none.
    std::string (*atomic)(ir::atomic_op, scalar);
    /// The extension that a device must have for the operation; empty: none; null: there are no extensions.
    std::string (*atomic_extension)(ir::atomic_op, scalar) = nullptr;
    std::string (*image_extension)(const ir::parameter&) = nullptr;
    /// Null where there are no sub-groups.
    sync_spelling (*sub_group)(const dialect&, ir::sub_group_op, scalar element) = nullptr;
    sync_spelling (*counting_barrier)(const dialect&) = nullptr;
    /// A statement.
    std::string (*fence)(trace::memory_scope);
    image_words image;
    /// What the compiler is told ahead of the program; null: nothing.
    std::string (*head)(const program_parts&) = nullptr;
};

/// The dialect that a driver takes.
const dialect& dialect_of(runtime::dialect) noexcept;

/// "float", "unsigned long long" (CUDA), "double8" (OpenCL).
std::string type_name(const dialect&, scalar, int lanes = 1);

/// A helper function of the dialect, with its linkage.
helper_function make_helper(const dialect&, const std::string& name, const std::string& result,
                            const std::string& parameters, const std::string& body);

}  // namespace balm::emit
