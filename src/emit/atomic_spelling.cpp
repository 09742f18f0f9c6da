#include "emit/atomic_spelling.hpp"

#include <fmt/format.h>

#include <string_view>

#include "emit/builtin_spelling.hpp"
#include "emit/ptx.hpp"

namespace balm::emit {

namespace {

using ir::atomic_op;

/// The new value of an element in a compare-and-exchange loop.
struct atomic_row {
    const char* next;  ///< the new value, of `old` and `value`
    const char* keep;  ///< for floating elements: when the element stays unchanged; null: never
};

/// Indexed by atomic_op. min and max ignore a NaN, as everywhere in Balm.
constexpr atomic_row rows[] = {
    {"old + value", nullptr},
    {"old - value", nullptr},
    {"value", nullptr},
    {"value", "!(value < old || old != old)"},
    {"value", "!(value > old || old != old)"},
    {"old >= value ? 0 : old + 1", nullptr},
    {"old == 0 || old > value ? value : old - 1", nullptr},
    {"old & value", nullptr},
    {"old | value", nullptr},
    {"old ^ value", nullptr},
    {nullptr, nullptr},
    {nullptr, nullptr},
    {nullptr, nullptr},
};

/// Builds a helper function.
class atomic_helper {
public:
    atomic_helper(const dialect& d, atomic_op what, scalar element, space where)
        : d_(d),
          what_(what),
          element_(element),
          where_(where),
          type_(type_name(d, element)),
          word_(type_name(d, word_of(element))),
          to_word_(word_function(d, element)),
          from_word_(value_function(d, element)) {}

    helper_function made() const {
        std::string name = fmt::format("balm_atomic_{}_{}", ir::to_string(what_), to_string(element_));
        if (d_.has.has_address_spaces) name += where_ == space::global ? "_global" : "_local";
        return make_helper(d_, name, what_ == atomic_op::store ? "void" : type_, parameters(), body());
    }

private:
    /// OpenCL C's functions take pointers to volatile elements.
    std::string pointer_to(const std::string& type) const {
        if (!d_.has.has_address_spaces) return type + "*";
        return fmt::format("volatile {}{}*",
                           where_ == space::global ? d_.say.global_memory : d_.say.local_memory, type);
    }
    /// A volatile access bypasses caches and registers, and aligned words do not tear.
    std::string current(const std::string& type, const char* pointer) const {
        return d_.has.has_address_spaces ? fmt::format("*{}", pointer)
                                         : fmt::format("*(volatile {}*){}", type, pointer);
    }
    std::string parameters() const {
        std::string p = pointer_to(type_) + " p";
        if (what_ == atomic_op::load) return p;
        if (what_ == atomic_op::compare_exchange)
            return fmt::format("{0}, {1} expected, {1} value", p, type_);
        return fmt::format("{}, {} value", p, type_);
    }

    std::string body() const {
        if (what_ == atomic_op::load) return fmt::format("return {};", current(type_, "p"));
        if (what_ == atomic_op::store) return fmt::format("{} = value;", current(type_, "p"));
        if (d_.has.has_ptx && what_ == atomic_op::add && element_ == scalar::f32) return ptx::f32_add(where_);
        if (what_ == atomic_op::compare_exchange)
            return on_words(what_, "(expected), " + to_word_ + "(value)");
        if (what_ == atomic_op::exchange) return on_words(what_, "(value)");
        const bool compares = what_ == atomic_op::inc || what_ == atomic_op::dec;
        if (is_floating(element_) || compares) return loop();
        if (!on_words_name(what_).empty()) return on_words(what_, "(value)");
        if (what_ == atomic_op::sub) return difference();
        return loop();
    }
    std::string on_words_name(atomic_op what) const { return d_.atomic(what, word_of(element_)); }
    /// Operates on the element's bits as a word: for exchange and compare_exchange, and for signed integers.
    std::string on_words(atomic_op what, const std::string& values) const {
        return fmt::format("return {}({}(({})p, {}{}));", from_word_, on_words_name(what), pointer_to(word_),
                           to_word_, values);
    }
    std::string difference() const {
        return fmt::format("return {}({}(({})p, 0 - {}(value)));", from_word_, on_words_name(atomic_op::add),
                           pointer_to(word_), to_word_);
    }
    std::string loop() const {
        const atomic_row& row = rows[static_cast<std::size_t>(what_)];
        std::string body = fmt::format(
            "{0} word = ({0})p;\n    {1} seen = {4}, held;\n    do {{\n        held = seen;\n        const "
            "{2} old = {3}(held);\n",
            pointer_to(word_), word_, type_, from_word_, current(word_, "word"));
        if (is_floating(element_) && row.keep) body += fmt::format("        if ({}) return old;\n", row.keep);
        body += fmt::format(
            "        seen = {}(word, held, {}({}));\n    }} while (seen != held);\n    return {}(held);",
            on_words_name(atomic_op::compare_exchange), to_word_, row.next, from_word_);
        return body;
    }

    const dialect& d_;
    const atomic_op what_;
    const scalar element_;
    const space where_;
    const std::string type_, word_, to_word_, from_word_;
};

}  // namespace

atomic_spelling spell_atomic(const dialect& d, atomic_op what, scalar element, space where) {
    if (std::string own = d.atomic(what, element); !own.empty()) return {std::move(own), {}};
    helper_function helper = atomic_helper(d, what, element, where).made();
    std::string name = helper.name;
    return {std::move(name), {std::move(helper)}};
}

}  // namespace balm::emit
