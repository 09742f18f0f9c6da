// Columns of values for devices: generates test values, traces and runs a kernel on them, and reads the
// results back as bits.

#include "check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "ir/with_type.hpp"

namespace balm::tool {

namespace {

template <class T>
T value_of(std::uint64_t bits) {
    T value{};
    if constexpr (std::same_as<T, bool>)
        return bits != 0;
    else
        std::memcpy(&value, &bits, sizeof value);  // hosts are little-endian, as x86-64 and arm64 are
    return value;
}
template <class T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <std::floating_point T>
std::vector<T> special_values() {
    using limits = std::numeric_limits<T>;
    const T largest_subnormal = std::nextafter(limits::min(), T(0));
    std::vector<T> list{0,       limits::denorm_min(), largest_subnormal, limits::min(), limits::epsilon(),
                        T(1e-20)};
    for (T x : {0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.14159265358979, 10.0, 88.9, 127.5, 709.9, 1000.5})
        list.push_back(x);
    // The limits of the integer types, and the powers of two from which all numbers are whole.
    for (int power : {7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 63, 64}) list.push_back(std::ldexp(T(1), power));
    for (T x : {T(1), std::ldexp(T(1), 31), std::ldexp(T(1), 63)}) list.push_back(std::nextafter(x, T(0)));
    list.insert(list.end(), {T(1e22), T(1e30), limits::max(), limits::infinity()});
    for (std::size_t k = list.size(); k > 0; --k) list.push_back(-list[k - 1]);
    list.push_back(limits::quiet_NaN());
    return list;
}

template <std::integral T>
std::vector<T> special_values() {
    using limits = std::numeric_limits<T>;
    if constexpr (std::same_as<T, bool>) {
        return {false, true};
    } else {
        std::vector<T> list;
        for (int k : {0, 1, 2, 3, 7, 10, 31, 32, 33, 63, 64, 100, 127})
            list.insert(list.end(), {static_cast<T>(k), static_cast<T>(-k)});
        const T alternating = static_cast<T>(0x5555555555555555);
        list.insert(list.end(), {limits::min(), static_cast<T>(limits::min() + 1), limits::max(),
                                 static_cast<T>(limits::max() - 1), static_cast<T>(limits::max() / 2 + 1),
                                 alternating, static_cast<T>(~alternating)});
        return list;
    }
}

/// Floating point: three in five within 1, 10 or 1000 of 0, one in five 2^x for |x| <= 30, one in five random
/// bits. Integers: random bits, half of them shifted right by a random distance.
template <class T>
T random_value(std::mt19937_64& random) {
    if constexpr (std::floating_point<T>) {
        const auto between = [&](T limit) {
            return std::uniform_real_distribution<T>(-limit, limit)(random);
        };
        switch (random() % 5) {
            case 0: return between(1);
            case 1: return between(10);
            case 2: return between(1000);
            case 3: return std::exp2(between(30));
            default: return value_of<T>(random());
        }
    } else if constexpr (std::same_as<T, bool>) {
        return random() % 2 != 0;
    } else {
        const auto any = static_cast<T>(random());
        return random() % 2 != 0 ? any : static_cast<T>(any >> random() % (8 * sizeof(T)));
    }
}

std::vector<std::int32_t> special_integers() {
    using limits = std::numeric_limits<std::int32_t>;
    return {0,
            1,
            -1,
            2,
            -2,
            3,
            -3,
            4,
            5,
            -7,
            10,
            16,
            31,
            32,
            33,
            63,
            64,
            65,
            23,
            -24,
            127,
            149,
            -149,
            -126,
            1023,
            -1022,
            -1074,
            limits::max(),
            limits::min()};
}

trace::node constant(std::size_t value) { return trace::constant(scalar::i64, value); }

}  // namespace

// ---- values

operands::operands(scalar type, std::size_t count, std::mt19937_64& random)
    : a{type, {}}, b{type, {}}, c{type, {}}, integer{scalar::i32, {}} {
    ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        const std::vector<T> special = special_values<T>();
        const std::size_t pairs = special.size() * special.size();
        for (std::size_t k = 0; k < count; ++k) {
            const bool in_pairs = k < pairs;
            a.bits.push_back(bits_of(in_pairs ? special[k / special.size()] : random_value<T>(random)));
            b.bits.push_back(bits_of(in_pairs ? special[k % special.size()] : random_value<T>(random)));
            c.bits.push_back(
                bits_of(random() % 2 ? special[random() % special.size()] : random_value<T>(random)));
        }
    });
    const std::vector<std::int32_t> special = special_integers();
    for (std::size_t k = 0; k < count; ++k)
        integer.bits.push_back(bits_of(random() % 2 ? special[random() % special.size()]
                                                    : static_cast<std::int32_t>(random() % 64) - 32));
}

