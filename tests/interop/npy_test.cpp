// NumPy's files. The oracles: files that NumPy wrote (tests/interop/numpy/make.py), bytes by the format's
// rules, Python's zipfile, and archives that zlib compresses.

#include "balm/npy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
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
                HasSubstr("the type '|O', which Balm does not support"));
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
    EXPECT_THAT(usage_message_of([&] { (void)read_npy<float>(numpy_file("structures.npy")); }),
                HasSubstr("are structures"));
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
