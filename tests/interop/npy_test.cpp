// NumPy's files. The oracles: files that NumPy wrote (tests/interop/numpy/make.py), bytes by the format's
// rules, Python's zipfile, and archives that zlib compresses.

#include "balm/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "balm/balm.hpp"
#include "support/devices.hpp"
#include "support/scratch_directory.hpp"

namespace balm::test {

namespace {

using testing::HasSubstr;

std::string numpy_file(const std::string& name) {
    return std::string(BALM_TEST_SOURCE_DIR) + "/tests/interop/numpy/" + name;
}
void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// Element k of the arrays of make.py.
template <class T>
T numpy_element(std::size_t k) {
    const int whole = static_cast<int>(k * 37 % 101) - 50;
    if constexpr (std::same_as<T, bool>)
        return whole % 2 != 0;
    else if constexpr (complex_type<T>)
        return T(static_cast<typename T::value_type>(whole / 4.0),
                 static_cast<typename T::value_type>(whole / 4.0 + 0.5));
    else if constexpr (std::same_as<T, half>)
        return half(static_cast<float>(whole) / 4);
    else if constexpr (std::floating_point<T>)
        return static_cast<T>(whole / 4.0);
    else
        return static_cast<T>(std::is_unsigned_v<T> ? whole + 50 : whole);
}
template <class T>
void expect_numpy_elements(const host_array<T>& got, const shape& extents) {
    ASSERT_EQ(got.shape(), extents);
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_EQ(got[k], numpy_element<T>(k)) << k;
}

template <class Body>
void with_all_types(Body&& body) {
    body(std::type_identity<bool>(), "b1");
    body(std::type_identity<std::int8_t>(), "i1");
    body(std::type_identity<std::uint8_t>(), "u1");
    body(std::type_identity<std::int16_t>(), "i2");
    body(std::type_identity<std::uint16_t>(), "u2");
    body(std::type_identity<std::int32_t>(), "i4");
    body(std::type_identity<std::uint32_t>(), "u4");
    body(std::type_identity<std::int64_t>(), "i8");
    body(std::type_identity<std::uint64_t>(), "u8");
    body(std::type_identity<half>(), "f2");
    body(std::type_identity<float>(), "f4");
    body(std::type_identity<double>(), "f8");
    body(std::type_identity<std::complex<float>>(), "c8");
    body(std::type_identity<std::complex<double>>(), "c16");
}

template <class T>
host_array<T> random_array(std::mt19937_64& random, const shape& extents) {
    host_array<T> made(extents);
    auto* const bytes = reinterpret_cast<unsigned char*>(made.data());
    for (std::size_t k = 0; k < made.size() * sizeof(T); ++k)
        bytes[k] = static_cast<unsigned char>(random() % 255);
    if constexpr (std::same_as<T, bool>)
        for (std::size_t k = 0; k < made.size(); ++k) made[k] = random() % 2 != 0;
    return made;
}
template <class T>
bool are_same_bytes(const host_array<T>& a, const host_array<T>& b) {
    return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
shape random_shape(std::mt19937_64& random) {
    std::vector<std::size_t> sizes(1 + random() % 4);
    for (std::size_t& each : sizes) each = random() % 9;
    return shape(sizes);
}

}  // namespace

TEST(B11_npy, reads_what_numpy_writes_in_all_types_and_orders) {
    const npz_reader types(numpy_file("types.npz"));
    EXPECT_EQ(types.names().size(), 31u);
    with_all_types([&]<class T>(std::type_identity<T>, const std::string& name) {
        SCOPED_TRACE(name);
        expect_numpy_elements(types.read<T>(name), {2, 3});
        expect_numpy_elements(types.read<T>("big_" + name), {2, 3});
    });
    EXPECT_EQ(types.header("big_f4").type, ">f4");
    EXPECT_EQ(types.header("fortran_f4").order, npy_order::columns);
    expect_numpy_elements(types.read<std::uint8_t>("fortran_u1"), {2, 3, 4});
    expect_numpy_elements(types.read<float>("fortran_f4"), {2, 3, 4});
    expect_numpy_elements(types.read<std::complex<double>>("fortran_c16"), {2, 3, 4});
}

TEST(B11_npy, reads_the_versions_and_shapes_of_numpy) {
    expect_numpy_elements(read_npy<float>(numpy_file("rows.npy")), {3, 4});
    expect_numpy_elements(read_npy<double>(numpy_file("columns.npy")), {3, 4});
    expect_numpy_elements(read_npy<int>(numpy_file("scalar.npy")), 1);
    expect_numpy_elements(read_npy<float>(numpy_file("empty.npy")), {0, 3});
    expect_numpy_elements(read_npy<std::int16_t>(numpy_file("version_2.npy")), 5);
    expect_numpy_elements(read_npy<std::int16_t>(numpy_file("version_3.npy")), 5);
    const npy_header head = read_npy_header(numpy_file("columns.npy"));
    EXPECT_EQ(head.type, "<f8");
    EXPECT_EQ(head.extents, shape(3, 4));
    EXPECT_EQ(head.order, npy_order::columns);
}

TEST(B11_npy, expands_what_numpy_compressed) {
    const npz_reader file(numpy_file("compressed.npz"));
    expect_numpy_elements(file.read<float>("ramp"), {30, 40});
    const auto zeros = file.read<std::int16_t>("zeros");
    EXPECT_EQ(zeros.shape(), shape(100000));
    EXPECT_TRUE(std::all_of(zeros.begin(), zeros.end(), [](std::int16_t x) { return x == 0; }));
    expect_numpy_elements(file.read<std::uint8_t>("short"), 3);
    EXPECT_EQ(file.read<std::uint8_t>("noise").size(), 3000u);  // its checksum is compared
    EXPECT_THAT(usage_message_of([&] { (void)file.read<float>("nosie"); }),
                HasSubstr("has no array 'nosie'; it has 'ramp', 'zeros', 'short', 'noise'."));
}

TEST(B11_npy, writes_the_bytes_that_numpy_writes) {
    const scratch_directory folder;
    host_array<float> rows(shape(3, 4));
    for (std::size_t k = 0; k < rows.size(); ++k) rows[k] = numpy_element<float>(k);
    write_npy(folder / "rows.npy", rows);
    EXPECT_EQ(content_of_file(folder / "rows.npy"), content_of_file(numpy_file("rows.npy")));
    host_array<double> columns(shape(3, 4));
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k] = numpy_element<double>(k);
    write_npy(folder / "columns.npy", columns, npy_order::columns);
    EXPECT_EQ(content_of_file(folder / "columns.npy"), content_of_file(numpy_file("columns.npy")));
    write_npy(folder / "empty.npy", host_array<float>(shape(0, 3)));
    EXPECT_EQ(content_of_file(folder / "empty.npy"), content_of_file(numpy_file("empty.npy")));
}

TEST(B11_npy, what_is_written_is_read_again) {
    auto random = seeded_random();
    const scratch_directory folder;
    const std::string path = folder / "x.npy";
    const auto check = [&]<class T>(std::type_identity<T>, const std::string& name) {
        SCOPED_TRACE(name);
        for (int turn = 0; turn < 6; ++turn) {
            const shape extents = random_shape(random);
            const auto x = random_array<T>(random, extents);
            write_npy(path, x, turn % 2 == 0 ? npy_order::rows : npy_order::columns);
            EXPECT_TRUE(are_same_bytes(read_npy<T>(path), x)) << to_string(extents);
        }
    };
    with_all_types(check);
    check(std::type_identity<float2>(), "float2");
    check(std::type_identity<uchar4>(), "uchar4");
    check(std::type_identity<double16>(), "double16");
}

TEST(B11_npy, lanes_of_short_vectors_are_the_last_dimension) {
    const scratch_directory folder;
    const std::string path = folder / "x.npy";
    host_array<float3> x(shape(2, 2));
    for (std::size_t k = 0; k < 4; ++k)
        for (int lane = 0; lane < 3; ++lane)
            x[k][lane] = static_cast<float>(10 * k) + static_cast<float>(lane);
    for (const npy_order order : {npy_order::rows, npy_order::columns}) {
        write_npy(path, x, order);
        const auto flat = read_npy<float>(path);
        ASSERT_EQ(flat.shape(), shape(2, 2, 3));
        for (std::size_t k = 0; k < 4; ++k)
            for (std::size_t lane = 0; lane < 3; ++lane)
                EXPECT_EQ(flat[3 * k + lane], static_cast<float>(10 * k + lane));
        EXPECT_EQ(read_npy<float3>(path), x);
    }
    EXPECT_THAT(usage_message_of([&] { (void)read_npy<float4>(path); }),
                HasSubstr("its last dimension must be 4"));
}

TEST(B11_npy, takes_vectors_views_and_expressions) {
    const scratch_directory folder;
    const std::string path = folder / "x.npy";
    on_all_contexts([&](const context& ctx) {
        vector<float> x(ctx, {1, 2, 3, 4, 5, 6});
        write_npy(path, x);
        EXPECT_EQ(read_npy<float>(path), host_array<float>({1, 2, 3, 4, 5, 6}));
        const vector<float> back = read_npy<float>(ctx, path);
        EXPECT_EQ(back.to_host(), x.to_host());
        write_npy(path, view(x, {2, 3}).transpose());
        const auto turned = read_npy<float>(path);
        EXPECT_EQ(turned.shape(), shape(3, 2));
        EXPECT_THAT(turned, testing::ElementsAre(1, 4, 2, 5, 3, 6));
        write_npy(path, 2 * view(x, {2, 3}) > 5.f);
        const auto large = read_npy<bool>(path);
        EXPECT_EQ(large.shape(), shape(2, 3));
        EXPECT_THAT(large, testing::ElementsAre(false, false, true, true, true, true));
        write_npy(path, std::vector<double>{0.5, 1.5});
        EXPECT_THAT(read_npy<double>(path), testing::ElementsAre(0.5, 1.5));
        EXPECT_THAT(std::vector<float>((x + x).to_host()), testing::ElementsAre(2, 4, 6, 8, 10, 12));
    });
}

TEST(B11_npy, archives_that_are_written_are_read_here_and_by_python) {
    auto random = seeded_random();
    const scratch_directory folder;
    const std::string path = folder / "all.npz";
    const auto x = random_array<float>(random, {50, 40});
    const auto y = random_array<std::uint8_t>(random, 1000);
    npz_writer out(path);
    out.write("x", x);
    out.write("größe", y);
    out.write("columns", x, npy_order::columns);
    EXPECT_THAT(usage_message_of([&] { out.write("x", y); }),
                HasSubstr("it already has an array of that name"));
    EXPECT_THAT(usage_message_of([&] { out.write("", y); }), HasSubstr("an array needs a name"));
    out.close();
    out.close();
    EXPECT_THAT(usage_message_of([&] { out.write("z", y); }), HasSubstr("it is already closed"));
    const npz_reader in(path);
    EXPECT_THAT(in.names(), testing::ElementsAre("x", "größe", "columns"));
    EXPECT_TRUE(are_same_bytes(in.read<float>("x"), x));
    EXPECT_TRUE(are_same_bytes(in.read<std::uint8_t>("größe"), y));
    EXPECT_TRUE(are_same_bytes(in.read<float>("columns"), x));
    write_npy(folder / "x.npy", x);
    const std::string check =
        "python3 -c \"import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
        "assert z.namelist() == ['x.npy', 'gr\\u00f6\\u00dfe.npy', 'columns.npy'], z.namelist(); "
        "assert z.read('x.npy') == open(sys.argv[2], 'rb').read()\" " +
        path + " " + std::string(folder / "x.npy");
    EXPECT_EQ(std::system(check.c_str()), 0) << check;
    {
        npz_writer unfinished(folder / "left.npz");
        unfinished.write("y", y);
    }
    EXPECT_TRUE(are_same_bytes(npz_reader(folder / "left.npz").read<std::uint8_t>("y"), y));
}

namespace {

struct npy_leaf {
    bool flag;
    double weight;
    bool operator==(const npy_leaf&) const = default;
};
BALM_STRUCT(npy_leaf, flag, weight)
enum class npy_kind : std::int16_t {};
/// The record of make.py.
struct npy_record {
    float mass;
    npy_kind kind;
    npy_leaf leaves[2];
    float3 pos;
    float grid[2][3];
    half h;
};
BALM_STRUCT(npy_record, mass, kind, leaves, pos, grid, h)
/// Without padding.
struct npy_pair {
    float a;
    std::int32_t b;
};
BALM_STRUCT(npy_pair, a, b)

/// Calls `body` with every number of a record, in the order of make.py.
template <class Record, class Body>
void for_each_number_of(Record& of, Body&& body) {
    body(of.mass);
    body(of.kind);
    for (auto& leaf : of.leaves) {
        body(leaf.flag);
        body(leaf.weight);
    }
    for (std::size_t lane = 0; lane < 3; ++lane) body(of.pos[lane]);
    for (auto& row : of.grid)
        for (auto& each : row) body(each);
    body(of.h);
}
host_array<npy_record> numpy_records(const shape& extents) {
    host_array<npy_record> made(extents);
    std::memset(static_cast<void*>(made.data()), 0xa5, made.size() * sizeof(npy_record));  // also the padding
    std::size_t k = 0;
    for (npy_record& each : made)
        for_each_number_of(each, [&]<class T>(T& number) {
            if constexpr (std::is_enum_v<T>)
                number = static_cast<T>(numpy_element<std::underlying_type_t<T>>(k++));
            else
                number = numpy_element<T>(k++);
        });
    return made;
}
bool are_same_records(const host_array<npy_record>& a, const host_array<npy_record>& b) {
    const auto numbers_of = [](const host_array<npy_record>& records) {
        std::vector<double> numbers;
        for (const npy_record& each : records)
            for_each_number_of(each, [&]<class T>(const T& number) {
                if constexpr (std::same_as<T, half>)
                    numbers.push_back(static_cast<float>(number));
                else
                    numbers.push_back(static_cast<double>(number));
            });
        return numbers;
    };
    return a.shape() == b.shape() && numbers_of(a) == numbers_of(b);
}

}  // namespace

TEST(B11_npy_structures, reads_what_numpy_writes) {
    const npz_reader file(numpy_file("records.npz"));
    for (const auto& [name, extents] :
         {std::pair("packed", shape(2, 3)), std::pair("big", shape(4)), std::pair("aligned", shape(3)),
          std::pair("columns", shape(2, 3)), std::pair("more", shape(3, 1)), std::pair("one", shape(1)),
          std::pair("none", shape(0, 2))})
        EXPECT_TRUE(are_same_records(file.read<npy_record>(name), numpy_records(extents))) << name;
    EXPECT_EQ(file.header("packed").type,
              "[('mass', '<f4'), ('kind', '<i2'), ('leaves', [('flag', '|b1'), ('weight', '<f8')], (2,)), "
              "('pos', '<f4', (3,)), ('grid', '<f4', (2, 3)), ('h', '<f2')]");
    on_all_contexts([&](const context& ctx) {
        if (!ctx.device(0).info().has_double) return;
        const vector<npy_record> records = file.read<npy_record>(ctx, "big");
        EXPECT_TRUE(are_same_records(records.to_host(), numpy_records(4)));
        const vector<float> mass = 2 * field<&npy_record::mass>(records);
        EXPECT_EQ(mass.to_host()[1], 2 * numpy_records(4)[1].mass);
    });
}

TEST(B11_npy_structures, writes_the_bytes_that_numpy_writes) {
    const scratch_directory folder;
    write_npy(folder / "records.npy", numpy_records({2, 3}));
    EXPECT_EQ(content_of_file(folder / "records.npy"), content_of_file(numpy_file("records.npy")));
    EXPECT_TRUE(are_same_records(read_npy<npy_record>(folder / "records.npy"), numpy_records({2, 3})));
}

TEST(B11_npy_structures, what_is_written_is_read_again) {
    const scratch_directory folder;
    auto random = seeded_random();
    for (int turn = 0; turn < 12; ++turn) {
        const npy_order order = turn % 2 == 0 ? npy_order::rows : npy_order::columns;
        const shape extents = random_shape(random);
        const auto records = numpy_records(extents);
        write_npy(folder / "records.npy", records, order);
        EXPECT_TRUE(are_same_records(read_npy<npy_record>(folder / "records.npy"), records));
        const auto pairs = random_array<npy_pair>(random, extents);
        npz_writer out(folder / "pairs.npz");
        out.write("pairs", pairs, order);
        out.close();
        EXPECT_TRUE(are_same_bytes(npz_reader(folder / "pairs.npz").read<npy_pair>("pairs"), pairs));
    }
    write_npy(folder / "pairs.npy", std::vector<npy_pair>{{1, 2}, {3, 4}});
    EXPECT_EQ(read_npy_header(folder / "pairs.npy").type, "[('a', '<f4'), ('b', '<i4')]");
    EXPECT_EQ(read_npy<npy_pair>(folder / "pairs.npy")[1].b, 4);
}

/// The bytes of a file with this header; `bytes` follow.
std::string npy_file_of(std::string text, const std::string& bytes) {
    text += '\n';
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xff) +
           static_cast<char>(text.size() >> 8) + text + bytes;
}

