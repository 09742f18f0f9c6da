#pragma once
// A dialect: its features, a table of spellings, and functions for the few spellings that depend on types.
// Each dialect has a folder, which only dialect_of() names. The printer reads features and spellings; passes
// before it read features.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dialect.hpp"
#include "emit/text.hpp"
#include "ir/ir.hpp"

namespace balm::emit {

struct program_parts;
struct dialect;

/// A function printed before the kernels that need it.
struct helper_function {
    std::string name;
    std::string text;
};

struct builtin_spelling {
    std::string pattern;                   ///< with $0, $1 … for the operands
    bool is_call = true;                   ///< else an expression whose operands bind as tightly as a call
    std::vector<helper_function> helpers;  ///< that the pattern uses
};

/// An expression with $0, $1 … for the operands, which are printed as a call's arguments.
struct sync_spelling {
    std::string pattern;
    std::vector<helper_function> helpers;
};

struct features {
    bool is_cpp = false;              ///< structures are named by their tag, vectors have constructors
    bool has_vectors = false;         ///< short vectors with operators, swizzles, select and convert_T
    bool has_address_spaces = false;  ///< in the types of pointers
    bool has_samplers = false;        ///< a sampler is a separate argument
    bool has_sub_groups = false;      ///< shuffles and votes among 32 work-items, and barriers that count
    bool has_ptx = false;             ///< in asm statements
    bool has_pow_of_f32 = false;      ///< one that is as fast and as accurate as Balm's
    bool has_grid_offset = false;     ///< its driver adds a launch's offset to the work-items' places
    bool passes_addresses = false;    ///< memory may begin anywhere in its allocation
    bool masks_shift_counts = false;  ///< takes a shift count modulo the width
    bool keeps_texts = false;         ///< accepts OpenCL C unchanged
    bool rewrites_texts = false;      ///< accepts OpenCL C as src/text rewrites it for CUDA
    std::size_t most_local_array = SIZE_MAX;  ///< bytes of local arrays whose size is part of the program
    int version_that_adds_f64 = 0;            ///< of devices that add doubles atomically; 0: all
};

/// fmt fills in {0} … of a spelling.
struct words {
    std::array<std::string_view, 12> scalars;  ///< by scalar
    std::string_view kernel;                   ///< before a kernel
    std::string_view only_for;                 ///< after it: the work-group's size {0}, {1}, {2}; total: {3}
    std::string_view helper;                   ///< before a helper function
    std::string_view device_function;          ///< before a function
    std::string_view number_function;          ///< before a function of numbers, without memory or structures
    std::string_view outlined_function{};      ///< before one that must not be inlined; empty: as the others
    std::string_view member_function;          ///< before a constructor
    std::string_view aligned;                  ///< after `struct`, with alignment {0}
    std::string_view global_memory;            ///< before a pointer to global memory
    std::string_view local_memory;             ///< before a pointer to local memory
    std::string_view local_array;              ///< before an array in local memory
    std::string_view local_room;         ///< statement: memory of local parameters (offsets); empty: pointers
    std::string_view constant_array;     ///< before an array in constant memory
    std::string_view zeroed;             ///< after an array that is initialised with zeros
    std::string_view restrict_pointer;   ///< after the star
    std::string_view long_suffix;        ///< of a 64-bit literal
    std::string_view f32_bits, f32_end;  ///< around the bits of a float that has no literal
    std::string_view f64_bits, f64_end;
    std::string_view f32_to_word, f64_to_word;  ///< functions from and to unsigned integers of their bits
    std::string_view word_to_f32, word_to_f64;
    std::string_view f64_to_long;               ///< to signed ones
    std::string_view half_to_f32, f32_to_half;  ///< bodies of functions of `a`: 16 bits to a float and back
    std::array<std::string_view, 10> places;    ///< by ir::place; $ is the dimension; one-dimensional groups
    std::array<std::string_view, 3> linear_places;  ///< the last three for several dimensions
    std::array<std::string_view, 3> axes;           ///< replacements of $
    std::string_view local_barrier, global_barrier, full_barrier;
};

/// Spellings for images; x comes first.
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
    /// The function of (address, values …) on elements of this type that returns the element's old value;
    /// empty if there is none.
    std::string (*atomic)(ir::atomic_op, scalar);
    /// The extension that a device needs for the operation; empty: none; null: the dialect has no extensions.
    std::string (*atomic_extension)(ir::atomic_op, scalar) = nullptr;
    std::string (*image_extension)(const ir::parameter&) = nullptr;
    /// Null if there are no sub-groups.
    sync_spelling (*sub_group)(const dialect&, ir::sub_group_op, scalar element) = nullptr;
    sync_spelling (*counting_barrier)(const dialect&) = nullptr;
    /// A statement.
    std::string (*fence)(trace::memory_scope);
    /// A function of a pointer to global memory.
    helper_function (*prefetch)(const dialect&);
    /// A function that loads from an address, and one that stores a value there; null: plain accesses.
    helper_function (*streaming_load)(program_parts&, ir::type memory) = nullptr;
    helper_function (*streaming_store)(program_parts&, ir::type memory) = nullptr;
    std::size_t least_streaming_bytes = 0;  ///< smaller accesses are plain ones
    image_words image;
    std::string_view fenced_barriers = {};  ///< text that precedes programs whose barriers are fenced
    /// Text that precedes the program; null: none.
    std::string (*head)(const program_parts&) = nullptr;
};

/// The dialect that a driver accepts.
const dialect& dialect_of(runtime::dialect) noexcept;

/// "float", "unsigned long long" (CUDA), "double8" (OpenCL).
std::string type_name(const dialect&, scalar, int lanes = 1);

/// A helper function of the dialect, with its linkage.
helper_function make_helper(const dialect&, const std::string& name, const std::string& result,
                            const std::string& parameters, const std::string& body);

}  // namespace balm::emit
