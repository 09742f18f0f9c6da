// Bytes as OpenCL C: includes, preprocessor, outline, comparison with C++ signatures, rewriting for CUDA.
// Every text ends in tokens or in a fault that names its line.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "balm/error.hpp"
#include "fuzz/fuzz.hpp"
#include "ir/ir.hpp"
#include "kernel/text/text_files.hpp"
#include "support/scratch_directory.hpp"
#include "text/outline.hpp"
#include "text/preprocessor.hpp"
#include "text/rewriter.hpp"
#include "text/signature.hpp"

namespace {

using namespace balm::opencl_c;
using balm::fuzz::expect;

std::shared_ptr<const balm::ir::named_text> text_of(std::string words) {
    return std::make_shared<const balm::ir::named_text>(balm::ir::named_text{"t.cl", std::move(words)});
}

/// A folder with files that texts may include.
void enter_folder() {
    static const balm::test::scratch_directory folder;
    std::ofstream(folder / "once.h") << "#pragma once\nint once;\n";
    std::ofstream(folder / "guarded.h") << "#ifndef G\n#define G\n#include \"guarded.h\"\n#endif\n";
    std::ofstream(folder / "circle.h") << "#include \"circle.h\"\n";
    std::ofstream(folder / "macros.h") << "#define f(x, ...) x __VA_ARGS__ f\n#define J(a, b) a##b #a\n";
    std::filesystem::current_path(folder.path());
}

/// Files of this machine are no input.
bool leaves_folder(const std::string& words) {
    for (const token& t : split(words, "t.cl"))
        if (t.what == kind::string && (t.words.starts_with("\"/") || t.words.find("..") != t.words.npos))
            return true;
    return false;
}

/// Tokens as a text that says the same.
std::string words_of(const tokens& list) {
    std::string words;
    for (const token& t : list) words += (t.starts_line ? " \n" : " ") + t.words;
    return words;
}

void check_preprocessed(const tokens& list) {
    expect(!list.empty() && list.back().what == kind::end, "tokens end with an end");
    expect(list.size() <= limits::tokens + 1, "tokens end at the limit");
    // Without macros it is preprocessed already; a name that is left may be that of one which OpenCL defines.
    if (list.size() > 2000) return;
    std::string names, names_again;
    for (const token& t : list) {
        if (t.is("#")) return;
        if (t.is_word()) names += t.words + ";";
    }
    for (const token& t : preprocess({text_of(names)})) names_again += t.words;
    if (names_again != names) return;
    const tokens again = preprocess({text_of(words_of(list))});
    expect(again.size() == list.size(), "preprocessed twice is preprocessed once", words_of(list));
    for (std::size_t k = 0; k < list.size(); ++k)
        expect(again[k].words == list[k].words && again[k].what == list[k].what, "tokens stay what they are",
               words_of(list));
}

void check_outline(const tokens& list, const outline& declared) {
    const auto is_inside = [&](range r) { return r.first <= r.last && r.last <= list.size(); };
    std::size_t at = 0;
    for (const function& f : declared.functions) {
        expect(is_inside(f.all) && is_inside(f.list) && is_inside(f.body), "functions lie inside the text");
        expect(at <= f.all.first, "functions follow each other");
        at = f.all.last;
        expect(!f.is_definition || declared.definition(f.name), "definitions are found by name", f.name);
    }
}

void compare_with_signatures(const outline& declared) {
    using balm::scalar;
    using balm::space;
    using balm::trace::access;
    const std::pair<balm::trace::type, access> kinds[] = {
        {scalar::i32, access::value},
        {{scalar::f32, 4}, access::value},
        {balm::trace::pointer_to(scalar::f32, space::global, true), access::in},
        {balm::trace::pointer_to(scalar::i32, space::global), access::mixed},
        {balm::trace::pointer_to({scalar::f64, 2}, space::local), access::local},
        {balm::trace::pointer_to(scalar::u8, space::private_), access::value}};
    for (const function& f : declared.functions)
        for (int dimensions = 0; dimensions < 2; ++dimensions)
            for (std::size_t shift = 0; shift < std::size(kinds); ++shift) {
                balm::ir::function expected;
                expected.name = f.name;
                expected.dimensions = dimensions;
                for (std::size_t k = 0; k < f.parameters.size(); ++k) {
                    balm::ir::parameter p;
                    std::tie(p.what, p.use) = kinds[(k + shift) % std::size(kinds)];
                    expected.parameters.push_back(p);
                }
                const std::string why = difference(expected, expected.parameters.size(), f);
                expect(why.size() < 16384, "a comparison is a sentence", why);
            }
}

int brackets_in(const tokens& list, const char* words) {
    int n = 0;
    for (const token& t : list) n += t.is(words);
    return n;
}

void read_as_program(const std::string& words) {
    const tokens list = preprocess({balm::kernels::make_text(words, "t.cl")});
    check_preprocessed(list);
    const outline declared = read_outline(list);
    check_outline(list, declared);
    compare_with_signatures(declared);
    const std::string program = rewrite(list, declared);
    const tokens made = split(program, "made.cu");
    for (const auto& [open, close] : {std::pair("(", ")"), std::pair("[", "]"), std::pair("{", "}")})
        expect(brackets_in(made, open) - brackets_in(made, close) ==
                   brackets_in(list, open) - brackets_in(list, close),
               "a program for CUDA keeps its brackets", program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const bool ready = (enter_folder(), true);
    static_cast<void>(ready);
    const std::string words(reinterpret_cast<const char*>(data), size);
    std::string refused;
    try {
        if (leaves_folder(words)) return 0;
        read_as_program(words);
        return 0;
    } catch (const fault& why) {
        refused = why.what();
    } catch (const balm::usage_error& why) {
        refused = why.what();
    }
    expect(!refused.empty() && refused.size() < 8192, "a fault is a sentence", refused);
    return 0;
}
