// Matrix Market text, files that are damaged, and matrices that are written and read again.

#include "algorithm/sparse/matrix_market.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <clocale>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/scratch_directory.hpp"
#include "support/sparse_matrices.hpp"
#include "support/sparse_storages.hpp"

namespace balm::test {

namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Each entry as "row column value", from 0.
template <class T>
std::vector<std::string> entries_of(const std::string& text) {
    const array::market_matrix<T> m = array::parse_matrix_market<T>(text, "m.mtx");
    std::vector<std::string> list;
    for (std::size_t k = 0; k < m.values.size(); ++k) {
        std::string line;
        array::print_market_entry(line, m.row_indices[k] - 1, m.column_indices[k] - 1, m.values[k]);
        list.push_back(line.substr(0, line.size() - 1));
    }
    return list;
}
using lines = std::vector<std::string>;
using complex = complex_value<double>;

const std::string head = "%%MatrixMarket matrix coordinate ";

TEST(V11_matrix_market, fields_are_read_in_types_that_hold_them) {
    EXPECT_EQ(entries_of<double>(head + "real general\n2 3 2\n1 1 -1.5\n2 3 +2e3\n"),
              (lines{"0 0 -1.5", "1 2 2000"}));
    EXPECT_EQ(entries_of<complex>(head + "real general\n2 3 1\n1 1 -1.5\n"), (lines{"0 0 -1.5 0"}));
    EXPECT_EQ(entries_of<std::int32_t>(head + "integer general\n1 1 2\n1 1 -2147483648\n1 1 +7"),
              (lines{"0 0 -2147483648", "0 0 7"}));
    EXPECT_EQ(entries_of<std::uint64_t>(head + "integer general\n1 1 1\n1 1 18446744073709551615"),
              (lines{"0 0 18446744073709551615"}));
    EXPECT_EQ(entries_of<float>(head + "integer general\n1 1 1\n1 1 -12"), (lines{"0 0 -12"}));
    EXPECT_EQ(entries_of<complex>(head + "complex general\n1 1 1\n1 1 1 -2"), (lines{"0 0 1 -2"}));
    EXPECT_EQ(entries_of<std::uint32_t>(head + "pattern general\n1 1 1\n1 1"), (lines{"0 0 1"}));
    EXPECT_EQ(entries_of<complex>(head + "pattern general\n1 1 1\n1 1"), (lines{"0 0 1 0"}));
    EXPECT_EQ(entries_of<double>(head + "real general\n0 0 0\n"), lines{});
}

TEST(V11_matrix_market, of_symmetric_matrices_both_triangles_are_read) {
    EXPECT_EQ(entries_of<double>(head + "real symmetric\n2 2 2\n1 1 4\n2 1 5"),
              (lines{"0 0 4", "1 0 5", "0 1 5"}));
    EXPECT_EQ(entries_of<float>(head + "pattern symmetric\n2 2 1\n2 1"), (lines{"1 0 1", "0 1 1"}));
    EXPECT_EQ(entries_of<std::int32_t>(head + "integer skew-symmetric\n2 2 1\n2 1 5"),
              (lines{"1 0 5", "0 1 -5"}));
    EXPECT_EQ(entries_of<complex>(head + "complex symmetric\n2 2 1\n2 1 5 6"), (lines{"1 0 5 6", "0 1 5 6"}));
    EXPECT_EQ(entries_of<complex>(head + "complex skew-symmetric\n2 2 1\n2 1 5 6"),
              (lines{"1 0 5 6", "0 1 -5 -6"}));
    EXPECT_EQ(entries_of<complex>(head + "complex hermitian\n2 2 2\n1 1 3 0\n2 1 5 6"),
              (lines{"0 0 3 0", "1 0 5 6", "0 1 5 -6"}));
}

template <class T>
std::string refused(const std::string& text) {
    return message_of<usage_error>([&] { array::parse_matrix_market<T>(text, "m.mtx"); });
}
void expect_refused(const std::string& text, int line, const std::string& why) {
    EXPECT_THAT(refused<double>(text),
                AllOf(StartsWith("m.mtx, line " + std::to_string(line) + ": "), HasSubstr(why)));
}

/// What SciPy 1.17's mmread reads beyond the standard.
TEST(V11_matrix_market, is_read_as_scipy_reads_it) {
    // Entries in either triangle, or in both, which then add up.
    EXPECT_EQ(entries_of<double>(head + "real symmetric\n2 2 2\n1 2 5\n2 1 7\n"),
              (lines{"0 1 5", "1 0 5", "1 0 7", "0 1 7"}));
    EXPECT_EQ(entries_of<double>(head + "real skew-symmetric\n2 2 2\n1 1 0\n1 2 7\n"),
              (lines{"0 0 0", "0 1 7", "1 0 -7"}));
    EXPECT_EQ(entries_of<complex>(head + "complex hermitian\n2 2 1\n1 2 7 1\n"),
              (lines{"0 1 7 1", "1 0 7 -1"}));
    EXPECT_EQ(entries_of<double>(head + "pattern skew-symmetric\n2 2 1\n2 1\n"), (lines{"1 0 1", "0 1 -1"}));
    EXPECT_EQ(entries_of<double>(head + "real hermitian\n2 2 1\n2 1 3\n"), (lines{"1 0 3", "0 1 3"}));
    EXPECT_EQ(entries_of<double>(head + "double general\n2 2 1\n1 2 1.5\n"), (lines{"0 1 1.5"}));
    EXPECT_EQ(entries_of<std::uint64_t>(head + "unsigned-integer general\n2 2 1\n1 2 18446744073709551615\n"),
              (lines{"0 1 18446744073709551615"}));
}

TEST(V11_matrix_market, exponents_may_be_those_of_fortran) {
    const std::string real = head + "real general\n1 1 1\n1 1 ";
    for (const char* const number : {"1.5D+02", "1.5d2", "+1.5D2", "150.D0", "1.5e+02"})
        EXPECT_EQ(entries_of<double>(real + number), lines{"0 0 150"}) << number;
    EXPECT_EQ(entries_of<float>(real + "-1D-60"), lines{"0 0 -0"});
    expect_refused(real + "D2", 3, "the entry's value 'D2' is not a number");
    expect_refused(real + "1D", 3, "the entry's value '1D' is not a number");
    expect_refused(real + "1DD2", 3, "is not a number");
}

TEST(V11_matrix_market, too_small_numbers_are_zero_in_every_type) {
    const std::string real = head + "real general\n1 1 1\n1 1 ";
    const std::string long_zeros = "0." + std::string(400, '0') + "1", long_number = std::string(400, '9');
    for (const std::string& tiny : {std::string("1e-400"), std::string("1e-99999999999999999999"), long_zeros,
                                    long_number + "e-1000", std::string("0.001e-5000")}) {
        EXPECT_EQ(entries_of<double>(real + tiny), lines{"0 0 0"}) << tiny;
        EXPECT_EQ(entries_of<float>(real + "-" + tiny), lines{"0 0 -0"}) << tiny;
        EXPECT_EQ(entries_of<complex>(head + "complex general\n1 1 1\n1 1 " + tiny + " -" + tiny),
                  lines{"0 0 0 -0"})
            << tiny;
    }
    EXPECT_EQ(entries_of<float>(real + "1e-50"), lines{"0 0 0"});
    EXPECT_EQ(entries_of<double>(real + "0e99999"), lines{"0 0 0"});
    for (const std::string& huge :
         {std::string("1e999"), std::string("1e99999999999999999999"), long_number, long_zeros + "e9000"})
        expect_refused(real + huge, 3, "is out of range for f64");
}

TEST(V11_matrix_market, empty_rows_are_read_within_reason) {
    // Nothing is allocated for rows before the number of entries is known.
    expect_refused(head + "real general\n2147483648 2 2\n1 1 1\n2 2 2\n", 2,
                   "the matrix has 2147483648 rows and 2 entries");
    const auto m =
        array::parse_matrix_market<double>(head + "real general\n16777216 2 1\n16777216 1 3\n", "m.mtx");
    EXPECT_EQ(m.rows, 16777216u);
    EXPECT_EQ(m.row_indices, (std::vector<std::int64_t>{16777215}));
}

const std::string dense_head = "%%MatrixMarket matrix array ";
template <class T>
std::vector<T> elements_of(const std::string& text, std::size_t rows, std::size_t columns) {
    const array::market_array<T> m = array::parse_matrix_market_array<T>(text, "m.mtx");
    EXPECT_EQ(m.rows, rows);
    EXPECT_EQ(m.columns, columns);
    return m.values;
}
void expect_refused_array(const std::string& text, int line, const std::string& why) {
    EXPECT_THAT(message_of<usage_error>([&] { array::parse_matrix_market_array<double>(text, "m.mtx"); }),
                AllOf(StartsWith("m.mtx, line " + std::to_string(line) + ": "), HasSubstr(why)));
}

TEST(V11_matrix_market, dense_files_are_read_by_rows) {
    EXPECT_EQ(elements_of<double>(dense_head + "real general\n2 3\n1\n2\n3\n% c\n4\n\n5\n6\n", 2, 3),
              (std::vector<double>{1, 3, 5, 2, 4, 6}));
    EXPECT_EQ(elements_of<float>(dense_head + "real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", 3, 3),
              (std::vector<float>{1, 2, 3, 2, 4, 5, 3, 5, 6}));
    EXPECT_EQ(elements_of<std::int32_t>(dense_head + "integer skew-symmetric\n3 3\n1\n2\n3\n", 3, 3),
              (std::vector<std::int32_t>{0, -1, -2, 1, 0, -3, 2, 3, 0}));
    EXPECT_EQ(elements_of<complex>(dense_head + "complex hermitian\n2 2\n1 0\n2 3\n4 0\n", 2, 2),
              (std::vector<complex>{{1, 0}, {2, -3}, {2, 3}, {4, 0}}));
    EXPECT_EQ(elements_of<double>(dense_head + "real general\n0 7\n", 0, 7), std::vector<double>{});
    EXPECT_EQ(elements_of<double>(dense_head + "real skew-symmetric\n1 1\n", 1, 1), std::vector<double>{0});
}

TEST(V11_matrix_market, damaged_dense_files_are_refused) {
    expect_refused_array(dense_head + "real general\n2 2\n1\n2\n3\n", 5,
                         "the file ends before element (2, 2) of 2 x 2");
    expect_refused_array(dense_head + "real general\n2 2\n1\n2\n3\n4\n5\n", 7,
                         "'5' follows the last element");
    expect_refused_array(dense_head + "real general\n2 2\n1 2\n3 4\n", 3, "'2' follows the element");
    expect_refused_array(dense_head + "real general\n2 2 4\n", 2, "'4' follows the sizes");
    expect_refused_array(dense_head + "real general\n", 1,
                         "the file ends before the size line: rows and columns");
    expect_refused_array(dense_head + "pattern general\n2 2\n", 1,
                         "a dense matrix (array) cannot be a pattern");
    expect_refused_array(dense_head + "real symmetric\n2 3\n", 2, "a matrix of 2 x 3 cannot be symmetric");
    expect_refused_array(dense_head + "real general\n4000000000 4000000000\n1\n", 2,
                         "the file is too short for the elements of a matrix of 4000000000 x 4000000000");
    expect_refused_array(head + "real general\n1 1 0\n", 1,
                         "a matrix of the format 'coordinate' is sparse; read it with read_matrix_market");
}

TEST(V11_matrix_market, dense_files_may_have_no_elements) {
    const scratch_directory folder;
    const std::string path = folder / "empty.mtx";
    on_all_contexts([&](const context& ctx) {
        for (const char* extents : {"0 4000000000", "4000000000 0", "0 0"}) {
            std::ofstream(path) << dense_head << "real general\n" << extents << "\n";
            EXPECT_EQ(read_matrix_market_array<float>(ctx, path).values.size(), 0u) << extents;
        }
    });
}

TEST(V11_matrix_market, dense_files_are_operands_of_products) {
    const scratch_directory folder;
    const std::string path = folder / "b.mtx";
    std::ofstream(path) << dense_head << "real general\n2 3\n1\n2\n3\n4\n5\n6\n";
    on_all_contexts([&](const context& ctx) {
        const auto B = read_matrix_market_array<float>(ctx, path);
        const sparse_matrix<float> A(ctx, 1, 2, std::vector<int>{0, 2}, std::vector<int>{0, 1},
                                     std::vector<float>{1, 10});
        vector<float> y(ctx, 3);
        y = A * view(B.values, {B.rows, B.columns});
        const auto got = y.to_host();
        EXPECT_EQ(std::vector<float>(got.begin(), got.end()), (std::vector<float>{21, 43, 65}));
    });
}

TEST(V11_matrix_market, pipes_are_read) {
    const scratch_directory folder;
    const std::string path = folder / "pipe.mtx";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    const context ctx;
    std::thread writer([&] { std::ofstream(path) << head << "real general\n2 2 1\n2 1 5\n"; });
    const auto A = read_matrix_market<float>(ctx, path);
    writer.join();
    EXPECT_EQ(to_csr(A).values, std::vector<float>{5});
}

TEST(V11_matrix_market, comments_blank_lines_cases_and_ends_of_lines_do_not_matter) {
    EXPECT_EQ(entries_of<double>("%%matrixmarket MATRIX Coordinate Real GENERAL\r\n% a comment\r\n\r\n%\r\n"
                                 " 2\t2 2 \r\n\r\n1 1 1\r\n  % another\r\n2  2   2\r\n\r\n\r\n"),
              (lines{"0 0 1", "1 1 2"}));
}

TEST(V11_matrix_market, numbers_are_those_of_the_type_in_any_locale) {
    const std::string real = head + "real general\n1 1 1\n1 1 ";
    EXPECT_EQ(entries_of<double>(real + "-inf"), lines{"0 0 -inf"});
    EXPECT_EQ(entries_of<float>(real + "NaN"), lines{"0 0 nan"});
    EXPECT_EQ(entries_of<double>(real + "-0.0"), lines{"0 0 -0"});
    EXPECT_EQ(entries_of<double>(real + "4.9e-324"), lines{"0 0 5e-324"});
    EXPECT_EQ(entries_of<float>(real + "-1e-60"), lines{"0 0 -0"});
    EXPECT_EQ(entries_of<double>(real + "1e-400"), lines{"0 0 0"});
    const std::string before = std::setlocale(LC_ALL, nullptr);
    if (std::setlocale(LC_ALL, "de_DE.UTF-8") != nullptr) {
        EXPECT_EQ(entries_of<double>(real + "1.5"), lines{"0 0 1.5"});
    }
    std::setlocale(LC_ALL, before.c_str());
}

TEST(V11_matrix_market, other_files_are_refused) {
    expect_refused("", 1, "the file is empty");
    expect_refused("\n\n", 1, "begins with ''; a Matrix Market file must begin with '%%MatrixMarket matrix");
    expect_refused(
        "\x7f"
        "ELF\n",
        1, "begins with '?ELF'");
    expect_refused(std::string(1000, 'x'), 1, "…'");
    expect_refused("%%MatrixMarket", 1, "the line ends where 'matrix' is expected");
    expect_refused("%%MatrixMarket vector coordinate real general\n", 1, "holds 'vector', not 'matrix'");
    expect_refused("%%MatrixMarket matrix array real general\n2 1\n1\n2\n", 1,
                   "a matrix of the format 'array' is dense; read it with read_matrix_market_array");
    expect_refused("%%MatrixMarket matrix dense real general\n", 1, "'dense' is not 'coordinate'");
    expect_refused(head + "quad general\n", 1,
                   "'quad' is not a field: real, double, integer, unsigned-integer, complex, pattern");
    for (const char* const mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"})
        expect_refused(mark + head + "real general\n", 1, "the file begins with a byte-order mark");
    expect_refused(head + "real\n", 1, "the line ends where a symmetry is expected");
    expect_refused(head + "real lower\n", 1,
                   "'lower' is not a symmetry: general, symmetric, skew-symmetric, hermitian");
    expect_refused(head + "real general 7\n", 1, "'7' follows the symmetry");
    expect_refused(head + "complex general\n1 1 0\n", 1, "complex entries do not fit f64; read them as");
    EXPECT_THAT(refused<std::int32_t>(head + "real general\n1 1 0\n"),
                HasSubstr("real entries do not fit i32"));
    EXPECT_THAT(refused<std::uint32_t>(head + "integer skew-symmetric\n"), HasSubstr("do not fit u32"));
}

TEST(V11_matrix_market, sizes_that_are_none_are_refused) {
    const std::string real = head + "real general\n";
    expect_refused(real + "% nothing\n\n", 3, "the file ends before the size line");
    expect_refused(real + "2 2\n1 1 1\n", 2, "the line ends where the number of entries is expected");
    expect_refused(real + "2 -2 1\n", 2, "the number of columns '-2' is not an integer from 0 to 2^63 - 1");
    expect_refused(real + "2 2 1.5\n", 2, "the number of entries '1.5'");
    expect_refused(real + "9223372036854775808 2 1\n", 2, "the number of rows '9223372036854775808'");
    expect_refused(real + "2 2 1 4\n", 2, "'4' follows the sizes");
    expect_refused(head + "real symmetric\n2 3 1\n", 2, "a matrix of 2 x 3 cannot be symmetric");
    // No memory is reserved for entries that the file cannot hold.
    expect_refused(real + "9223372036854775807 9223372036854775807 9223372036854775807\n1 1 1\n", 3,
                   "the file ends after 1 of 9223372036854775807 entries");
}

TEST(V11_matrix_market, entries_that_are_none_are_refused) {
    const std::string two = head + "real general\n% two entries\n2 3 2\n1 1 1\n";
    expect_refused(two, 4, "the file ends after 1 of 2 entries");
    expect_refused(two + "2 2 2\n1 2 3\n", 6, "'1 2 3' follows the 2 entries");
    expect_refused(two + "0 1 1\n", 5, "the row '0' is not an integer from 1 to 2");
    expect_refused(two + "3 1 1\n", 5, "the row '3' is not an integer from 1 to 2");
    expect_refused(two + "1 4 1\n", 5, "the column '4' is not an integer from 1 to 3");
    expect_refused(two + "1 1.0 1\n", 5, "the column '1.0'");
    expect_refused(two + "1 -1 1\n", 5, "the column '-1'");
    expect_refused(two + "1\n", 5, "the line ends where the column is expected");
    expect_refused(two + "1 1\n", 5, "the line ends where the entry's value is expected");
    expect_refused(two + "1 1 1.5x\n", 5, "the entry's value '1.5x' is not a number");
    expect_refused(two + "1 1 1,5\n", 5, "the entry's value '1,5' is not a number");
    expect_refused(two + "1 1 0x1\n", 5, "the entry's value '0x1' is not a number");
    expect_refused(two + "1 1 +-1\n", 5, "the entry's value '+-1' is not a number");
    expect_refused(two + "1 1 1 1\n", 5, "'1' follows the entry");
    expect_refused(two + "1 1 1e999\n", 5, "the entry's value '1e999' is out of range for f64");
    expect_refused(head + "integer general\n1 1 1\n1 1 1.0", 3, "the entry's value '1.0' is not an integer");
    expect_refused(head + "pattern general\n1 1 1\n1 1 1", 3, "'1' follows the entry");
    expect_refused(head + "real skew-symmetric\n3 3 1\n2 2 1", 3,
                   "an entry on the diagonal of a skew-symmetric matrix is not 0");
    expect_refused(head + "unsigned-integer general\n3 3 1\n2 2 -1", 3,
                   "the entry's value '-1' is negative in a file of unsigned integers");
    const auto integers = head + "integer general\n1 1 1\n1 1 ";
    EXPECT_THAT(refused<std::int32_t>(integers + "2147483648"), HasSubstr("is out of range for i32"));
    EXPECT_THAT(refused<std::uint32_t>(integers + "-1"), HasSubstr("is out of range for u32"));
    EXPECT_THAT(refused<float>(head + "real general\n1 1 1\n1 1 1e39"), HasSubstr("is out of range for f32"));
    EXPECT_THAT(refused<std::int32_t>(head + "integer skew-symmetric\n2 2 1\n2 1 -2147483648"),
                HasSubstr("the mirror image of the entry -2147483648 is out of range"));
    EXPECT_THAT(refused<complex>(head + "complex general\n1 1 1\n1 1 1\n"),
                HasSubstr("the line ends where the entry's imaginary part is expected"));
    EXPECT_THAT(refused<complex>(head + "complex hermitian\n1 1 1\n1 1 1 1\n"),
                HasSubstr("an imaginary part other than 0"));
}

template <class T, class Index>
void check_files(const context& ctx, const std::string& path, std::mt19937_64& random) {
    for (const matrix_kind kind : all_matrix_kinds) {
        SCOPED_TRACE(words_of(kind));
        const std::size_t rows = 1 + below(random, 200), columns = 1 + below(random, 200);
        auto m = random_matrix<T>(random, kind, rows, columns);
        if constexpr (std::is_floating_point_v<T>)
            for (T& each : m.values) each /= 3;
        const auto A = on_device<T, Index>(ctx, m, storage::rows);
        write_matrix_market(path, A);
        const auto B = read_matrix_market<T, Index>(ctx, path, storage::rows);
        EXPECT_EQ(to_csr(B), to_csr(A));
    }
}

TEST(V11_matrix_market, what_is_written_is_read) {
    auto random = seeded_random();
    const scratch_directory folder;
    const std::string path = folder / "m.mtx";
    on_all_contexts([&](const context& ctx) {
        check_files<float, std::int32_t>(ctx, path, random);
        check_files<double, std::int64_t>(ctx, path, random);
        check_files<std::int32_t, std::int32_t>(ctx, path, random);
        check_files<std::uint64_t, std::int32_t>(ctx, path, random);
        check_files<std::complex<float>, std::int32_t>(ctx, path, random);
        check_files<std::complex<double>, std::int64_t>(ctx, path, random);
        const sparse_matrix<double> A(ctx, 2, 3, std::vector{0, 1, 2}, std::vector{2, 0},
                                      std::vector{0.1, -std::numeric_limits<double>::infinity()});
        write_matrix_market(path, A);
        std::ifstream file(path);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
                  "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 3 0.1\n2 1 -inf\n");
    });
}

TEST(V11_matrix_market, files_that_cannot_be_read_or_written_are_refused) {
    on_all_contexts([](const context& ctx) {
        const scratch_directory folder;
        const auto from = [&](const std::string& path) {
            return message_of<usage_error>([&] { read_matrix_market<double>(ctx, path); });
        };
        EXPECT_THAT(from(folder / "nowhere.mtx"),
                    AllOf(HasSubstr("nowhere.mtx' does not exist"), HasSubstr("paths")));
        EXPECT_THAT(from(folder.path()), HasSubstr("cannot be read"));
        const std::string path = folder / "m.mtx";
        std::ofstream(path) << head << "real general\n3 3 1\n4 1 1\n";
        EXPECT_THAT(from(path), StartsWith(path + ", line 3: the row '4'"));
        std::ofstream(path) << head << "real general\n3000000000 3 1\n4 1 1\n";
        EXPECT_THAT(from(path), HasSubstr("the matrix has 3000000000 rows and 1 entries"));
        std::ofstream(path) << head << "real general\n3 3000000000 1\n3 1 1\n";
        EXPECT_THAT(from(path), HasSubstr("3,000,000,000 columns: with the index type i32"));
        const sparse_matrix<double> A(ctx, csr_matrix<double>{1, 1, {0, 1}, {0}, {1}});
        EXPECT_THAT(message_of<usage_error>([&] { write_matrix_market(folder / "no" / "m.mtx", A); }),
                    HasSubstr("m.mtx' cannot be written: "));
        EXPECT_THAT(message_of<usage_error>([&] { write_matrix_market("/dev/full", A); }),
                    HasSubstr("'/dev/full' cannot be written: "));
        EXPECT_THAT(message_of<usage_error>([&] { write_matrix_market(path, sparse_matrix<double>()); }),
                    HasSubstr("without elements cannot be read"));
    });
}

TEST(V11_matrix_market, over_several_devices) {
    run_on_three_devices("test_algorithm", "V11_matrix_market.what_is_written_is_read");
}

}  // namespace

}  // namespace balm::test