std::string to_text(scalar type, std::uint64_t bits) {
    return ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (sizeof(T) == 1 && !std::same_as<T, bool>)
            return fmt::format("{}", int{value_of<T>(bits)});
        else
            return fmt::format("{}", value_of<T>(bits));
    });
}

std::vector<std::byte> packed(const column& values) {
    const std::size_t size = size_of(values.type);
    std::vector<std::byte> bytes(values.bits.size() * size);
    for (std::size_t k = 0; k < values.bits.size(); ++k)
        std::memcpy(bytes.data() + k * size, &values.bits[k], size);
    return bytes;
}

column unpacked(scalar type, const std::byte* bytes, std::size_t count) {
    const std::size_t size = size_of(type);
    column values{type, std::vector<std::uint64_t>(count)};
    for (std::size_t k = 0; k < count; ++k) std::memcpy(&values.bits[k], bytes + k * size, size);
    return values;
}

bool is_same(scalar type, std::uint64_t x, std::uint64_t y) {
    if (x == y) return true;
    return ir::with_type(type, [&]<class T>(std::type_identity<T>) {
        if constexpr (std::floating_point<T>)
            return std::isnan(value_of<T>(x)) && std::isnan(value_of<T>(y));
        else
            return false;
    });
}

std::string check::words() const {
    const std::string where = kind == "array built-in" ? " of arrays" : "";
    return type.empty() || kind == "conversion" ? name : type + " " + name + where;
}

void note_wrong(check& outcome, const settings& how, wrong_value what) {
    ++outcome.wrong;
    if (outcome.examples.size() < how.most_examples) outcome.examples.push_back(std::move(what));
}

// ---- a kernel on columns

column_kernel::column_kernel(const device& on, std::string_view name, std::size_t rows)
    : device_(on), rows_(rows), recording_(name, 1, {}) {
    index_ = trace::query(trace::place::global_id, 0, {});
}

trace::node column_kernel::operand(const column& values) {
    auto memory = device_.in_buffer<std::byte>(values.bits.size() * size_of(values.type));
    memory.write(packed(values));
    bound_argument argument;
    argument.what = bound_argument::kind::memory;
    argument.memory = memory.storage();
    arguments_.push_back(std::move(argument));
    return trace::load(recording_.parameter(values.type, trace::access::in), index_, {});
}

column_kernel::output& column_kernel::output_of(scalar type) {
    const auto known =
        std::find_if(outputs_.begin(), outputs_.end(), [&](const output& each) { return each.type == type; });
    if (known != outputs_.end()) return *known;
    outputs_.push_back({type, recording_.parameter(type, trace::access::out)});
    output_arguments_.push_back(arguments_.size());
    arguments_.emplace_back().what = bound_argument::kind::memory;
    return outputs_.back();
}

void column_kernel::result(trace::node value) {
    output& to = output_of(value.type.element);
    const trace::node terms[] = {index_, constant(to.columns * rows_)};
    trace::store(to.pointer, trace::apply(builtin::add, terms, 2), value, {});
    results_.push_back({static_cast<std::size_t>(&to - outputs_.data()), to.columns++});
}

std::vector<column> column_kernel::run() {
    std::vector<out_buffer<std::byte>> memory;
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
        memory.push_back(
            device_.out_buffer<std::byte>(outputs_[k].columns * rows_ * size_of(outputs_[k].type)));
        arguments_[output_arguments_[k]].memory = memory.back().storage();
    }
    bound_kernel<1> call;
    call.function = recording_.finish(nullptr);
    call.arguments = std::move(arguments_);
    device_.execute(call, {rows_}).wait();

    std::vector<host_array<std::byte>> read;
    read.reserve(memory.size());
    for (const auto& each : memory) read.push_back(each.read());
    std::vector<column> columns;
    for (const place& at : results_) {
        const scalar type = outputs_[at.output].type;
        columns.push_back(
            unpacked(type, read[at.output].data() + at.position * rows_ * size_of(type), rows_));
    }
    return columns;
}

}  // namespace balm::tool
