// Directives and macros (ISO/IEC 9899:1999, 6.10). A macro is not expanded again while its expansion is read;
// a token that names it meanwhile is final, wherever it is moved.

#include "text/preprocessor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace balm::opencl_c {

namespace {

struct macro {
    bool takes_arguments = false;
    bool is_variadic = false;
    bool is_open = false;  ///< its expansion is being read
    std::vector<std::string> parameters;
    tokens body;
};

/// The macros of an OpenCL C 1.2 compiler (OpenCL 1.2, 6.10, 6.12.2, 6.12.3). NVRTC has no literals for
/// infinity and NaN; bit casts are constant expressions, as program-scope variables require.
constexpr std::pair<const char*, const char*> predefined[] = {
    {"__OPENCL_VERSION__", "120"},
    {"__OPENCL_C_VERSION__", "120"},
    {"CL_VERSION_1_0", "100"},
    {"CL_VERSION_1_1", "110"},
    {"CL_VERSION_1_2", "120"},
    {"__ENDIAN_LITTLE__", "1"},
    {"__STDC_VERSION__", "199901L"},
    {"__kernel_exec(X, T)", "__kernel"},
    {"cl_khr_fp64", "1"},
    {"cl_khr_byte_addressable_store", "1"},
    {"cl_khr_global_int32_base_atomics", "1"},
    {"cl_khr_global_int32_extended_atomics", "1"},
    {"cl_khr_local_int32_base_atomics", "1"},
    {"cl_khr_local_int32_extended_atomics", "1"},
    {"cl_khr_int64_base_atomics", "1"},
    {"cl_khr_int64_extended_atomics", "1"},
    {"FP_FAST_FMAF", "1"},
    {"FP_FAST_FMA", "1"},
    {"NULL", "nullptr"},
    {"CLK_LOCAL_MEM_FENCE", "1"},
    {"CLK_GLOBAL_MEM_FENCE", "2"},
    {"INFINITY", "__builtin_bit_cast(float, 0x7f800000)"},
    {"HUGE_VALF", "__builtin_bit_cast(float, 0x7f800000)"},
    {"HUGE_VAL", "__builtin_bit_cast(double, 0x7ff0000000000000UL)"},
    {"NAN", "__builtin_bit_cast(float, 0x7fc00000)"},
    {"MAXFLOAT", "3.402823466e+38f"},
    {"FLT_DIG", "6"},
    {"FLT_MANT_DIG", "24"},
    {"FLT_MAX_10_EXP", "38"},
    {"FLT_MAX_EXP", "128"},
    {"FLT_MIN_10_EXP", "(-37)"},
    {"FLT_MIN_EXP", "(-125)"},
    {"FLT_RADIX", "2"},
    {"FLT_MAX", "3.402823466e+38f"},
    {"FLT_MIN", "1.175494351e-38f"},
    {"FLT_EPSILON", "1.192092896e-7f"},
    {"FP_ILOGB0", "(-2147483647 - 1)"},
    {"FP_ILOGBNAN", "2147483647"},
    {"DBL_DIG", "15"},
    {"DBL_MANT_DIG", "53"},
    {"DBL_MAX_10_EXP", "308"},
    {"DBL_MAX_EXP", "1024"},
    {"DBL_MIN_10_EXP", "(-307)"},
    {"DBL_MIN_EXP", "(-1021)"},
    {"DBL_RADIX", "2"},
    {"DBL_MAX", "1.7976931348623157e308"},
    {"DBL_MIN", "2.2250738585072014e-308"},
    {"DBL_EPSILON", "2.2204460492503131e-16"},
    {"CHAR_BIT", "8"},
    {"CHAR_MAX", "127"},
    {"CHAR_MIN", "(-128)"},
    {"SCHAR_MAX", "127"},
    {"SCHAR_MIN", "(-128)"},
    {"UCHAR_MAX", "255"},
    {"SHRT_MAX", "32767"},
    {"SHRT_MIN", "(-32768)"},
    {"USHRT_MAX", "65535"},
    {"INT_MAX", "2147483647"},
    {"INT_MIN", "(-2147483647 - 1)"},
    {"UINT_MAX", "0xffffffffu"},
    {"LONG_MAX", "0x7fffffffffffffffL"},
    {"LONG_MIN", "(-0x7fffffffffffffffL - 1)"},
    {"ULONG_MAX", "0xffffffffffffffffUL"},
    {"M_E_F", "2.71828182845904523536f"},
    {"M_LOG2E_F", "1.44269504088896340736f"},
    {"M_LOG10E_F", "0.43429448190325182765f"},
    {"M_LN2_F", "0.69314718055994530942f"},
    {"M_LN10_F", "2.30258509299404568402f"},
    {"M_PI_F", "3.14159265358979323846f"},
    {"M_PI_2_F", "1.57079632679489661923f"},
    {"M_PI_4_F", "0.78539816339744830962f"},
    {"M_1_PI_F", "0.31830988618379067154f"},
    {"M_2_PI_F", "0.63661977236758134308f"},
    {"M_2_SQRTPI_F", "1.12837916709551257390f"},
    {"M_SQRT2_F", "1.41421356237309504880f"},
    {"M_SQRT1_2_F", "0.70710678118654752440f"},
    {"M_E", "2.71828182845904523536"},
    {"M_LOG2E", "1.44269504088896340736"},
    {"M_LOG10E", "0.43429448190325182765"},
    {"M_LN2", "0.69314718055994530942"},
    {"M_LN10", "2.30258509299404568402"},
    {"M_PI", "3.14159265358979323846"},
    {"M_PI_2", "1.57079632679489661923"},
    {"M_PI_4", "0.78539816339744830962"},
    {"M_1_PI", "0.31830988618379067154"},
    {"M_2_PI", "0.63661977236758134308"},
    {"M_2_SQRTPI", "1.12837916709551257390"},
    {"M_SQRT2", "1.41421356237309504880"},
    {"M_SQRT1_2", "0.70710678118654752440"},
};

/// The value of an #if: C computes in the widest integer type.
struct number {
    std::uint64_t bits = 0;
    bool is_unsigned = false;

