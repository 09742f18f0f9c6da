// Reads files, resolves #include "…" and refuses what is not text.

#include "kernel/text/text_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "balm/error.hpp"
#include "base/hash.hpp"
#include "base/read_file.hpp"
#include "text/lexer.hpp"

namespace balm::kernels {

namespace {

using opencl_c::split;
using opencl_c::tokens;

/// No person or generator writes larger texts.
constexpr std::size_t max_file_bytes = std::size_t{16} << 20;
/// Stops cycles of includes.
constexpr std::size_t max_include_depth = 64;
/// A chain of files that each include the next one twice would make 2^64.
constexpr std::size_t max_includes = 4096;
constexpr std::size_t max_text_bytes = 4 * max_file_bytes;

std::string shortened_path(const std::string& path) { return opencl_c::shortened(path, 4096); }

std::string read_file(const std::string& path, const std::string& wanted_by) {
    const auto fail = [&](const std::string& why) {
        throw usage_error(fmt::format("the OpenCL C file '{}'{} {}", shortened_path(path), wanted_by, why));
    };
    std::string words;
    const std::string fault = runtime::read_file(path, max_file_bytes + 1, words);
    if (!fault.empty()) fail(fault);
    if (words.size() > max_file_bytes) fail("is larger than 16 MiB; is it a text file?");
    if (words.find_first_not_of(" \t\r\n\f\v") == std::string::npos) fail("is empty");
    return words;
}

std::string folder_of(const std::string& path) {
    const std::size_t end = path.find_last_of("/\\");
    return end == std::string::npos ? std::string() : path.substr(0, end + 1);
}

/// Replaces `#include "…"` lines by the files, so that a single text is compiled and cached. Conditions are
/// left to the preprocessor: a file is inserted wherever it is named.
class includer {
public:
    std::string resolve(const std::string& words, const std::string& name, const std::string& folder) {
        const tokens list = split(words, name);
        const bool is_once = says_once(list);
        open_.push_back({name, is_once || has_guard(list)});
        if (open_.size() > max_include_depth)
            throw usage_error(fmt::format("'{}' is included through a chain of more than {} files", name,
                                          max_include_depth));
        std::string made;
        std::size_t at = 0;
        int conditions = 0;
        for (std::size_t k = 0; k + 1 < list.size(); ++k) {
            if (!list[k].starts_line || !list[k].is("#")) continue;
            if (list[k + 1].words.rfind("if", 0) == 0) ++conditions;
            if (list[k + 1].is("endif")) --conditions;
            const bool drops = list[k + 1].is("pragma") && list[k + 2].is("once");
            const bool includes = list[k + 1].is("include") && list[k + 2].what == opencl_c::kind::string;
            if (!drops && !includes) continue;
            const std::string path =
                includes ? folder + std::string(without_quotes(list[k + 2])) : std::string();
            if (includes && conditions > 0 && !exists(path))
                continue;  // presumably in a branch that is not taken
            std::size_t next = k + 1;
            while (!list[next].starts_line) ++next;
            made.append(words, at, list[k].offset - at);
            if (includes) made += included(path, list[k].where);
            made += fmt::format("\n#line {} \"{}\"\n", list[next].where.line, name);
            at = list[next].offset;
            refuse_size(made.size(), name);
        }
        made.append(words, at, std::string::npos);
        open_.pop_back();
        refuse_size(made.size(), name);
        return is_once ? guarded(made, name) : made;
    }

private:
    struct open_file {
        std::string name;
        bool is_guarded;  ///< it is empty when included again
    };

    static void refuse_size(std::size_t bytes, const std::string& name) {
        if (bytes > max_text_bytes)
            throw usage_error(
                fmt::format("'{}' and the files that it includes are larger than 64 MiB in total", name));
    }
    static bool exists(const std::string& path) {
        std::error_code ignored;
        return std::filesystem::exists(path, ignored);
    }
    /// Reading a pipe or a terminal would block.
    static bool is_regular(const std::string& path) {
        std::error_code ignored;
        return std::filesystem::is_regular_file(path, ignored);
    }
    static bool says_once(const tokens& list) {
        for (std::size_t k = 0; k + 2 < list.size(); ++k)
            if (list[k].starts_line && list[k].is("#") && list[k + 1].is("pragma") && list[k + 2].is("once"))
                return true;
        return false;
    }
    /// #ifndef X, #define X, …
    static bool has_guard(const tokens& list) {
        return list.size() > 6 && list[0].is("#") && list[1].is("ifndef") && list[3].is("#") &&
               list[4].is("define") && list[5].words == list[2].words;
    }
    static std::string guarded(const std::string& words, const std::string& name) {
        const std::string macro = "BALM_ONCE_" + to_hex(runtime::hasher().text(name).result());
        return fmt::format("#ifndef {0}\n#define {0}\n#line 1 \"{1}\"\n{2}\n#endif", macro, name, words);
    }
    std::string included(const std::string& path, const opencl_c::place& by) {
        const auto already = std::find_if(open_.begin(), open_.end(),
                                          [&](const open_file& each) { return each.name == path; });
        if (already != open_.end()) {
            if (already->is_guarded) return {};
            throw usage_error(
                fmt::format("{}: '{}' includes itself, through others or directly, and has no include "
                            "guard",
                            opencl_c::words(by), path));
        }
        if (exists(path) && !is_regular(path))
            throw usage_error(
                fmt::format("{}: '{}' is not a regular file", opencl_c::words(by), shortened_path(path)));
        if (++includes_ > max_includes)
            throw usage_error(
                fmt::format("{}: more than {} files are included (a file counts each time it is included)",
                            opencl_c::words(by), max_includes));
        const std::string words = read_file(path, fmt::format(", which {} includes,", opencl_c::words(by)));
        return fmt::format("#line 1 \"{}\"\n{}", path, resolve(words, path, folder_of(path)));
    }

    std::vector<open_file> open_;
    std::size_t includes_ = 0;
};

std::shared_ptr<const ir::named_text> checked_text(std::string_view words, const std::string& name,
                                                   const std::string& folder) {
    if (words.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos)
        throw usage_error(fmt::format("the OpenCL C text '{}' is empty", name));
    if (name.find_first_of("\"\\\n") != std::string::npos)
        throw usage_error("the name of a text contains a quote, a backslash or a newline");
    try {
        return std::make_shared<const ir::named_text>(
            ir::named_text{name, includer().resolve(std::string(words), name, folder)});
    } catch (const opencl_c::fault& f) {
        throw usage_error(fmt::format("this is not OpenCL C: {}", f.what()));
    }
}

}  // namespace

std::shared_ptr<const ir::named_text> make_text(std::string_view words, const std::string& name) {
    return checked_text(words, name, {});
}

std::shared_ptr<const ir::named_text> read_text(const std::string& path) {
    return checked_text(read_file(path, ""), path, folder_of(path));
}

}  // namespace balm::kernels
