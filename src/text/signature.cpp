#include "text/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ir/passes/aggregate.hpp"

namespace balm::opencl_c {

namespace {

using ir::access;

std::string scalar_words(scalar element, int lanes = 1) {
    constexpr const char* names[] = {"void", "bool", "char",  "uchar", "short",  "ushort", "int",
                                     "uint", "long", "ulong", "float", "double", "half"};
    return names[static_cast<std::size_t>(element)] + (lanes > 1 ? std::to_string(lanes) : std::string());
}

const char* space_words(address where) {
    constexpr const char* words[] = {"private", "__global", "__local", "__constant"};
    return words[static_cast<std::size_t>(where)];
}
address address_of(space where) {
    switch (where) {
        case space::global: return address::global;
        case space::local: return address::local;
        case space::constant: return address::constant;
        default: return address::none;
    }
}

/// The element type in memory: a truth value is a byte.
ir::type element_of(const ir::parameter& p) {
    ir::type t = p.what.is_pointer() ? pointee(p.what) : p.what;
    if (p.what.is_pointer() && !t.is_pointer() && t.element == scalar::boolean) t.element = scalar::u8;
    return t;
}

/// "In<float>", "Local<int>", "float"
std::string words_of(const ir::parameter& p) {
    if (p.use == access::value) return type_words(p.what);
    const char* name = p.use == access::in      ? "In"
                       : p.use == access::out   ? "Out"
                       : p.use == access::mixed ? "InOut"
                                                : "Local";
    return fmt::format("{}<{}>", name, type_words(pointee(p.what)));
}

/// How memory of a signature is declared in a text.
struct binding {
    access use;
    address where;
    bool in_functions;  ///< else only in kernels
};
/// A function receives memory of the traced kernel that calls it, which is global or local. A kernel receives
/// a buffer, which it may read as __constant.
constexpr binding bindings[] = {{access::in, address::global, true},
                                {access::in, address::constant, false},
                                {access::out, address::global, true},
                                {access::mixed, address::global, true},
                                {access::local, address::local, true}};

class comparison {
public:
    comparison(const ir::function& expected, const function& found, std::size_t count)
        : expected_(expected), found_(found), count_(count), is_kernel_(expected.dimensions > 0) {}

    /// Why they differ; empty if they agree.
    std::string why() const {
        if (is_kernel_ && !found_.is_kernel) return "it is not a kernel: __kernel is missing";
        if (!is_kernel_ && found_.is_kernel) return "it is a kernel; launch it with source_kernel";
        if (found_.parameters.size() != count_)
            return fmt::format("the text has {} parameters, the signature {}", found_.parameters.size(),
                               count_);
        for (std::size_t k = 0; k < count_; ++k) {
            const parameter& p = found_.parameters[k];
            std::string reason = parameter_(p, expected_.parameters[k]);
            if (reason.empty()) continue;
            const std::string name = p.name.empty() ? "" : " '" + shortened(p.name) + "'";
            return fmt::format("parameter {}{} {}", k + 1, name, reason);
        }
        return result();
    }
    std::string both() const {
        std::string wanted;
        for (std::size_t k = 0; k < count_; ++k)
            wanted += (k ? ", " : "") + words_of(expected_.parameters[k]);
        return fmt::format("{} '{}' of {} takes {}, but its C++ signature says ({})",
                           is_kernel_ ? "kernel" : "function", shortened(found_.name), words(found_.where),
                           words(found_.parameters), wanted);
    }

private:
    std::string result() const {
        const declared_type& text = found_.result;
        if (text.is_pointer) return "it returns a pointer, which a signature cannot express";
        const ir::type wanted = is_kernel_ ? ir::type() : expected_.result;
        if (text.type.what == category::unknown || agrees(text.type, wanted)) return {};
        return is_kernel_ ? fmt::format("it returns {}; a kernel returns void", words_of(text.type))
                          : fmt::format("the text returns {}, the signature {}", words_of(text.type),
                                        type_words(wanted));
    }