TEST(B11_npy_structures, fields_may_have_any_order_offset_and_byte_order) {
    const scratch_directory folder;
    auto random = seeded_random();
    for (int turn = 0; turn < 40; ++turn) {
        // The file: numbers of the pair, of another field, and padding, in an order that is drawn.
        struct drawn_field {
            std::string name, type;
            std::size_t bytes;
            bool is_big;
        };
        std::vector<drawn_field> fields;
        const std::vector<std::pair<std::string, std::string>> kinds = {
            {"a", "f4"}, {"b", "i4"}, {"c", "U2"}, {"", "V3"}, {"d", "f8"}};
        for (const auto& [name, type] : kinds) {
            const bool is_big = random() % 2 != 0;
            const std::size_t bytes = name == "c" ? 8 : static_cast<std::size_t>(type[1] - '0');
            fields.push_back({name, type, bytes, is_big});
        }
        std::shuffle(fields.begin(), fields.end(), random);
        std::string text = "{'descr': [";
        for (const drawn_field& each : fields)
            text += "('" + each.name + "', '" +
                    (each.name.empty() ? "|"
                     : each.is_big     ? ">"
                                       : "<") +
                    each.type + "'), ";
        const auto pairs = random_array<npy_pair>(random, 1 + random() % 5);
        std::string bytes;
        for (const npy_pair& each : pairs)
            for (const drawn_field& at : fields) {
                std::string part(at.bytes, '\x7f');
                if (at.name == "a") std::memcpy(part.data(), &each.a, 4);
                if (at.name == "b") std::memcpy(part.data(), &each.b, 4);
                if (at.is_big == (std::endian::native == std::endian::little))
                    std::reverse(part.begin(), part.end());
                bytes += part;
            }
        put(folder / "pairs.npy",
            npy_file_of(text + "], 'fortran_order': False, 'shape': (" + std::to_string(pairs.size()) + ",)}",
                        bytes));
        EXPECT_TRUE(are_same_bytes(read_npy<npy_pair>(folder / "pairs.npy"), pairs)) << text;
    }
}