    std::int64_t value() const { return static_cast<std::int64_t>(bits); }
};

/// Evaluates the condition of an #if, with its macros already expanded.
class condition {
public:
    condition(const tokens& list, const place& where) : list_(list), where_(where) {}

    bool holds() {
        const number n = ternary();
        if (at_ != list_.size()) refuse(where_, "unexpected token after the end of this condition");
        return n.bits != 0;
    }

private:
    /// One level of recursion.
    class level {
    public:
        explicit level(condition& of) : depth_(of.depth_) {
            if (++depth_ > limits::condition_depth)
                refuse_excess(of.where_, fmt::format("this condition is nested deeper than {} levels",
                                                     limits::condition_depth));
        }
        ~level() { --depth_; }
        level(const level&) = delete;
        level& operator=(const level&) = delete;

    private:
        int& depth_;
    };

    bool next_is(std::string_view words) const { return at_ < list_.size() && list_[at_].is(words); }
    bool take(std::string_view words) {
        if (!next_is(words)) return false;
        ++at_;
        return true;
    }
    number ternary() {
        const level deeper(*this);
        const number c = binary(0);
        if (!take("?")) return c;
        const number a = ternary();
        if (!take(":")) refuse(where_, "this condition has a ? without a :");
        const number b = ternary();
        number r = c.bits ? a : b;
        r.is_unsigned = a.is_unsigned || b.is_unsigned;
        return r;
    }
    static int precedence(const token& t) {
        constexpr std::pair<std::string_view, int> table[] = {
            {"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5}, {"==", 6}, {"!=", 6}, {"<", 7},  {">", 7},
            {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9}, {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};
        for (const auto& row : table)
            if (t.is(row.first)) return row.second;
        return 0;
    }
    number binary(int least) {
        number left = unary();
        while (at_ < list_.size()) {
            const token& symbol = list_[at_];
            const int own = precedence(symbol);
            if (own == 0 || own <= least) break;
            ++at_;
            left = apply(symbol.words, left, binary(own));
        }
        return left;
    }
    number apply(const std::string& s, number a, number b) const {
        const bool u = a.is_unsigned || b.is_unsigned;
        const auto truth = [](bool t) { return number{t ? 1u : 0u, false}; };
        if (s == "||") return truth(a.bits || b.bits);
        if (s == "&&") return truth(a.bits && b.bits);
        if (s == "==") return truth(a.bits == b.bits);
        if (s == "!=") return truth(a.bits != b.bits);
        if (s == "<") return truth(u ? a.bits < b.bits : a.value() < b.value());
        if (s == ">") return truth(u ? a.bits > b.bits : a.value() > b.value());
        if (s == "<=") return truth(u ? a.bits <= b.bits : a.value() <= b.value());
        if (s == ">=") return truth(u ? a.bits >= b.bits : a.value() >= b.value());
        if (s == "<<") return {a.bits << (b.bits & 63), a.is_unsigned};
        if (s == ">>")
            return {a.is_unsigned ? a.bits >> (b.bits & 63)
                                  : static_cast<std::uint64_t>(a.value() >> (b.bits & 63)),
                    a.is_unsigned};
        if (s == "|") return {a.bits | b.bits, u};
        if (s == "^") return {a.bits ^ b.bits, u};
        if (s == "&") return {a.bits & b.bits, u};
        if (s == "+") return {a.bits + b.bits, u};
        if (s == "-") return {a.bits - b.bits, u};
        if (s == "*") return {a.bits * b.bits, u};
        if (b.bits == 0) {
            // Not an error if an earlier && or || already decides; C leaves it undefined, so 0 will do.
            return {0, u};
        }
        if (u) return {s == "/" ? a.bits / b.bits : a.bits % b.bits, u};
        if (b.value() == -1) return {s == "/" ? std::uint64_t{0} - a.bits : 0, u};
        return {static_cast<std::uint64_t>(s == "/" ? a.value() / b.value() : a.value() % b.value()), u};
    }
    number unary() {
        const level deeper(*this);
        if (take("!")) return {unary().bits == 0 ? 1u : 0u, false};
        if (take("+")) return unary();
        if (take("-")) {
            const number n = unary();
            return {std::uint64_t{0} - n.bits, n.is_unsigned};
        }
        if (take("~")) {
            const number n = unary();
            return {~n.bits, n.is_unsigned};
        }
        if (take("(")) {
            const number n = ternary();
            if (!take(")")) refuse(where_, "this condition lacks a closing )");
            return n;
        }
        if (at_ >= list_.size()) refuse(where_, "this condition is incomplete");
        const token& t = list_[at_++];
        number n;
        if (t.what == kind::identifier) return {t.words == "true" ? 1u : 0u, false};
        if (t.what == kind::character && t.words.size() == 3)
            return {static_cast<std::uint64_t>(t.words[1]), false};
        if (t.what == kind::number && integer_value(t.words, n.bits, n.is_unsigned)) return n;
        refuse(where_, fmt::format("'{}' is not valid in a condition", shortened(t.words)));
    }

    const tokens& list_;
    const place& where_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

class preprocessor {
public:
    preprocessor() {
        for (const auto& row : predefined) {
            const tokens name = split(row.first, "OpenCL");
            define({name.begin(), name.end() - 1}, split(row.second, "OpenCL"));
        }
    }

    tokens run(const ir::text_list& texts) {
        for (const auto& each : texts) text(*each);
        token last;
        last.where = result_.empty() ? place{} : result_.back().where;
        last.starts_line = true;
        result_.push_back(last);
        return std::move(result_);
    }

private:
    struct branch {
        bool taken = false;  ///< one of its branches was taken
        bool here = false;   ///< this branch is taken, and those around it
        bool has_else = false;
        place where;
    };

    bool active() const { return branches_.empty() || branches_.back().here; }

    void text(const ir::named_text& given) {
        tokens list = split(given.words, given.name);
        line_offset_ = 0;
        file_ = list.back().where.file;
        tokens run;
        for (std::size_t at = 0; list[at].what != kind::end;) {
            std::size_t end = at + 1;
            while (!list[end].starts_line) ++end;
            tokens line(list.begin() + static_cast<std::ptrdiff_t>(at),
                        list.begin() + static_cast<std::ptrdiff_t>(end));
            for (token& t : line) {
                t.where.line = static_cast<std::uint32_t>(t.where.line + line_offset_);
                t.where.file = file_;
            }
            if (line[0].is("#")) {
                append(std::exchange(run, {}));
                directive(line);
            } else if (active()) {
                run.insert(run.end(), line.begin(), line.end());
            }
            at = end;
        }
        append(std::move(run));
        if (!branches_.empty()) refuse(branches_.back().where, "this #if has no #endif");
    }
    void append(tokens list) {
        if (list.empty()) return;
        const place where = list[0].where;
        expand_into(std::move(list), result_);
        if (result_.size() > limits::tokens)
            refuse_excess(where, fmt::format("the program has more than {} tokens", limits::tokens));
    }

    void directive(const tokens& line) {
        if (line.size() == 1) return;
        const std::string& name = line[1].words;
        const place& where = line[0].where;
        const tokens rest(line.begin() + 2, line.end());
        if (name == "if" || name == "ifdef" || name == "ifndef") return open(name, rest, where);
        if (name == "elif" || name == "else" || name == "endif") return next_branch(name, rest, where);
        if (!active()) return;
        if (name == "define") {
            if (rest.empty() || !rest[0].is_word()) refuse(where, "#define needs a macro name");
            const bool has_list = rest.size() > 1 && rest[1].is("(") && !rest[1].spaced;
            std::size_t body = 1;
            if (has_list)
                while (body < rest.size() && !rest[body++].is(")")) {
                }
            tokens replacement(rest.begin() + static_cast<std::ptrdiff_t>(body), rest.end());
            replacement.emplace_back();
            define({rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(body)}, replacement);
        } else if (name == "undef") {
            if (rest.empty()) refuse(where, "#undef needs a macro name");
            macros_.erase(rest[0].words);
        } else if (name == "error") {
            std::string message;
            for (const token& t : rest) message += (t.spaced && !message.empty() ? " " : "") + t.words;
            refuse(where, "#error " + message);
        } else if (name == "pragma") {
            pragma(rest, line);
        } else if (name == "line") {
            std::uint64_t number = 0;
            bool ignored = false;
            if (rest.empty() || !integer_value(rest[0].words, number, ignored) || number > limits::last_line)
                refuse(where, fmt::format("#line needs a line number between 0 and {}", limits::last_line));
            line_offset_ += static_cast<std::int64_t>(number) - static_cast<std::int64_t>(where.line) - 1;
            if (rest.size() > 1 && rest[1].what == kind::string)
                file_ = std::make_shared<const std::string>(without_quotes(rest[1]));
        } else if (name == "include") {
            refuse(where,
                   "this #include cannot be resolved; only files in quotes are supported, relative to the "
                   "folder of the including text");
        } else if (name != "warning") {
            refuse(where, fmt::format("'#{}' is not a directive of OpenCL C", shortened(name)));
        }
    }

    /// Keeps unrolling; OpenCL's pragmas for extensions and contraction have no meaning for CUDA.
    void pragma(const tokens& rest, const tokens& line) {
        if (rest.empty() || !rest[0].is("unroll")) return;
        for (std::size_t k = 0; k < line.size(); ++k) {
            if (k < 2) {
                result_.push_back(line[k]);
            } else {
                append({line[k]});
            }
        }
    }

    void open(const std::string& name, const tokens& rest, const place& where) {
        branch b;
        b.where = where;
        if (active()) {
            if (name == "if") {
                b.here = evaluate(rest, where);
            } else {
                if (rest.empty()) refuse(where, fmt::format("#{} needs a macro name", name));
                b.here = (macros_.count(rest[0].words) > 0) == (name == "ifdef");
            }
            b.taken = b.here;
        } else {
            b.taken = true;  // so that none of its branches is taken
        }
        branches_.push_back(b);
    }
    void next_branch(const std::string& name, const tokens& rest, const place& where) {
        if (branches_.empty()) refuse(where, fmt::format("#{} without an #if", name));
        branch b = branches_.back();
        branches_.pop_back();
        if (name == "endif") return;
        if (b.has_else) refuse(where, fmt::format("#{} follows an #else", name));
        b.has_else = name == "else";
        b.here = !b.taken && active() && (name == "else" || evaluate(rest, where));
        b.taken = b.taken || b.here;
        branches_.push_back(b);
    }
    bool evaluate(const tokens& given, const place& where) {
        tokens list;
        for (std::size_t k = 0; k < given.size(); ++k) {
            if (!given[k].is("defined")) {
                list.push_back(given[k]);
                continue;
            }
            const bool bracket = k + 1 < given.size() && given[k + 1].is("(");
            const std::size_t at = k + (bracket ? 2 : 1);
            if (at >= given.size()) refuse(where, "'defined' needs a macro name");
            token t = given[at];
            t.what = kind::number;
            t.words = macros_.count(given[at].words) ? "1" : "0";
            list.push_back(t);
            k = at + (bracket ? 1 : 0);
        }
        tokens expanded;
        expand_into(std::move(list), expanded);
        return condition(expanded, where).holds();
    }

    // ---- macros

    /// The head is `name` or `name(a, b, ...)`, the body ends with kind::end.
    void define(const tokens& head, const tokens& body) {
        const auto damaged = [&](const char* why) {
            refuse(head[0].where,
                   fmt::format("the parameters of macro '{}' {}", shortened(head[0].words), why));
        };
        macro m;
        m.takes_arguments = head.size() > 1;
        if (m.takes_arguments && !head.back().is(")")) damaged("have no closing )");
        for (std::size_t k = 2; k + 1 < head.size(); ++k) {
            if (m.is_variadic || head[k].is(",") != (k % 2 == 1)) damaged("are malformed");
            if (head[k].is(",")) continue;
            m.is_variadic = head[k].is("...");
            if (!m.is_variadic && !head[k].is_word()) damaged("are malformed");
            m.parameters.push_back(m.is_variadic ? "__VA_ARGS__" : head[k].words);
        }
        if (head.size() > 3 && head.size() % 2 == 1) damaged("are malformed");  // a comma before the )
        if (m.parameters.size() > limits::macro_parameters)
            refuse_excess(head[0].where, fmt::format("macro '{}' has more than {} parameters",
                                                     shortened(head[0].words), limits::macro_parameters));
        m.body.assign(body.begin(), body.end() - 1);
        macros_[head[0].words] = std::move(m);
    }

    /// The tokens still to be read, the next one last, and the macros whose expansions are being read.
    struct reading {
        struct expansion {
            macro* of;
            std::size_t rest;  ///< it has been read when at most this many tokens are left
        };
        tokens list;
        std::vector<expansion> open;
    };
    /// The next token, null after the last; closes expansions that have been read to their end.
    static token* ahead(reading& from) {
        while (!from.open.empty() && from.list.size() <= from.open.back().rest) {
            from.open.back().of->is_open = false;
            from.open.pop_back();
        }
        return from.list.empty() ? nullptr : &from.list.back();
    }
    static token take(reading& from) {
        token t = std::move(from.list.back());
        from.list.pop_back();
        return t;
    }
    /// Counts every token that a macro consumes or produces, long ones several times.
    void spend(const token& t, const token& macro_name) {
        spent_ += 1 + t.words.size() / 64;
        if (spent_ > limits::expanded)
            refuse_excess(macro_name.where, fmt::format("the macros of the program expand to more than {} "
                                                        "tokens; the last is '{}'",
                                                        limits::expanded, shortened(macro_name.words)));
    }

    /// Expands every macro of the list, which contains no directives.
    void expand_into(tokens list, tokens& out) {
        std::reverse(list.begin(), list.end());
        reading from{std::move(list), {}};
        while (ahead(from)) {
            token t = take(from);
            if (t.what != kind::identifier || t.is_final) {
                out.push_back(std::move(t));
                continue;
            }
            if (t.words == "__LINE__" || t.words == "__FILE__") {
                const bool line = t.words == "__LINE__";
                t.what = line ? kind::number : kind::string;
                t.words = line ? std::to_string(t.where.line) : "\"" + *t.where.file + "\"";
                out.push_back(std::move(t));
                continue;
            }
            const auto found = macros_.find(t.words);
            if (found == macros_.end()) {
                out.push_back(std::move(t));
                continue;
            }
            macro& m = found->second;
            t.is_final = m.is_open;
            const token* next = m.is_open || !m.takes_arguments ? nullptr : ahead(from);
            if (m.is_open || (m.takes_arguments && (!next || !next->is("(")))) {
                out.push_back(std::move(t));
                continue;
            }
            tokens made = m.takes_arguments ? call(m, t, from) : substituted(m, {}, t);
            if (!made.empty()) {
                made[0].spaced = t.spaced;
                made[0].starts_line = t.starts_line;
            }
            m.is_open = true;
            from.open.push_back({&m, from.list.size()});
            from.list.insert(from.list.end(), std::make_move_iterator(made.rbegin()),
                             std::make_move_iterator(made.rend()));
        }
    }

    tokens call(const macro& m, const token& name, reading& from) {
        take(from);  // (
        std::vector<tokens> arguments(1);
        int depth = 0;
        while (true) {
            if (!ahead(from))
                refuse(name.where,
                       fmt::format("the arguments of macro '{}' have no closing )", shortened(name.words)));
            token t = take(from);
            spend(t, name);
            if (depth == 0 && t.is(")")) break;
            if (t.is("(")) ++depth;
            if (t.is(")")) --depth;
            const bool ends_one =
                depth == 0 && t.is(",") && !(m.is_variadic && arguments.size() == m.parameters.size());
            if (ends_one) {
                arguments.emplace_back();
                continue;
            }
            t.starts_line = false;
            arguments.back().push_back(std::move(t));
        }
        if (m.parameters.empty() && arguments.size() == 1 && arguments[0].empty()) arguments.clear();
        if (m.is_variadic && arguments.size() + 1 == m.parameters.size()) arguments.emplace_back();
        if (arguments.size() != m.parameters.size())
            refuse(name.where, fmt::format("macro '{}' takes {} arguments, but gets {}",
                                           shortened(name.words), m.parameters.size(), arguments.size()));
        return substituted(m, arguments, name);
    }

    /// An argument with its own macros expanded.
    tokens expanded(const tokens& argument, const token& name) {
        if (depth_ == limits::macro_depth)
            refuse_excess(name.where,
                          fmt::format("macro calls in macro arguments are nested more than {} deep",
                                      limits::macro_depth));
        ++depth_;
        tokens list;
        expand_into(argument, list);
        --depth_;
        return list;
    }

    tokens substituted(const macro& m, const std::vector<tokens>& arguments, const token& name) {
        std::vector<std::optional<tokens>> expansions(arguments.size());
        const auto parameter = [&](const token& t) {
            if (!t.is_word()) return m.parameters.size();
            const auto at = std::find(m.parameters.begin(), m.parameters.end(), t.words);
            return static_cast<std::size_t>(at - m.parameters.begin());
        };
        tokens made;
        bool pastes = false;
        std::size_t left = 0;  // where the operands of ## begin: they may be empty
        const auto append = [&](const tokens& part) {
            if (!pastes) left = made.size();
            for (const token& t : part) {
                spend(t, name);
                if (std::exchange(pastes, false) && made.size() > left) {
                    paste(made.back(), t);
                    spend(made.back(), name);
                } else {
                    made.push_back(t);
                }
            }
            pastes = false;
        };
        for (std::size_t k = 0; k < m.body.size(); ++k) {
            token t = m.body[k];
            t.where = name.where;
            t.starts_line = false;
            const bool next_pastes = k + 1 < m.body.size() && m.body[k + 1].is("##");
            if (t.is("##")) {
                pastes = true;
            } else if (t.is("#") && m.takes_arguments) {
                const std::size_t which =
                    k + 1 < m.body.size() ? parameter(m.body[k + 1]) : m.parameters.size();
                if (which == m.parameters.size())
                    refuse(name.where, fmt::format("macro '{}' has a # that is not followed by a parameter",
                                                   shortened(name.words)));
                append({stringized(arguments[which], t)});
                ++k;
            } else if (const std::size_t which = parameter(t); which < m.parameters.size()) {
                const bool as_given = pastes || next_pastes;
                if (!as_given && !expansions[which]) expansions[which] = expanded(arguments[which], name);
                const std::size_t first = made.size();
                append(as_given ? arguments[which] : *expansions[which]);
                if (made.size() > first) made[first].spaced = t.spaced;
            } else {
                append({t});
            }
        }
        return made;
    }

    static void paste(token& left, const token& right) {
        const std::string words = left.words + right.words;
        const bool is_comment = words.rfind("//", 0) == 0 || words.rfind("/*", 0) == 0;
        const tokens joined = is_comment ? tokens() : split(words, *left.where.file);
        if (joined.size() != 2)
            refuse(left.where, fmt::format("'{}' ## '{}' does not form a single token", shortened(left.words),
                                           shortened(right.words)));
        left.what = joined[0].what;
        left.words = joined[0].words;
        left.is_final = false;
    }
    static token stringized(const tokens& list, const token& at) {
        token t = at;
        t.what = kind::string;
        t.words = "\"";
        for (const token& each : list) {
            if (each.spaced && t.words.size() > 1) t.words += ' ';
            for (const char c : each.words) {
                const bool quoted = each.what == kind::string || each.what == kind::character;
                if (quoted && (c == '"' || c == '\\')) t.words += '\\';
                t.words += c;
            }
        }
        t.words += '"';
        return t;
    }

    std::map<std::string, macro> macros_;
    std::vector<branch> branches_;
    tokens result_;
    std::shared_ptr<const std::string> file_;
    std::int64_t line_offset_ = 0;
    std::size_t spent_ = 0;  ///< tokens that macros have consumed and produced
    int depth_ = 0;          ///< nested arguments that are being expanded
};

}  // namespace

tokens preprocess(const ir::text_list& texts) { return preprocessor().run(texts); }

}  // namespace balm::opencl_c
