#include "emit/function/signature.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emit/builtin_spelling.hpp"

namespace balm::emit {

namespace {

std::string word_for(const ir::parameter& p) {
    if (!p.name.empty()) return p.name;
    switch (p.use) {
        case ir::access::in: return "in";
        case ir::access::out: return "out";
        case ir::access::mixed: return "mixed";
        case ir::access::local: return "shared";
        case ir::access::in_image:
        case ir::access::sampled_image:
        case ir::access::out_image: return "image";
        default: return is_floating(p.what.element) ? "s" : "n";
    }
}

bool is_of_numbers(const ir::function& f) {
    const auto is_number = [](ir::type t) { return !t.is_pointer() && !t.is_image() && t.aggregate == 0; };
    return is_number(f.result) && std::all_of(f.parameters.begin(), f.parameters.end(),
                                              [&](const auto& p) { return is_number(p.what); });
}

class signature_printer {
public:
    signature_printer(const ir::function& f, program_parts& parts, value_names& names)
        : f_(f), parts_(parts), words_(parts.language.say), names_(names) {}

    signature run(const std::string& printed_name) {
        std::vector<std::string> names;
        for (const ir::parameter& p : f_.parameters) {
            names.push_back(names_.unique(word_for(p)));
            parameter(p, names.back());
        }
        for (ir::value_id v = 0; v < f_.code.size(); ++v)
            if (f_.code[v].op == ir::opcode::parameter) names_.set(v, names[f_.code[v].bits]);
        made_.text = head() + printed_name + "(";
        const std::string one_line = made_.text + joined(list_) + ")";
        made_.text = one_line.size() <= 108 ? one_line
                                            : made_.text + "\n        " + joined(list_, ",\n        ") + ")";
        made_.pointers.insert(made_.pointers.end(), shifted_.begin(), shifted_.end());
        return std::move(made_);
    }

private:
    bool is_kernel() const { return f_.dimensions > 0; }
    std::string type_of(ir::type t) { return type_name(parts_, t); }

    std::string head() {
        if (!is_kernel()) {
            const std::string_view kind = parts_.outlined.count(&f_) != 0 ? words_.outlined_function
                                          : is_of_numbers(f_)             ? words_.number_function
                                                                          : words_.device_function;
            return std::string(kind) + type_of(f_.result) + " ";
        }
        std::string text(words_.kernel);
        if (const ir::group_size& g = f_.only_for; g[0] != 0)
            text += fmt::format(fmt::runtime(words_.only_for), g[0], g[1], g[2], g[0] * g[1] * g[2]);
        return text + "void ";
    }

    void parameter(const ir::parameter& p, const std::string& name) {
        if (p.what.is_image()) return image(p, name);
        if (!p.what.is_pointer() || p.use == ir::access::value) {
            // OpenCL C allows no bool as a kernel's parameter; a byte of 0 or 1 replaces it.
            list_.push_back(type_of(is_kernel() ? in_memory(p.what) : p.what) + " " + name);
            return;
        }
        const std::string type = type_of(in_memory(pointee(p.what)));
        if (p.use == ir::access::local)
            local_memory(type, name);
        else if (p.is_shifted)
            shifted_memory(p, type, name);
        else
            list_.push_back(global_pointer(p, type) + name);
    }
    void image(const ir::parameter& p, const std::string& name) {
        list_.push_back(parts_.language.image.parameter(parts_, p, name));
        if (!parts_.language.has.has_samplers || p.use != ir::access::sampled_image) return;
        const auto position = static_cast<std::uint64_t>(&p - f_.parameters.data());
        const std::string& sampler = made_.samplers[position] = names_.unique(name + "_sampler");
        list_.push_back("sampler_t " + sampler);
    }
    void local_memory(const std::string& type, const std::string& name) {
        if (words_.local_room.empty() || !is_kernel()) {
            list_.push_back(fmt::format("{}{}* {}", words_.local_memory, type, name));
            return;
        }
        if (made_.pointers.empty()) made_.pointers.emplace_back(words_.local_room);
        const std::string offset = names_.unique(name + "_offset");
        list_.push_back("unsigned int " + offset);
        made_.pointers.push_back(fmt::format("{0}* {1} = ({0}*)(balm_local + {2});", type, name, offset));
    }
    /// A pointer that begins inside its allocation, which OpenCL cannot bind: memory and offset are passed.
    void shifted_memory(const ir::parameter& p, const std::string& type, const std::string& name) {
        const std::string pointer = global_pointer(p, type);
        const std::string memory = names_.unique(name + "_memory"), offset = names_.unique(name + "_offset");
        list_.push_back(pointer + memory);
        list_.push_back(type_of(ir::type(scalar::i64)) + " " + offset);
        const std::string to =
            fmt::format("{}{}", words_.global_memory, p.use == ir::access::in ? "const " : "");
        shifted_.push_back(fmt::format("{}{} = ({}{}*)(({}{}*){} + {});", pointer, name, to, type, to,
                                       type_of(ir::type(scalar::u8)), memory, offset));
    }
    std::string global_pointer(const ir::parameter& p, const std::string& type) const {
        if (p.what.where == space::constant && parts_.language.has.has_address_spaces)
            return fmt::format("constant {}* ", type);
        return fmt::format("{}{}{}* {}", words_.global_memory, p.use == ir::access::in ? "const " : "", type,
                           p.is_restrict ? words_.restrict_pointer : "");
    }

    const ir::function& f_;
    program_parts& parts_;
    const words& words_;
    value_names& names_;
    signature made_;
    std::vector<std::string> list_;     ///< the parameters as printed
    std::vector<std::string> shifted_;  ///< statements
};

}  // namespace

std::string value_names::word_for(ir::value_id v) const {
    const ir::instruction& i = f_.code[v];
    if (i.name != ir::none) return f_.names[i.name];
    switch (i.op) {
        case ir::opcode::place: {
            constexpr const char* words[] = {"gid",    "lid",    "group", "global_size", "local_size",
                                             "groups", "offset", "item",  "items",       "sub_group"};
            const bool has_axis = static_cast<ir::place>(i.detail) < ir::place::local_linear_id;
            return std::string(words[i.detail]) +
                   (f_.dimensions > 1 && has_axis ? std::string(1, "xyz"[i.bits]) : "");
        }
        case ir::opcode::for_: return "k";
        case ir::opcode::grid_for: return "i";
        case ir::opcode::load: {
            const std::string& memory = names_[f_.operand(v, 0)];
            return memory.empty() ? "t" : memory + "_i";
        }
        case ir::opcode::atomic: return "old";
        case ir::opcode::read_image: return "texel";
        case ir::opcode::image_size: return i.bits == 0 ? "width" : i.bits == 1 ? "height" : "depth";
        case ir::opcode::sub_group: return i.result.element == scalar::u32 ? "lanes" : "other";
        case ir::opcode::logic_and:
        case ir::opcode::logic_or: return "holds";
        case ir::opcode::builtin: {
            const auto takes = ir::info(static_cast<builtin>(i.detail)).takes;
            return takes == detail::rule::compare || takes == detail::rule::predicate ? "is" : "t";
        }
        case ir::opcode::object: return i.detail == ir::one_element ? "v" : "values";
        case ir::opcode::constant_array: return f_.constants[i.bits]->name;
        default: return i.op == ir::opcode::cell ? "v" : i.result.is_pointer() ? "p" : "t";
    }
}

signature print_signature(const ir::function& f, const std::string& printed_name, program_parts& parts,
                          value_names& names) {
    return signature_printer(f, parts, names).run(printed_name);
}

}  // namespace balm::emit