TEST(B11_npy_structures, other_fields_are_refused_with_words) {
    const scratch_directory folder;
    const std::string path = folder / "x.npy";
    const auto with_type = [&](const std::string& type) {
        put(path, npy_file_of("{'descr': " + type + ", 'fortran_order': False, 'shape': (4,)}",
                              std::string(64, '\0')));
        return usage_message_of([&] { (void)read_npy<npy_pair>(path); });
    };
    EXPECT_THAT(with_type("[('a', '<f4'), ('c', '<i4')]"),
                HasSubstr("its structures have no field 'b' for npy_pair; they have 'a', 'c'."));
    EXPECT_THAT(with_type("[('a', '<f8'), ('b', '<i4')]"),
                HasSubstr("its field 'a' is double ('<f8'), not float; declare the member with that type."));
    EXPECT_THAT(with_type("[('a', '<f4', (2,)), ('b', '<i4')]"),
                HasSubstr("its field 'a' is a sub-array of the shape (2,), but the member's is ()."));
    EXPECT_THAT(with_type("[('a', [('x', '<f4')]), ('b', '<i4')]"),
                HasSubstr("its field 'a' is structures with the fields 'x', not float"));
    EXPECT_THAT(with_type("[('a', '<f4'), ('b', '<i4'), ('c', '|O')]"),
                HasSubstr("its field 'c' has the type '|O', which Balm does not support."));
    EXPECT_THAT(with_type("[('a', '<f4'), ('b', 'S4')]"),
                HasSubstr("its field 'b' is of the type 'S4', which Balm does not support."));
    EXPECT_THAT(with_type("'<f4'"),
                HasSubstr("its elements are float ('<f4'), not structures such as npy_pair."));
    EXPECT_THAT(with_type("[]"), HasSubstr("its structures have no field 'a' for npy_pair; they have none."));
    EXPECT_THAT(with_type("[('a', '<f4'"), HasSubstr("its header has "));
    EXPECT_THAT(with_type("[('a', '<f4') ('b', '<i4')]"),
                HasSubstr("has no comma or bracket after a field."));
    EXPECT_THAT(with_type("[('a', '<f4', (4611686018427387904,)), ('b', '<i4')]"), HasSubstr("2^62 bytes"));
    std::string deep = "'<f4'";
    for (int k = 0; k < 1000; ++k) deep = "[('a', " + deep + ")]";
    EXPECT_THAT(with_type(deep), HasSubstr("has structures within structures, deeper than 32."));
    EXPECT_THAT(
        with_type("[('a', '<f4'), ('b', '<i4'), ('c', 'V100')]"),
        HasSubstr("it ends early: 4 elements of 108 bytes should follow its header, but only 64 bytes do."));
    EXPECT_THAT(usage_message_of([&] { (void)read_npy<npy_record>(numpy_file("structures.npy")); }),
                HasSubstr("its structures have no field 'mass' for npy_record; they have 'a', 'b'."));
}

