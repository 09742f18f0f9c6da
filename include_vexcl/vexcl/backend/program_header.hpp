#pragma once
// Source and options that are added to custom functions and kernels.

#include <sstream>
#include <string>
#include <vector>

namespace vex {
namespace detail {

/// A stack of texts, concatenated.
class text_stack {
public:
    void push(const std::string& text) {
        sizes_.push_back(all_.size());
        all_ += text;
    }
    void pop() {
        if (sizes_.empty()) return;
        all_.resize(sizes_.back());
        sizes_.pop_back();
    }
    const std::string& all() const { return all_; }

private:
    std::string all_;
    std::vector<std::size_t> sizes_;
};
inline text_stack& program_headers() {
    static text_stack texts;
    return texts;
}
inline text_stack& program_options() {
    static text_stack options;
    return options;
}

/// The macros that OpenCL build options define (-DNAME, -D NAME=VALUE), as source. Other options are ignored:
/// Balm chooses the options of the compiler.
inline std::string definitions(const std::string& options) {
    std::istringstream words(options);
    std::string text, word;
    while (words >> word) {
        if (word.rfind("-D", 0) != 0) continue;
        std::string macro = word.substr(2);
        if (macro.empty() && !(words >> macro)) break;
        const std::size_t equals = macro.find('=');
        text += "#define " + macro.substr(0, equals) + " " +
                (equals == std::string::npos ? "1" : macro.substr(equals + 1)) + "\n";
    }
    return text;
}
/// The source that precedes a function or kernel.
inline std::string program_preamble(const std::string& options = {}) {
    return definitions(program_options().all()) + definitions(options) + program_headers().all();
}

}  // namespace detail

/// Adds OpenCL C (declarations, macros) ahead of custom functions and kernels on all devices, until it is
/// popped.
template <class Queues>
void push_program_header(const Queues&, const std::string& text) {
    detail::program_headers().push(text);
}
template <class Queues>
void pop_program_header(const Queues&) {
    detail::program_headers().pop();
}
/// The same for compile options. Only those that define macros have an effect.
template <class Queues>
void push_compile_options(const Queues&, const std::string& options) {
    detail::program_options().push(" " + options);
}
template <class Queues>
void pop_compile_options(const Queues&) {
    detail::program_options().pop();
}

namespace detail {

/// A text that is on the stack for as long as the object lives.
template <text_stack& (*texts)()>
class pushed_text {
public:
    explicit pushed_text(const std::string& text) { texts().push(text); }
    pushed_text(const pushed_text&) = delete;
    ~pushed_text() { texts().pop(); }
};

}  // namespace detail

/// push_program_header() for as long as the object lives.
class scoped_program_header : detail::pushed_text<detail::program_headers> {
public:
    template <class Queues>
    scoped_program_header(const Queues&, const std::string& text) : pushed_text(text) {}
};
/// push_compile_options() for as long as the object lives.
class scoped_compile_options : detail::pushed_text<detail::program_options> {
public:
    template <class Queues>
    scoped_compile_options(const Queues&, const std::string& options) : pushed_text(" " + options) {}
};
/// What is pushed at present.
template <class Queue>
std::string get_program_header(const Queue&) {
    return detail::program_headers().all();
}
template <class Queue>
std::string get_compile_options(const Queue&) {
    return detail::program_options().all();
}

namespace backend {

using vex::pop_compile_options;
using vex::pop_program_header;
using vex::push_compile_options;
using vex::push_program_header;

}  // namespace backend
}  // namespace vex
