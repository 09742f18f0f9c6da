#pragma once
// Structures on the device: `Var<particle> p`, with members `p.pos`, `p.vel`; and members of elements of
// memory, `particles[i].pos`, which access only that member.

#include <type_traits>

#include "balm/dsl/lanes.hpp"
#include "balm/dsl/value.hpp"

namespace balm::dsl {

/// A base of members, which are in `detail`: argument-dependent lookup finds the operators of this namespace
/// for them, in programs without `using namespace balm::dsl`.
struct found_with_operators {};

namespace detail {

/// Whether A holds a structure of type S: a variable, an element or a member.
template <class A, class S>
inline constexpr bool gives_structure = false;

/// How members of memory in `Where` are accessed.
template <trace::access Use, space Where>
struct field_access;

/// The place of a member.
template <class T, trace::access Use>
class field_place {
public:
    memory_place balm_place() const { return {pointer_, trace::constant(scalar::i32, 0), {}}; }

protected:
    explicit field_place(const node& pointer) : pointer_(pointer) {}

private:
    node pointer_;
};

/// A member that is a vector also has named lanes: `p.pos.xy`.
template <vector_type V, trace::access Use>
class field_place<V, Use>
    : public lane_names<memory_holder<Use>, typename loaded_type<V>::value_type, balm::detail::lanes_of<V>> {
public:
    const memory_place& balm_place() const { return this->holder_.balm_place(); }

protected:
    explicit field_place(const node& pointer)
        : field_place::lane_names(memory_holder<Use>({pointer, trace::constant(scalar::i32, 0), {}})) {}
};

/// A member that is a scalar or vector.
template <class T, trace::access Use, space Where>
class Field : public field_place<T, Use>, public found_with_operators {
public:
    using value_type = loaded_type<T>;

    Field(const node& structure, int k) : field_place<T, Use>(trace::member_of(structure, k)) {}
    Field(const Field&) = delete;
    void operator=(const Field& other) const { element() = Var<value_type>(other.load()); }
    template <operand A>
    void operator=(A&& a) const {
        element() = static_cast<A&&>(a);
    }
#define BALM_COMPOUND(symbol, id)             \
    template <operand A>                      \
    void operator symbol(A&& a) const {       \
        element() symbol static_cast<A&&>(a); \
    }
    BALM_COMPOUND_ASSIGNMENTS(BALM_COMPOUND)
#undef BALM_COMPOUND
    node load() const { return element().load(); }

private:
    Element<T, Use, Where> element() const { return Element<T, Use, Where>(this->balm_place()); }
};

template <class T, trace::access Use, space Where>
requires number<T> || std::same_as<T, half> || vector_type<T>
inline constexpr bool is_proxy<Field<T, Use, Where>> = true;

/// A member that is an array: its elements, and its rows if it has several dimensions.
template <class T, std::size_t N, trace::access Use, space Where>
class Field<T[N], Use, Where> {
public:
    Field(const node& structure, int k)
        : pointer_(trace::member_of(structure, k)), index_(trace::constant(scalar::i32, 0)) {}
    Field(const node& pointer, const node& index) : pointer_(pointer), index_(index) {}
    Field(const Field&) = delete;

