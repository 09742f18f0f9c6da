// Parses and prints Matrix Market text. Follows the standard's rules, except that comments and blank lines
// may occur between entries, and that words are case-insensitive. What the standard leaves open, and the
// field names double and unsigned-integer, are read as SciPy 1.17's mmread reads them: an entry of a
// symmetric file may be in either triangle, and is always followed by its mirror image.

#include "algorithm/sparse/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <iterator>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "balm/complex_value.hpp"
#include "balm/error.hpp"
#include "balm/types.hpp"

namespace balm::array {

namespace {

constexpr std::string_view banner = "%%MatrixMarket matrix";
/// A matrix with more rows than this must have an entry for every 64 of them: row pointers would take more
/// memory than a short file suggests.
constexpr std::size_t many_rows = std::size_t{1} << 24, most_rows_of_entry = 64;

enum class market_field { real, integer, complex, pattern };
enum class market_symmetry { general, symmetric, skew_symmetric, hermitian };
constexpr std::array<std::string_view, 6> field_words{"real",    "double", "integer", "unsigned-integer",
                                                      "complex", "pattern"};
constexpr std::array<market_field, 6> fields_of_words{market_field::real,    market_field::real,
                                                      market_field::integer, market_field::integer,
                                                      market_field::complex, market_field::pattern};
constexpr std::array<std::string_view, 4> symmetry_words{"general", "symmetric", "skew-symmetric",
                                                         "hermitian"};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string lower_case(std::string_view word) {
    std::string made(word);
    for (char& c : made)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return made;
}

/// A word as shown in messages: printable and short.
std::string quoted(std::string_view word) {
    std::string made = "'";
    for (const char c : word.substr(0, 40)) made += c >= ' ' && c <= '~' ? c : '?';
    return made + (word.size() > 40 ? "…'" : "'");
}

/// Removes the first word from a line and returns it; empty at the end of the line.
std::string_view take_word(std::string_view& line) {
    const auto first = std::find_if_not(line.begin(), line.end(), is_space);
    const auto last = std::find_if(first, line.end(), is_space);
    const std::string_view word =
        line.substr(static_cast<std::size_t>(first - line.begin()), static_cast<std::size_t>(last - first));
    line.remove_prefix(static_cast<std::size_t>(last - line.begin()));
    return word;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a decimal number that no type holds is too small for all, rather than too large: the sign of its
/// leading digit's power of ten.
bool is_tiny(std::string_view word) {
    if (word.starts_with('-')) word.remove_prefix(1);
    constexpr std::int64_t most = std::int64_t{1} << 60;
    std::int64_t power = -1, exponent = 0;  // of the leading digit, without the exponent
    const std::size_t end = std::min(word.find_first_of("eE"), word.size());
    const std::size_t point = std::min(word.find('.'), end);
    const std::size_t leading = word.find_first_of("123456789");
    if (leading < end)
        power = leading < point ? static_cast<std::int64_t>(point - leading) - 1
                                : -static_cast<std::int64_t>(leading - point);
    std::string_view after = word.substr(end);
    if (!after.empty()) after.remove_prefix(1);
    const bool is_negative = after.starts_with('-');
    for (const char c : after)
        if (is_digit(c) && exponent < most / 16) exponent = exponent * 10 + (c - '0');
    return power + (is_negative ? -exponent : exponent) < 0;
}
/// The whole word as a number; none if it is not one. Sets `is_beyond` for numbers outside N's range. Numbers
/// too small for N become 0.
template <class N>
std::optional<N> parsed_number(std::string_view word, bool& is_beyond) {
    if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
    N number{};
    auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (end != word.data() + word.size() || fault == std::errc::invalid_argument) return std::nullopt;
    if constexpr (std::floating_point<N>)
        if (fault == std::errc::result_out_of_range && is_tiny(word)) {
            number = word.starts_with('-') ? N(-0.0) : N(0);
            fault = std::errc{};
        }
    is_beyond = fault != std::errc{};
    return number;
}
/// A number with Fortran's exponent, 1.5D+02, in C's words.
std::string with_exponent_of_c(std::string_view word) {
    std::string made(word);
    const std::size_t at = made.find_first_of("dD");
    if (at > 0 && at != std::string::npos && (is_digit(made[at - 1]) || made[at - 1] == '.')) made[at] = 'e';
    return made;
}

bool is_whole(std::string_view word) {
    if (word.starts_with('+') || word.starts_with('-')) word.remove_prefix(1);
    return !word.empty() && std::all_of(word.begin(), word.end(), is_digit);
}

template <class T>
class market_parser {
    static constexpr bool is_complex = balm::detail::is_complex_value<T>;

public:
    market_parser(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

    market_matrix<T> parse() {
        read_banner("coordinate", "array", "dense; read it with read_matrix_market_array");
        const std::int64_t count = read_sizes();
        const std::size_t size_line = number_;
        const auto most = static_cast<std::int64_t>(rest_.size() / 4 + 1);  // "1 1\n"
        const auto places = static_cast<std::size_t>(std::min(count, most)) * (is_general() ? 1 : 2);
        made_.row_indices.reserve(places);
        made_.column_indices.reserve(places);
        made_.values.reserve(places);
        for (std::int64_t k = 0; k < count; ++k) {
            if (!next_line()) fail(fmt::format("the file ends after {} of {} entries", k, count));
            read_entry();
        }
        if (next_line())
            fail(fmt::format("{} follows the {} entries that the size line announces", quoted(line_), count));
        number_ = size_line;
        check_rows();
        return std::move(made_);
    }

    market_array<T> parse_array() {
        read_banner("array", "coordinate", "sparse; read it with read_matrix_market");
        if (field_ == market_field::pattern) fail("a dense matrix (array) cannot be a pattern");
        read_extents();
        const std::size_t rows = made_.rows, columns = made_.columns;
        check_length(rows, columns);
        market_array<T> dense{rows, columns, std::vector<T>(rows * columns)};
        for (std::size_t c = 0; rows > 0 && c < columns; ++c)
            for (std::size_t r = first_row_of(c); r < rows; ++r) {
                if (!next_line())
                    fail(fmt::format("the file ends before element ({}, {}) of {} x {}", r + 1, c + 1, rows,
                                     columns));
                const T value = take_value();
                end_line("the element");
                if (symmetry_ == market_symmetry::hermitian && r == c) check_real(value);
                dense.values[r * columns + c] = value;
                if (!is_general() && r != c) dense.values[c * columns + r] = mirrored(value);
            }
        if (next_line()) fail(fmt::format("{} follows the last element", quoted(line_)));
        return dense;
    }

private:
    [[noreturn]] void fail(const std::string& why) const {
        throw usage_error(fmt::format("{}, line {}: {}", name_, std::max<std::size_t>(number_, 1), why));
    }

    /// Moves to the next line, if there is one.
    bool next_of_all_lines() {
        if (rest_.empty()) return false;
        line_ = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(std::min(line_.size() + 1, rest_.size()));
        ++number_;
        return true;
    }
    /// Moves to the next line that is neither blank nor a comment.
    bool next_line() {
        while (next_of_all_lines()) {
            const auto first = std::find_if_not(line_.begin(), line_.end(), is_space);
            if (first != line_.end() && *first != '%') return true;
        }
        return false;
    }
    std::string_view take(const char* what) {
        const std::string_view word = take_word(line_);
        if (word.empty()) fail(fmt::format("the line ends where {} is expected", what));
        return word;
    }
    void end_line(const char* what) {
        const std::string_view word = take_word(line_);
        if (!word.empty()) fail(fmt::format("{} follows {}", quoted(word), what));
    }

    template <std::size_t Count>
    std::size_t take_one_of(const std::array<std::string_view, Count>& words, const char* what) {
        const std::string_view word = take(what);
        const auto found = std::find(words.begin(), words.end(), lower_case(word));
        if (found == words.end())
            fail(fmt::format("{} is not {}: {}", quoted(word), what, fmt::join(words, ", ")));
        return static_cast<std::size_t>(found - words.begin());
    }

    void refuse_byte_order_mark() const {
        for (const std::string_view mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"})
            if (line_.starts_with(mark))
                fail(
                    "the file begins with a byte-order mark; save it as ASCII, or as UTF-8 without the mark");
    }
    /// `other` is the format that another function reads, in these words.
    void read_banner(std::string_view format, std::string_view other, const char* what_other_is) {
        if (!next_of_all_lines())
            fail(fmt::format("the file is empty; it must begin with {}", quoted(banner)));
        refuse_byte_order_mark();
        const std::string_view first = take_word(line_);
        if (lower_case(first) != "%%matrixmarket")
            fail(fmt::format("the file begins with {}; a Matrix Market file must begin with {}",
                             quoted(first), quoted(banner)));
        if (const std::string_view object = take("'matrix'"); lower_case(object) != "matrix")
            fail(fmt::format("the file holds {}, not 'matrix'", quoted(object)));
        const std::string_view word = take("the format");
        if (lower_case(word) == other)
            fail(fmt::format("a matrix of the format {} is {}", quoted(other), what_other_is));
        if (lower_case(word) != format)
            fail(fmt::format("the format {} is not {}", quoted(word), quoted(format)));
        const std::size_t field = take_one_of(field_words, "a field");
        field_ = fields_of_words[field];
        is_unsigned_ = field_words[field] == "unsigned-integer";
        symmetry_ = static_cast<market_symmetry>(take_one_of(symmetry_words, "a symmetry"));
        end_line("the symmetry");
        check_qualifiers();
    }
    void check_qualifiers() const {
        const bool negates = symmetry_ == market_symmetry::skew_symmetric;
        if (field_ == market_field::complex && !is_complex)
            fail(fmt::format("complex entries do not fit {}; read them as std::complex<double>",
                             type_words()));
        if (field_ == market_field::real && std::integral<T>)
            fail(fmt::format("real entries do not fit {}; read them as double", type_words()));
        if (negates && std::unsigned_integral<T>)
            fail(fmt::format("a skew-symmetric matrix has negative entries, which do not fit {}",
                             type_words()));
    }
    static std::string type_words() {
        if constexpr (is_complex)
            return fmt::format("std::complex<{}>", to_string(scalar_of<typename T::value_type>));
        else
            return to_string(scalar_of<T>);
    }

    bool is_general() const { return symmetry_ == market_symmetry::general; }

    /// Returns the number of entries.
    std::int64_t read_sizes() {
        if (!next_line()) fail("the file ends before the size line: rows, columns and entries");
        take_extents();
        const std::int64_t count = take_count("the number of entries");
        end_line("the sizes");
        return count;
    }
    void read_extents() {
        if (!next_line()) fail("the file ends before the size line: rows and columns");
        take_extents();
        end_line("the sizes");
    }
    void take_extents() {
        const std::int64_t rows = take_count("the number of rows");
        const std::int64_t columns = take_count("the number of columns");
        if (!is_general() && rows != columns)
            fail(fmt::format("a matrix of {} x {} cannot be {}", rows, columns,
                             symmetry_words[static_cast<std::size_t>(symmetry_)]));
        made_.rows = static_cast<std::size_t>(rows);
        made_.columns = static_cast<std::size_t>(columns);
    }
    void check_rows() const {
        if (made_.rows <= many_rows || made_.rows / most_rows_of_entry <= made_.values.size()) return;
        fail(fmt::format(
            "the matrix has {} rows and {} entries; of more than {} rows, Balm reads at most {} for "
            "each entry, since every row takes memory: leave out empty rows",
            made_.rows, made_.values.size(), many_rows, most_rows_of_entry));
    }
    /// Throws usage_error if the file cannot hold the elements, before they are given memory.
    void check_length(std::size_t rows, std::size_t columns) const {
        const auto all = static_cast<double>(rows) * static_cast<double>(columns);
        const double of_diagonal = is_general() ? 0 : static_cast<double>(rows);
        const double held = is_general()                                   ? all
                            : symmetry_ == market_symmetry::skew_symmetric ? (all - of_diagonal) / 2
                                                                           : (all + of_diagonal) / 2;
        if (held > static_cast<double>(rest_.size()))
            fail(fmt::format("the file is too short for the elements of a matrix of {} x {}", rows, columns));
    }
    /// The first row of a column that a dense file holds.
    std::size_t first_row_of(std::size_t column) const {
        if (is_general()) return 0;
        return symmetry_ == market_symmetry::skew_symmetric ? column + 1 : column;
    }
    std::int64_t take_count(const char* what) {
        const std::string_view word = take(what);
        bool is_beyond = false;
        const auto count = parsed_number<std::int64_t>(word, is_beyond);
        if (!count || is_beyond || *count < 0)
            fail(fmt::format("{} {} is not an integer from 0 to 2^63 - 1", what, quoted(word)));
        return *count;
    }

    void read_entry() {
        const std::int64_t row = take_index("the row", made_.rows);
        const std::int64_t column = take_index("the column", made_.columns);
        const T value = take_value();
        end_line("the entry");
        if (row == column) check_diagonal(value);
        add(row, column, value);
        if (!is_general() && row != column) add(column, row, mirrored(value));
    }
    void add(std::int64_t row, std::int64_t column, const T& value) {
        made_.row_indices.push_back(row);
        made_.column_indices.push_back(column);
        made_.values.push_back(value);
    }
    /// Indices in the file count from 1.
    std::int64_t take_index(const char* what, std::size_t end) {
        const std::string_view word = take(what);
        bool is_beyond = false;
        const auto index = parsed_number<std::int64_t>(word, is_beyond);
        if (!index || is_beyond || *index < 1 || std::cmp_greater(*index, end))
            fail(fmt::format("{} {} is not an integer from 1 to {}", what, quoted(word), end));
        return *index - 1;
    }
    void check_diagonal(const T& value) const {
        if (symmetry_ == market_symmetry::hermitian) check_real(value);
        if (symmetry_ == market_symmetry::skew_symmetric && value != T{})
            fail("an entry on the diagonal of a skew-symmetric matrix is not 0");
    }
    void check_real(const T& value) const {
        if constexpr (is_complex)
            if (value.imag() != 0)
                fail("an entry on the diagonal of a Hermitian matrix has an imaginary part other than 0");
    }

    T take_value() {
        if (field_ == market_field::pattern) return one();
        if constexpr (is_complex) {
            using part = typename T::value_type;
            const part real = take_number<part>("the entry's value");
            return {real, field_ == market_field::complex ? take_number<part>("the entry's imaginary part")
                                                          : part{}};
        } else {
            return take_number<T>("the entry's value");
        }
    }
    static T one() {
        if constexpr (is_complex)
            return {1, 0};
        else
            return T{1};
    }
    template <class N>
    N take_number(const char* what) {
        const std::string_view word = take(what);
        if (field_ == market_field::integer && !is_whole(word))
            fail(fmt::format("{} {} is not an integer", what, quoted(word)));
        if (is_unsigned_ && word.starts_with('-'))
            fail(fmt::format("{} {} is negative in a file of unsigned integers", what, quoted(word)));
        if constexpr (std::unsigned_integral<N>)
            if (word.starts_with('-')) fail_beyond<N>(what, word);
        bool is_beyond = false;
        auto number = parsed_number<N>(word, is_beyond);
        if (!number && std::floating_point<N>) number = parsed_number<N>(with_exponent_of_c(word), is_beyond);
        if (!number) fail(fmt::format("{} {} is not a number", what, quoted(word)));
        if (is_beyond) fail_beyond<N>(what, word);
        return *number;
    }
    template <class N>
    [[noreturn]] void fail_beyond(const char* what, std::string_view word) const {
        fail(fmt::format("{} {} is out of range for {}", what, quoted(word), to_string(scalar_of<N>)));
    }

    T mirrored(const T& value) const {
        const bool is_hermitian = symmetry_ == market_symmetry::hermitian;
        if (symmetry_ == market_symmetry::symmetric || (is_hermitian && !is_complex)) return value;
        if constexpr (is_complex) {
            return {is_hermitian ? value.real() : -value.real(), -value.imag()};
        } else {
            if (std::signed_integral<T> && value == std::numeric_limits<T>::min())
                fail(fmt::format("the mirror image of the entry {} is out of range for {}", value,
                                 type_words()));
            return static_cast<T>(-value);
        }
    }

    std::string_view rest_, line_;
    const std::string_view name_;
    std::size_t number_ = 0;
    market_field field_ = market_field::real;
    market_symmetry symmetry_ = market_symmetry::general;
    bool is_unsigned_ = false;
    market_matrix<T> made_;
};

template <class N>
void append_number(std::string& to, N number) {
    char digits[64];
    to.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}

}  // namespace

template <class T>
market_matrix<T> parse_matrix_market(std::string_view text, std::string_view name) {
    return market_parser<T>(text, name).parse();
}
template <class T>
market_array<T> parse_matrix_market_array(std::string_view text, std::string_view name) {
    return market_parser<T>(text, name).parse_array();
}

template <class T>
std::string matrix_market_head(std::size_t rows, std::size_t columns, std::size_t entries) {
    constexpr std::string_view field = balm::detail::is_complex_value<T> ? "complex"
                                       : std::integral<T>                ? "integer"
                                                                         : "real";
    return fmt::format("{} coordinate {} general\n{} {} {}\n", banner, field, rows, columns, entries);
}
template <class T>
void print_market_entry(std::string& to, std::int64_t row, std::int64_t column, const T& value) {
    append_number(to, row + 1);
    to += ' ';
    append_number(to, column + 1);
    to += ' ';
    if constexpr (balm::detail::is_complex_value<T>) {
        append_number(to, value.real());
        to += ' ';
        append_number(to, value.imag());
    } else {
        append_number(to, value);
    }
    to += '\n';
}

#define BALM_MARKET_OF(T)                                                                   \
    template market_matrix<T> parse_matrix_market(std::string_view, std::string_view);      \
    template market_array<T> parse_matrix_market_array(std::string_view, std::string_view); \
    template std::string matrix_market_head<T>(std::size_t, std::size_t, std::size_t);      \
    template void print_market_entry(std::string&, std::int64_t, std::int64_t, const T&);
BALM_MARKET_OF(std::int32_t)
BALM_MARKET_OF(std::uint32_t)
BALM_MARKET_OF(std::int64_t)
BALM_MARKET_OF(std::uint64_t)
BALM_MARKET_OF(float)
BALM_MARKET_OF(double)
BALM_MARKET_OF(complex_value<float>)
BALM_MARKET_OF(complex_value<double>)
#undef BALM_MARKET_OF

}  // namespace balm::array