TEST(B11_npy, takes_every_spelling_of_a_type) {
    const scratch_directory folder;
    const std::string path = folder / "x.npy";
    const auto with_type = [&](const std::string& type) -> const std::string& {
        put(path, npy_file_of("{'descr': '" + type + "', 'fortran_order': False, 'shape': (2,)}",
                              std::string("\x3f\x80\0\0\0\0\x80\x3f\0\0\0\0\0\0\0\0", 16)));
        return path;
    };
    for (const std::string order : {"<", "=", "|", ""})
        EXPECT_EQ(read_npy<float>(with_type(order + "f4"))[1], 1.f) << order;
    EXPECT_EQ(read_npy<float>(with_type(">f4"))[0], 1.f);
    for (const std::string type : {"?", "|?", "b1", "|b1", "<b1", "=b1", ">b1"})
        EXPECT_THAT(read_npy<bool>(with_type(type)), testing::ElementsAre(true, true)) << type;
    for (const std::string type : {"u1", "|u1", ">u1"})
        EXPECT_THAT(read_npy<std::uint8_t>(with_type(type)), testing::ElementsAre(0x3f, 0x80)) << type;
    EXPECT_EQ(read_npy<std::int64_t>(with_type("i8"))[0], 0x3f800000'0000803f);
    for (const std::string type : {"", "<", "f", "f4x", "<<f4", "f-4", "x4", "f99999999999999999999"})
        EXPECT_THAT(usage_message_of([&] { (void)read_npy<float>(with_type(type)); }),
                    HasSubstr("its elements are of the type '" + type + "', which Balm does not support."));
}

TEST(B11_npy, reads_from_pipes) {
    const scratch_directory folder;
    const std::string pipe = folder / "pipe.npy";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    // A writer whose reader has closed the pipe is not killed.
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    const auto read_from_pipe = [&]<class T>(std::type_identity<T>, const std::string& bytes) {
        std::jthread writer([&] { put(pipe, bytes); });
        return read_npy<T>(pipe);
    };
    host_array<float> large(shape(700, 1000));  // more than a pipe holds
    for (std::size_t k = 0; k < large.size(); ++k) large[k] = static_cast<float>(k);
    write_npy(folder / "large.npy", large);
    const std::string whole = content_of_file(folder / "large.npy");
    EXPECT_EQ(read_from_pipe(std::type_identity<float>(), whole), large);
    EXPECT_TRUE(are_same_records(
        read_from_pipe(std::type_identity<npy_record>(), content_of_file(numpy_file("records.npy"))),
        numpy_records({2, 3})));
    const auto refusal = [&](const std::string& bytes) {
        return usage_message_of([&] { read_from_pipe(std::type_identity<float>(), bytes); });
    };
    EXPECT_THAT(refusal(""), HasSubstr("pipe.npy' cannot be read: it is not a .npy file."));
    EXPECT_THAT(refusal(whole.substr(0, 40)), HasSubstr("it ends inside its header."));
    EXPECT_THAT(
        refusal(whole.substr(0, whole.size() - 1)),
        HasSubstr("it ends early: 700 x 1000 elements of 4 bytes should follow its header, but only 2799999 "
                  "bytes do."));
    // A claim takes no memory.
    EXPECT_THAT(refusal(npy_file_of(
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (1152921504606846976,)}", "x")),
                HasSubstr("but only 1 bytes do."));
    {
        std::jthread writer([&] { put(pipe, whole); });
        EXPECT_EQ(read_npy_header(pipe).extents, shape(700, 1000));
    }
    std::jthread writer([&] { put(pipe, "PK"); });
    EXPECT_THAT(
        usage_message_of([&] { const npz_reader file(pipe); }),
        HasSubstr("pipe.npy' cannot be read: it is a pipe, and a format with a directory at its end"));
    writer.join();
    std::signal(SIGPIPE, before);
}

TEST(B11_npy, says_that_a_file_was_copied_as_text) {
    const scratch_directory folder;
    const std::string whole = content_of_file(numpy_file("rows.npy"));
    for (const std::string mark : {"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\xc2"}) {
        put(folder / "x.npy", mark + whole);
        EXPECT_THAT(usage_message_of([&] { (void)read_npy<float>(folder / "x.npy"); }),
                    HasSubstr("a .npy file must be copied byte by byte, not as text."));
    }
}

TEST(B11_npy, refuses_what_is_no_such_file_with_words) {
    const scratch_directory folder;
    const std::string path = folder / "x.npy";
    const auto read_back = [&](const std::string& bytes) {
        put(path, bytes);
        return usage_message_of([&] { (void)read_npy<float>(path); });
    };
    const auto file_with_header = [](std::string text) {
        text += '\n';
        return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xff) +
               static_cast<char>(text.size() >> 8) + text + std::string(64, '\0');
    };
    const auto with_header = [&](const std::string& text) { return read_back(file_with_header(text)); };
    EXPECT_THAT(usage_message_of([&] { (void)read_npy<float>(folder / "none.npy"); }),
                HasSubstr("none.npy' cannot be read: No such file"));
    EXPECT_THAT(usage_message_of([&] { (void)read_npy<float>(folder.path()); }),
                HasSubstr("cannot be read: "));
    EXPECT_THAT(usage_message_of([&] { write_npy(folder / "no/folder.npy", std::vector{1}); }),
                HasSubstr("folder.npy' cannot be written: No such file"));
    EXPECT_THAT(read_back(""), HasSubstr("it is not a .npy file."));
    EXPECT_THAT(read_back("PK\x03\x04 and so on"), HasSubstr("it is not a .npy file."));
    EXPECT_THAT(read_back(std::string("\x93NUMPY\x04\x00\x10\x00", 10)), HasSubstr("version 4.0"));
    EXPECT_THAT(read_back(std::string("\x93NUMPY\x01\x00\xff\xff{", 11)),
                HasSubstr("it ends inside its header"));
    EXPECT_THAT(read_back(std::string("\x93NUMPY\x02\x00\x01\x00\x10\x00", 12) + std::string(1048577, ' ')),
                HasSubstr("its header of 1048577 bytes is too long; Balm reads at most 1048576"));
    EXPECT_THAT(
        with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 5), }"),
        HasSubstr("it ends early: 4 x 5 elements of 4 bytes should follow its header, but only 64 bytes do"));
    EXPECT_THAT(with_header("{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }"),
                HasSubstr("its elements are double ('<f8'), not float"));
    EXPECT_THAT(with_header("{'descr': '|O', 'fortran_order': False, 'shape': (4,), }"),
                HasSubstr("of the type '|O', which Balm does not support"));
    EXPECT_THAT(with_header("{'descr': '<f16', 'fortran_order': False, 'shape': (4,), }"),
                HasSubstr("'<f16'"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }"),
                HasSubstr("above 2^62"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
                HasSubstr("above 2^62"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }"),
                HasSubstr("instead of a size"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }"),
                HasSubstr("has 9 dimensions"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'fortran_order': 0, 'shape': (4,), }"),
                HasSubstr("instead of True or False"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'descr': '<f4', 'shape': (4,), }"),
                HasSubstr("is unknown or repeated"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'shape': (4,), }"), HasSubstr("has no fortran_order"));
    EXPECT_THAT(with_header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), } + 1"),
                HasSubstr("continues after its closing brace"));
    EXPECT_THAT(with_header("not a dictionary"), HasSubstr("has 'not a dictionary?' instead of '{'"));
    EXPECT_THAT(
        usage_message_of([&] { (void)read_npy<float>(numpy_file("structures.npy")); }),
        HasSubstr(
            "its elements are structures with the fields 'a', 'b', not float; read them as a structure"));
    EXPECT_THAT(usage_message_of([&] { (void)read_npy<float>(numpy_file("text.npy")); }), HasSubstr("'<U3'"));
    // Of other writers: double quotes, spaces, another order, no comma at the end, numbers of Python 2.
    put(path, file_with_header("  { \"shape\":( 2L ,8L ) ,'fortran_order' :False, \"descr\": \"=f4\"}  "));
    EXPECT_EQ(read_npy<float>(path).shape(), shape(2, 8));
}

