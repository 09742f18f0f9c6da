// uniform and normal: one trace per kind, of the formulas that the host evaluates too.

#include "balm/random.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>
#include <vector>

#include "algorithm/random/random_formulas.hpp"
#include "ir/ir.hpp"
#include "ir/with_type.hpp"

namespace balm {

namespace {

using detail::random_distribution;
using detail::random_generator;
using detail::random_kind;
using random::on_device;
using random::on_host;

/// How elements of one kind share the words of a block.
struct shares {
    std::uint64_t words;   ///< per element
    std::uint64_t needed;  ///< to compute it: normal numbers are computed in pairs

    explicit shares(const random_kind& kind) {
        const std::uint64_t size = size_of(kind.element) == 8 ? 2 : 1;
        words = size * (kind.lanes == 3 ? 4 : static_cast<std::uint64_t>(kind.lanes));
        needed = kind.as == random_distribution::normal ? std::max(words, 2 * size) : words;
    }
};

template <class W>
random::block<typename W::u32> block_at(random_generator from, const typename W::u64& index,
                                        const typename W::u64& seed, const typename W::u64& stream) {
    using U = typename W::u32;
    const auto low = [](const typename W::u64& x) { return random::as<U>(x); };
    const auto high = [](const typename W::u64& x) { return random::as<U>(typename W::u64(x >> 32)); };
    if (from == random_generator::philox)
        return random::philox4x32<W>({low(index), high(index), low(stream), high(stream)},
                                     {low(seed), high(seed)});
    return random::threefry4x32<U>({low(index), high(index), U(0), U(0)},
                                   {low(seed), high(seed), low(stream), high(stream)});
}

/// The words from which the element at this index is computed.
template <class W>
std::vector<typename W::u32> draw(const random_kind& kind, const typename W::u64& index,
                                  const typename W::u64& seed, const typename W::u64& stream) {
    using U = typename W::u32;
    using index_type = typename W::u64;
    const shares share(kind);
    std::vector<U> words;
    if (share.words >= 4) {
        words.reserve(share.words);  // growing would copy device variables, which is recorded
        for (std::uint64_t k = 0; k < share.words / 4; ++k)
            for (const U& word :
                 block_at<W>(kind.from, index_type(index * (share.words / 4) + k), seed, stream))
                words.push_back(word);
        return words;
    }
    const auto block = block_at<W>(kind.from, index_type(index >> (share.words == 2 ? 1 : 2)), seed, stream);
    words.reserve(4);
    const U place = random::as<U>(index);
    const auto chosen = [&](std::uint64_t bit, const U& if_set, const U& if_not) {
        return random::choose((place & U(static_cast<std::uint32_t>(bit))) != U(0), if_set, if_not);
    };
    if (share.needed == 4) {
        words.assign(block.begin(), block.end());
        return words;
    }
    const U first = chosen(2 / share.words, block[2], block[0]);
    const U second = chosen(2 / share.words, block[3], block[1]);
    if (share.needed == 1) {
        words.push_back(chosen(1, second, first));
    } else {
        words.push_back(first);
        words.push_back(second);
    }
    return words;
}

/// The type that represents T on the host or in a kernel.
template <class W, class T>
using number = std::conditional_t<std::same_as<W, on_host>, T, dsl::Var<T>>;

template <class W>
typename W::u64 joined(const std::vector<typename W::u32>& words, std::size_t k) {
    using U = typename W::u64;
    return U(U(random::as<U>(words[2 * k + 1]) << 32) | random::as<U>(words[2 * k]));
}

/// Number k from these words.
template <class W, class T>
number<W, T> uniform_number(const std::vector<typename W::u32>& words, std::size_t k) {
    if constexpr (std::same_as<T, float>)
        return random::unit_float<W>(words[k]);
    else if constexpr (std::same_as<T, double>)
        return random::unit_double<W>(joined<W>(words, k));
    else if constexpr (std::same_as<T, bool>)
        return number<W, T>((words[k] & typename W::u32(1)) != typename W::u32(0));
    else if constexpr (sizeof(T) == 8)
        return random::as<number<W, T>>(joined<W>(words, k));
    else
        return random::as<number<W, T>>(words[k]);
}

/// All numbers from these words.
template <class W, class T>
std::vector<number<W, T>> numbers(const random_kind& kind, const std::vector<typename W::u32>& words) {
    std::vector<number<W, T>> made;
    const std::size_t count = words.size() / (sizeof(T) == 8 ? 2 : 1);
    made.reserve(count);
    for (std::size_t k = 0; k < count; ++k) {
        if constexpr (std::floating_point<T>) {
            if (kind.as == random_distribution::normal) {
                const auto pair = [&] {
                    if constexpr (sizeof(T) == 8)
                        return random::normal_pair<W>(joined<W>(words, k), joined<W>(words, k + 1));
                    else
                        return random::normal_pair<W>(words[k], words[k + 1]);
                }();
                made.push_back(pair[0]);
                made.push_back(pair[1]);
                ++k;
                continue;
            }
        }
        made.push_back(uniform_number<W, T>(words, k));
    }
    return made;
}

/// The lanes of the element at this index.
template <class W, class T>
std::vector<number<W, T>> drawn_lanes(const random_kind& kind, const typename W::u64& index,
                                      const typename W::u64& seed, const typename W::u64& stream) {
    auto all = numbers<W, T>(kind, draw<W>(kind, index, seed, stream));
    if (kind.lanes == 1 && all.size() == 2) {
        using U = typename W::u64;
        const number<W, T> own = random::choose((index & U(1)) != U(0), all[1], all[0]);
        all.clear();
        all.push_back(own);
    }
    return all;
}

std::shared_ptr<ir::function> trace_random(const random_kind& kind) {
    constexpr const char* generators[] = {"philox", "threefry"};
    constexpr const char* distributions[] = {"uniform", "normal"};
    std::string name = generators[static_cast<int>(kind.from)];
    name += std::string("_") + distributions[static_cast<int>(kind.as)] + "_" + to_string(kind.element);
    if (kind.lanes > 1) name += "x" + std::to_string(kind.lanes);
    trace::recording r(name + "(index, seed, stream)", 0, {});
    const dsl::ULong index(r.parameter(scalar::u64, trace::access::value));
    const dsl::ULong seed(r.parameter(scalar::u64, trace::access::value));
    const dsl::ULong stream(r.parameter(scalar::u64, trace::access::value));
    return ir::with_type(kind.element, [&]<class T>(std::type_identity<T>) {
        const auto made = drawn_lanes<on_device, T>(kind, index, seed, stream);
        std::vector<trace::node> nodes;
        nodes.reserve(made.size());
        for (int k = 0; k < kind.lanes; ++k)
            nodes.push_back(trace::read(made[static_cast<std::size_t>(k)].node()));
        trace::node result = nodes[0];
        if (kind.lanes > 1)
            result = trace::compose(trace::type(kind.element, static_cast<std::uint8_t>(kind.lanes)),
                                    nodes.data(), nodes.size());
        return std::make_shared<ir::function>(*r.finish(&result));
    });
}

/// Four consecutive numbers are the vector of four at a quarter of their index.
std::shared_ptr<const ir::function> trace_with_fours(const random_kind& kind) {
    const std::shared_ptr<ir::function> made = trace_random(kind);
    if (kind.lanes == 1) made->of_four = trace_random({kind.from, kind.as, kind.element, 4});
    return made;
}

struct by_kind {
    bool operator()(const random_kind& a, const random_kind& b) const {
        return std::tuple(a.from, a.as, a.element, a.lanes) < std::tuple(b.from, b.as, b.element, b.lanes);
    }
};

}  // namespace

const std::shared_ptr<const ir::function>& detail::random_function(const random_kind& kind) {
    static std::mutex& mutex = *new std::mutex;
    static auto& functions = *new std::map<random_kind, std::shared_ptr<const ir::function>, by_kind>;
    const std::lock_guard lock(mutex);
    std::shared_ptr<const ir::function>& found = functions[kind];
    if (found == nullptr) found = trace_with_fours(kind);
    return found;
}

void detail::random_on_host(const random_kind& kind, std::uint64_t index, std::uint64_t seed,
                            std::uint64_t stream, void* element) {
    ir::with_type(kind.element, [&]<class T>(std::type_identity<T>) {
        const auto made = drawn_lanes<on_host, T>(kind, index, seed, stream);
        for (int k = 0; k < kind.lanes; ++k) {
            const T lane = made[static_cast<std::size_t>(k)];
            std::memcpy(static_cast<std::byte*>(element) + static_cast<std::size_t>(k) * sizeof(T), &lane,
                        sizeof lane);
        }
    });
}

}  // namespace balm