    static constexpr std::size_t size() { return N; }
    auto operator[](located_index i) const {
        trace::check_index(i.value, N, i.where);
        if constexpr (std::is_array_v<T>) {
            const node length =
                trace::constant(i.value.type, sizeof(T) / sizeof(std::remove_all_extents_t<T>));
            return Field<T, Use, Where>(pointer_, sum(product(i.value, length)));
        } else {
            return Element<T, Use, Where>(memory_place(pointer_, sum(i.value), i.where));
        }
    }

private:
    static node product(const node& a, const node& b) { return trace::apply(builtin::mul, a, b); }
    node sum(const node& more) const { return trace::apply(builtin::add, index_, more); }
    node pointer_;
    node index_;
};

template <structure_type S, class Access>
using fields_of = decltype(balm_fields_of(Access{}, static_cast<const S*>(nullptr)));

/// A member that is a structure.
template <structure_type S, trace::access Use, space Where>
class Field<S, Use, Where> : public fields_of<S, field_access<Use, Where>> {
public:
    Field(const node& balm_structure, int balm_k) : Field(trace::member_of(balm_structure, balm_k)) {}
    Field(const Field&) = delete;
    void operator=(const Field& balm_other) const { balm_place().store(balm_other.balm_place().load()); }
    template <class A>
    requires gives_structure<A, S>
    void operator=(const A& balm_other) const { balm_place().store(balm_other.balm_place().load()); }
    memory_place balm_place() const { return {balm_pointer_, trace::constant(scalar::i32, 0), {}}; }

private:
    explicit Field(const node& balm_at)
        : fields_of<S, field_access<Use, Where>>(balm_at), balm_pointer_(balm_at) {}
    node balm_pointer_;
};

template <trace::access Use, space Where>
struct field_access {
    using pointer = node;
    template <class T>
    using field = Field<T, Use, Where>;
};

template <class S>
inline constexpr bool gives_structure<Var<S>, S> = true;
template <class S, trace::access Use, space Where>
inline constexpr bool gives_structure<Element<S, Use, Where>, S> = true;
template <class S, trace::access Use, space Where>
inline constexpr bool gives_structure<Field<S, Use, Where>, S> = true;

}  // namespace detail

/// A structure in a private variable of the work-item.
template <structure_type S>
class [[maybe_unused]] Var<S>
    : public detail::fields_of<S, detail::field_access<trace::access::mixed, space::private_>> {
    using balm_fields = detail::fields_of<S, detail::field_access<trace::access::mixed, space::private_>>;

public:
    /// All bytes zero.
    Var()
        : Var(balm_from_pointer,
              trace::object(balm::detail::type_of_element<S>(), 1, space::private_, true, {})) {}
    Var(const Var& balm_other) : Var(balm_other.balm_place().load()) {}
    template <class A>
    requires(!std::same_as<A, Var> && detail::gives_structure<A, S>)
        Var(const A& balm_other)  // NOLINT(google-explicit-constructor)
        : Var(balm_other.balm_place().load()) {}
    explicit Var(const trace::node& balm_value) : Var(balm_from_pointer, trace::object(balm_value)) {}

    Var& operator=(const Var& balm_other) & {
        balm_place().store(balm_other.balm_place().load());
        return *this;
    }
    template <class A>
    requires(!std::same_as<A, Var> && detail::gives_structure<A, S>) Var& operator=(const A& balm_other) & {
        balm_place().store(balm_other.balm_place().load());
        return *this;
    }

    detail::memory_place balm_place() const { return {balm_pointer_, trace::constant(scalar::i32, 0), {}}; }

private:
    enum balm_tag { balm_from_pointer };
    Var(balm_tag, const trace::node& balm_at) : balm_fields(balm_at), balm_pointer_(balm_at) {}
    trace::node balm_pointer_;
};

/// An element that is a structure: `particles[i].pos`, or all of it.
template <structure_type S, trace::access Use, space Where>
class Element<S, Use, Where> : public detail::fields_of<S, detail::field_access<Use, Where>> {
public:
    explicit Element(const detail::memory_place& balm_at)
        : detail::fields_of<S, detail::field_access<Use, Where>>(balm_at.address()), balm_place_(balm_at) {}
    Element(const Element&) = delete;
    void operator=(Element&& balm_other) && { balm_store(balm_other.balm_place().load()); }
    template <class A>
    requires detail::gives_structure<A, S>
    void operator=(const A& balm_other) && { balm_store(balm_other.balm_place().load()); }
    template <class A>
    requires(!detail::gives_structure<A, S>) BALM_REFUSED(
        "Balm: a structure can only be assigned one of the same type; assign to a member: particles[i].mass "
        "= 1.f")
    void operator=(const A& balm_other) &&;
    const detail::memory_place& balm_place() const { return balm_place_; }

private:
    void balm_store(trace::node balm_value) const {
        static_assert(detail::may_write<Use>, "Balm: this memory is read-only");
        balm_place_.store(balm_value);
    }
    detail::memory_place balm_place_;
};

}  // namespace balm::dsl