TEST(B11_npy, refuses_damaged_archives_with_words) {
    const scratch_directory folder;
    const std::string path = folder / "x.npz";
    const std::string whole = content_of_file(numpy_file("compressed.npz"));
    // Every byte that is not one of a date, an attribute or such is noticed, or changes nothing that is read.
    const npz_reader expected(numpy_file("compressed.npz"));
    const auto ramp = expected.read<float>("ramp");
    const auto noise = expected.read<std::uint8_t>("noise");
    int noticed = 0;
    for (std::size_t at = 0; at < whole.size(); at += 3) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
        put(path, damaged);
        try {
            const npz_reader file(path);
            EXPECT_EQ(file.read<float>("ramp"), ramp) << at;
            EXPECT_EQ(file.read<std::uint8_t>("noise"), noise) << at;
        } catch (const usage_error& fault) {
            EXPECT_THAT(fault.what(), HasSubstr("x.npz'")) << at;
            ++noticed;
        }
    }
    EXPECT_GT(noticed, static_cast<int>(whole.size() / 3 / 2));
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{21}, std::size_t{100}, whole.size() / 2, whole.size() - 1}) {
        put(path, whole.substr(0, size));
        EXPECT_THAT(usage_message_of([&] { const npz_reader file(path); }), HasSubstr("cannot be read"))
            << size;
    }
}

