#pragma once
// Stream compaction, shared by selections, unique elements and reductions by key: the elements that are kept
// become contiguous. Users include balm/select.hpp or balm/reduce_by_key.hpp.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "balm/reduce.hpp"
#include "balm/tie.hpp"
#include "balm/vector.hpp"

namespace balm {

namespace array {

/// Which elements are kept, and which of their values. The tape holds the values to keep, the values to
/// reduce and, for selections by a condition, the condition.
struct compaction {
    const char* name;                    ///< the public function, for kernels and messages
    std::span<const trace::type> kept;   ///< types of the kept values
    std::span<const reduction> reduced;  ///< reductions of each run
    /// The number of keys, which are the first of the kept values: the elements that begin a run of equal
    /// keys are kept. 0: the elements whose condition is true are kept.
    std::size_t keys = 0;
    std::shared_ptr<const ir::function> same = {};  ///< compares the keys of two elements; null: ==
    bool is_partition = false;                      ///< the other elements follow the kept ones, in order
};

/// Makes a vector for each kept value and each reduction, with these element types. Returns the number of
/// kept elements. Blocks until it is known.
std::size_t compact(tape&&, const compaction&, std::span<const trace::type> elements,
                    std::shared_ptr<vector_state>* made);
/// The same into existing vectors of equal size. Elements after the kept ones keep their values; kept
/// elements that do not fit are dropped. The count is written to a vector of one element.
void compact_into(std::span<vector_state* const> into, vector_state* count, tape&&, const compaction&);

}  // namespace array

namespace detail {

/// The element type of a vector that stores the elements of an array.
template <class A>
struct kept_element {
    using type = std::remove_const_t<typename A::value_type>;
};
template <class A>
using kept_vector = vector<typename kept_element<std::remove_cvref_t<A>>::type>;

template <class A>
inline constexpr bool is_array_tuple = false;
template <array_value... A>
inline constexpr bool is_array_tuple<std::tuple<A...>> = sizeof...(A) > 0;

/// The arrays of a list, as a tuple of references.
template <class A>
auto listed_arrays(const A& a) {
    if constexpr (array_value<A>)
        return std::tuple<const A&>(a);
    else if constexpr (is_tied<A>)
        return std::apply([](const auto&... each) { return std::tuple<decltype(each)...>(each...); },
                          a.values());
    else
        return std::apply([](const auto&... each) { return std::tuple<decltype(each)...>(each...); }, a);
}
template <class A>
inline constexpr std::size_t array_count =
    std::tuple_size_v<decltype(listed_arrays(std::declval<const A&>()))>;

/// The result for one array, a vector; for several, a tuple of vectors.
template <class A>
struct kept_vectors {
    using type = kept_vector<A>;
};
template <class... A>
struct kept_vectors<std::tuple<A...>> {
    using type = std::tuple<kept_vector<A>...>;
};
template <class... A>
struct kept_vectors<tied<A...>> {
    using type = std::tuple<kept_vector<A>...>;
};
template <class A>
using kept_vectors_of = typename kept_vectors<std::remove_cvref_t<A>>::type;

template <class V>
inline constexpr std::size_t vectors_in = 1;
template <class... V>
inline constexpr std::size_t vectors_in<std::tuple<V...>> = (vectors_in<V> + ...);

template <class Tuple>
inline constexpr bool all_scalars = false;
template <class... A>
inline constexpr bool all_scalars<std::tuple<A...>> = are_scalars<A...>();

/// The next of the new vectors, as the result for a list of arrays.
template <class V>
struct next_made {
    static V from(std::shared_ptr<array::vector_state>*& next) { return V(std::move(*next++)); }
};
template <class... V>
struct next_made<std::tuple<V...>> {
    static std::tuple<V...> from(std::shared_ptr<array::vector_state>*& next) {
        return {next_made<V>::from(next)...};
    }
};

/// The parts of a compaction, collected from lists of arrays and reductions.
struct compaction_parts {
    array::tape values;
    inline_vector<trace::type, 6> kept;      ///< types in kernels
    inline_vector<trace::type, 6> elements;  ///< types in memory, including those of reductions
    inline_vector<array::reduction, 2> reduced;