    /// The text after "parameter 1 'x' "; empty if they agree.
    std::string parameter_(const parameter& text, const ir::parameter& cpp) const {
        const std::string wanted = words_of(cpp);
        if (text.type.what == category::foreign)
            return fmt::format(
                "is {}{} in the text, which a C++ signature cannot express, but {} in this one",
                text.is_pointer ? "a pointer to " : "", text.type.foreign, wanted);
        if (text.is_pointer != cpp.what.is_pointer())
            return fmt::format("is {} in the text, but {} in the signature",
                               text.is_pointer ? "memory" : "a value", wanted);
        const bool is_void =
            text.is_pointer && text.type.what == category::plain && text.type.element == scalar::nothing;
        const ir::type element = element_of(cpp);
        if (text.depth > 1 || element.is_pointer())
            return fmt::format("is a pointer to pointers in the text, but {} in the signature", wanted);
        if (!is_void && !agrees(text.type, element))
            return fmt::format("is {} in the text, but {} in the signature", words_of(text.type), wanted);
        if (text.is_pointer) return pointer(text, cpp, wanted);
        if (text.where != address::none)
            return fmt::format("is a value in {} memory in the text; parameters are private",
                               space_words(text.where));
        if (is_kernel_ && text.type.is_no_parameter)
            return fmt::format(
                "has a type (equal to {}) that OpenCL C forbids for kernel parameters (bool, half, size_t, "
                "ptrdiff_t, intptr_t, uintptr_t); write uchar, uint or ulong",
                words_of(text.type));
        return {};
    }

    std::string pointer(const parameter& text, const ir::parameter& cpp, const std::string& wanted) const {
        const bool is_plain = cpp.use == access::value;
        const bool fits =
            is_plain ? text.where == address_of(cpp.what.where)
                     : std::any_of(std::begin(bindings), std::end(bindings), [&](const binding& row) {
                           return row.use == cpp.use && row.where == text.where &&
                                  (is_kernel_ || row.in_functions);
                       });
        if (!fits && !is_kernel_ && text.where == address::constant && cpp.use == access::in)
            return fmt::format(
                "is __constant memory in the text, but {} in the signature: a function is called with memory "
                "of its kernel, which is __global; write __global const in the text, or ConstantPtr in the "
                "signature",
                wanted);
        if (!fits)
            return fmt::format("is {} memory in the text, but {} in the signature", space_words(text.where),
                               wanted);
        if (cpp.what.is_const && !text.points_to_const)
            return fmt::format(
                "may be written by the text, but is {} in the signature: write const in the text, or InOut "
                "in the signature (OnlyRead if it is not written)",
                wanted);
        if (cpp.use == access::out && text.points_to_const)
            return fmt::format("is const in the text, but {} in the signature", wanted);
        return {};
    }

    /// Whether the words can denote the type. The user is responsible for equal layouts of structures.
    bool agrees(const value_type& text, ir::type wanted) const {
        switch (text.what) {
            case category::unknown: return true;
            case category::plain:
                return wanted.aggregate == 0 && text.element == wanted.element && text.lanes == wanted.lanes;
            case category::structure: return ir::is_structure(wanted);
            case category::enumeration:
                return wanted.aggregate == 0 && wanted.lanes == 1 &&
                       (wanted.element == scalar::i32 || wanted.element == scalar::u32);
            case category::array: return is_kernel_;
            case category::foreign: return false;
        }
        return false;
    }
    static std::string words_of(const value_type& t) {
        switch (t.what) {
            case category::plain: return scalar_words(t.element, t.lanes);
            case category::structure: return "a structure";
            case category::enumeration: return "an enumeration";
            case category::array: return "an array";
            case category::foreign: return std::string(t.foreign);
            case category::unknown: break;
        }
        return "another type";
    }
    static std::string words_of(const ir::parameter& p) { return opencl_c::words_of(p); }

    const ir::function& expected_;
    const function& found_;
    std::size_t count_;
    bool is_kernel_;
};

}  // namespace

std::string type_words(ir::type t) {
    if (t.is_pointer()) return "Ptr<" + type_words(pointee(t)) + ">";
    if (ir::is_structure(t)) return ir::structure_of(t).name;
    return scalar_words(t.element, t.lanes);
}

std::string difference(const ir::function& expected, std::size_t count, const function& found) {
    const comparison both(expected, found, count);
    const std::string why = both.why();
    return why.empty() ? why : fmt::format("{}: {}", both.both(), why);
}

}  // namespace balm::opencl_c