/// zlib's stream of some bytes, as archives hold it.
std::string deflated(const std::string& plain, int level, int strategy) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
    std::string packed(deflateBound(&stream, plain.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
    stream.avail_in = static_cast<uInt>(plain.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}
/// An archive of one deflated member, "x.npy".
std::string archive_of(const std::string& packed, std::uint64_t bytes, std::uint64_t checksum) {
    const std::string name = "x.npy";
    const auto number = [](std::uint64_t value, int size) {
        std::string made;
        for (int k = 0; k < size; ++k) made += static_cast<char>(value >> (8 * k) & 0xff);
        return made;
    };
    const std::string common = number(20, 2) + number(0, 2) + number(8, 2) + number(0, 4) +
                               number(checksum, 4) + number(packed.size(), 4) + number(bytes, 4) +
                               number(name.size(), 2) + number(0, 2);
    const std::string member = "PK\3\4" + common + name + packed;
    const std::string entry =
        "PK\1\2" + number(20, 2) + common + number(0, 2 + 2 + 2 + 4) + number(0, 4) + name;
    return member + entry + "PK\5\6" + number(0, 4) + number(1, 2) + number(1, 2) + number(entry.size(), 4) +
           number(member.size(), 4) + number(0, 2);
}
std::uint64_t checksum_of(const std::string& bytes) {
    return crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
}

TEST(B11_npy, reads_all_that_zlib_compresses) {
    auto random = seeded_random();
    const scratch_directory folder;
    const std::string path = folder / "x.npz";
    const auto read_back = [&](const std::string& archive) {
        put(path, archive);
        return npz_reader(path).read<std::uint8_t>("x");
    };
    const auto refusal = [&](const std::string& archive) {
        return usage_message_of([&] { read_back(archive); });
    };
    for (int turn = 0; turn < 60; ++turn) {
        host_array<std::uint8_t> x(shape(random() % (turn % 4 == 0 ? 400000 : 70000)));  // of several pieces
        const unsigned letters = 1 + random() % (turn % 3 == 0 ? 256 : 6);
        for (auto& each : x) each = static_cast<std::uint8_t>(random() % letters);
        for (std::size_t k = 0; k < x.size() / 2 && turn % 2 == 0; ++k)  // repeats, near and far
            x[k] = x[x.size() - 1 - k / 7];
        write_npy(folder / "x.npy", x, turn % 5 == 0 ? npy_order::columns : npy_order::rows);
        const std::string plain = content_of_file(folder / "x.npy");
        const int strategies[] = {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED, Z_FILTERED};
        const int level = static_cast<int>(random() % 10), strategy = strategies[random() % 5];
        const std::string packed = deflated(plain, level, strategy);
        const std::uint64_t bytes = plain.size(), checksum = checksum_of(plain);

        EXPECT_TRUE(are_same_bytes(read_back(archive_of(packed, bytes, checksum)), x));
        EXPECT_THAT(refusal(archive_of(packed.substr(0, packed.size() - 1), bytes, checksum)),
                    HasSubstr("x.npz' cannot be read: its compressed data ends early."));
        EXPECT_THAT(refusal(archive_of(packed, bytes + 1, checksum)),
                    HasSubstr("its data expands to fewer bytes than the archive records."));
        EXPECT_THAT(refusal(archive_of(deflated(plain + 'x', level, strategy), bytes, checksum)),
                    HasSubstr("its data expands to more bytes than the archive records."));
        EXPECT_THAT(refusal(archive_of(packed, bytes, checksum ^ 1)),
                    HasSubstr("its checksum does not match the one in the archive."));
        EXPECT_THAT(refusal(archive_of(packed, 1033 * (packed.size() + 1), checksum)),
                    HasSubstr("its size is more than its compressed data can expand to."));
    }
    // A block of the kind that there is none of (RFC 1951, 3.2.3).
    EXPECT_THAT(refusal(archive_of("\x07", 100, 0)), HasSubstr("its compressed data is damaged."));
}

}  // namespace balm::test
