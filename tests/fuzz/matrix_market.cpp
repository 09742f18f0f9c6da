// Bytes as a Matrix Market file, read in each type. What is read lies in the matrix, takes no more entries
// than the file has lines for, and is the same once it was written and read again; what is refused is refused
// by a short sentence that names the line.

#include <cstdint>
#include <string>
#include <string_view>

#include "algorithm/sparse/matrix_market.hpp"
#include "balm/complex_value.hpp"
#include "balm/error.hpp"
#include "fuzz/fuzz.hpp"

namespace {

using balm::array::market_matrix;
using balm::fuzz::expect;

template <class T>
bool is_same(T a, T b) {
    if constexpr (balm::detail::is_complex_value<T>)
        return is_same(a.real(), b.real()) && is_same(a.imag(), b.imag());
    else
        return a == b || (a != a && b != b);  // NaN
}

template <class T>
std::string print(const market_matrix<T>& m) {
    std::string text = balm::array::matrix_market_head<T>(m.rows, m.columns, m.values.size());
    for (std::size_t k = 0; k < m.values.size(); ++k)
        balm::array::print_market_entry(text, m.row_indices[k], m.column_indices[k], m.values[k]);
    return text;
}

void check_refusal(std::string_view words, std::string_view text) {
    expect(words.starts_with("f.mtx, line "), "a refusal names the file and the line", words);
    expect(words.size() < 400, "a refusal is short", words);
    for (const char c : words)
        expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a refusal is one line", words);
    std::size_t lines = 1;
    for (const char c : text) lines += c == '\n';
    expect(std::stoull(std::string(words.substr(12))) <= lines, "the line is one of the file", words);
}

template <class T>
void read_as(std::string_view text) {
    market_matrix<T> m;
    try {
        m = balm::array::parse_matrix_market<T>(text, "f.mtx");
    } catch (const balm::usage_error& refused) {
        return check_refusal(refused.what(), text);
    }
    const std::size_t entries = m.values.size();
    expect(m.row_indices.size() == entries && m.column_indices.size() == entries, "an entry has two indices");
    expect(entries * 2 <= text.size(), "an entry, or its mirror image, takes bytes of the file");
    for (std::size_t k = 0; k < entries; ++k) {
        expect(m.row_indices[k] >= 0 && static_cast<std::size_t>(m.row_indices[k]) < m.rows,
               "rows are inside");
        expect(m.column_indices[k] >= 0 && static_cast<std::size_t>(m.column_indices[k]) < m.columns,
               "columns are inside");
    }
    const std::string written = print(m);
    const auto again = balm::array::parse_matrix_market<T>(written, "again.mtx");
    expect(again.rows == m.rows && again.columns == m.columns && again.row_indices == m.row_indices &&
               again.column_indices == m.column_indices,
           "what is written has its entries in their places", written);
    for (std::size_t k = 0; k < entries; ++k)
        expect(is_same(again.values[k], m.values[k]), "what is written keeps its values", written);
}

template <class T>
void read_dense_as(std::string_view text) {
    try {
        const auto m = balm::array::parse_matrix_market_array<T>(text, "f.mtx");
        expect(m.values.size() == m.rows * m.columns, "there is an element for each row and column");
        expect(m.values.size() <= 2 * text.size() + m.rows,
               "an element, or its mirror image, takes bytes of the file");
    } catch (const balm::usage_error& refused) {
        check_refusal(refused.what(), text);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    read_as<std::int32_t>(text);
    read_as<std::uint64_t>(text);
    read_as<float>(text);
    read_as<double>(text);
    read_as<balm::complex_value<double>>(text);
    read_dense_as<std::uint32_t>(text);
    read_dense_as<float>(text);
    read_dense_as<balm::complex_value<double>>(text);
    return 0;
}