    template <class A>
    void keep(const A& list) {
        std::apply([this](const auto&... each) { (this->keep_one(each), ...); }, listed_arrays(list));
    }
    template <class R>
    void reduce(const lazy_reduction<R>& what) {
        static_assert(!is_with_position<R>,
                      "Balm: a reduction by key yields one value per key; arg_min and arg_max, which yield "
                      "a value and a position, are not supported");
        values.append(what.tape());
        reduced.push_back(what.how());
        elements.push_back(array_type<R>());
    }
    array::compaction as(const char* name) const {
        return {name, {kept.begin(), kept.size()}, {reduced.begin(), reduced.size()}};
    }

private:
    template <class A>
    void keep_one(const A& a) {
        values.append(begin<array_scalar<A>()>(a));
        kept.push_back(array_type<element_of<A>>());
        elements.push_back(array_type<typename kept_element<A>::type>());
    }
};

/// Makes the vectors, and from them the result for each list. Returns the number of kept elements.
template <class... V>
std::size_t compacted(compaction_parts&& parts, const array::compaction& how, std::tuple<V...>& made) {
    constexpr std::size_t most = 32;
    std::shared_ptr<array::vector_state> states[most];
    static_assert(vectors_in<std::tuple<V...>> <= most, "Balm: a call can make at most 32 vectors");
    const std::size_t count =
        array::compact(std::move(parts.values), how, {parts.elements.begin(), parts.elements.size()}, states);
    std::shared_ptr<array::vector_state>* next = states;
    made = std::tuple<V...>{next_made<V>::from(next)...};
    return count;
}
template <class... T>
void compacted_into(const std::tuple<vector<T>&...>& into, vector<std::int64_t>& count,
                    compaction_parts&& parts, const array::compaction& how) {
    std::apply(
        [&](const vector<T>&... target) {
            array::vector_state* const targets[] = {target.state().get()...};
            array::compact_into(targets, count.state().get(), std::move(parts.values), how);
        },
        into);
}

/// What delimits runs: the number of keys, and the function that compares them.
struct run_rule {
    std::size_t keys = 1;
    std::shared_ptr<const ir::function> same = {};
};
template <class K>
run_rule runs_of_equal(const K&) {
    static_assert(all_scalars<decltype(listed_arrays(std::declval<const K&>()))>,
                  "Balm: keys must be numbers; for other elements pass a function that compares neighbours");
    return {array_count<K>};
}
template <class K, class... P>
run_rule runs_of(const K&, const device_function<dsl::Bool, P...>& same) {
    static_assert(
        sizeof...(P) == 2 * array_count<K>,
        "Balm: a function that compares neighbours takes the keys of one element, then those of the "
        "next");
    return {array_count<K>, same.function()};
}

/// The keys of runs, and the other values that are kept of their first elements.
template <class K, class... V>
compaction_parts parts_of_runs(const K& keys, const V&... values) {
    compaction_parts parts;
    parts.keep(keys);
    (parts.keep(values), ...);
    return parts;
}
/// Makes a tuple of the results for the lists.
template <class Result>
Result all_kept_runs(const char* name, compaction_parts&& parts, run_rule&& rule) {
    array::compaction how = parts.as(name);
    how.keys = rule.keys;
    how.same = std::move(rule.same);
    Result made;
    compacted(std::move(parts), how, made);
    return made;
}
template <class Result>
Result kept_runs(const char* name, compaction_parts&& parts, run_rule&& rule) {
    return std::get<0>(all_kept_runs<std::tuple<Result>>(name, std::move(parts), std::move(rule)));
}
template <class... T>
void keep_runs_into(const char* name, const std::tuple<vector<T>&...>& into, vector<std::int64_t>& count,
                    compaction_parts&& parts, run_rule&& rule) {
    array::compaction how = parts.as(name);
    how.keys = rule.keys;
    how.same = std::move(rule.same);
    compacted_into(into, count, std::move(parts), how);
}

}  // namespace detail

/// An array, or several with the same element count: std::tuple(a, b + 1), std::tie(x, y) or balm::tie(x, y).
template <class A>
concept array_list = array_value<A> || detail::is_array_tuple<std::remove_cvref_t<A>> ||
    detail::is_tied<std::remove_cvref_t<A>>;

}  // namespace balm
