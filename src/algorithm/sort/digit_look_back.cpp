#include "algorithm/sort/digit_look_back.hpp"

#include <vector>

#include "balm/dsl/control.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using dsl::atomic_load;
using dsl::atomic_store;
using dsl::Bool;
using dsl::break_;
using dsl::cast;
using dsl::Index;
using dsl::Int;
using dsl::max;
using dsl::named;
using dsl::Ptr;
using dsl::Var;

/// Words of tiles before that are asked for together: one after the other, each takes the latency of the
/// cache that the groups share.
constexpr int words_at_once = 4;

template <class Word>
Index ahead(const Ptr<Word>& words, int count_bits, const Index& word, const Int& stride, const Int& count,
            const Int& pass) {
    const Word of_count = (Word{1} << count_bits) - 1;
    const auto tagged = [&](const Int& tag) { return cast<Word>(tag & 3) << count_bits; };
    const Int nothing = named("nothing", pass << 1);
    const Var<Word> own = tagged(nothing + 1), sums = tagged(nothing + 2), none = tagged(nothing);
    atomic_store(words[word], own | cast<Word>(count));
    Var<Word> sum = named("ahead", Var<Word>(0));
    Index before = named("before", word - stride);
    WHILE (before >= 0) {
        std::vector<Var<Word>> seen;
        seen.reserve(words_at_once);
        for (int k = 0; k < words_at_once; ++k)
            seen.push_back(named("seen", atomic_load(words[max(before - k * stride, 0)])));
        Bool goes_on = named("goes_on", Bool(true));
        for (int k = 0; k < words_at_once; ++k) {
            Var<Word>& each = seen[static_cast<std::size_t>(k)];
            IF (goes_on) {
                WHILE ((each & ~of_count) == none) each = atomic_load(words[before - k * stride]);
                sum += each & of_count;
                goes_on = (each & ~of_count) != sums && before >= (k + 1) * stride;
            }
        }
        IF (!goes_on) {
            break_();
        }
        before -= words_at_once * stride;
    }
    atomic_store(words[word], sums | (sum + cast<Word>(count)));
    return cast<std::int64_t>(sum);
}

}  // namespace

Index elements_ahead(const trace::node& words, const Index& word, const Int& stride, const Int& count,
                     const Int& pass) {
    return trace::pointee(words.type).element == scalar::u32
               ? ahead(Ptr<std::uint32_t>(words), narrow_count_bits, word, stride, count, pass)
               : ahead(Ptr<std::uint64_t>(words), wide_count_bits, word, stride, count, pass);
}

}  // namespace balm::array
