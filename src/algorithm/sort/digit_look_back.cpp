#include "algorithm/sort/digit_look_back.hpp"

#include "balm/dsl/control.hpp"
#include "balm/dsl/pointer.hpp"
#include "balm/dsl/sync.hpp"

namespace balm::array {

namespace {

using dsl::atomic_load;
using dsl::atomic_store;
using dsl::break_;
using dsl::cast;
using dsl::Index;
using dsl::Int;
using dsl::named;
using dsl::Ptr;
using dsl::Var;

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
        Var<Word> seen = named("seen", atomic_load(words[before]));
        WHILE ((seen & ~of_count) == none) seen = atomic_load(words[before]);
        sum += seen & of_count;
        IF ((seen & ~of_count) == sums) {
            break_();
        }
        before -= stride;
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
