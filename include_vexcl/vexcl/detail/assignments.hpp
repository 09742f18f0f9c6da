#pragma once
// Assignment operators, shared by everything that can be assigned to.

/// Applies a macro to each compound assignment and its binary operator.
#define VEX_COMPOUND_ASSIGNMENTS(apply)                                                                     \
    apply(+=, +) apply(-=, -) apply(*=, *) apply(/=, /) apply(%=, %) apply(&=, &) apply(|=, |) apply(^=, ^) \
        apply(<<=, <<) apply(>>=, >>)

/// Defines assignment of any operand, and compound assignments, in a class Self that has
/// `const Self& assign(a) const`.
#define VEX_ASSIGNED_BY_MEMBER(Self)                                 \
    template <vex::detail::operand A>                                \
    const Self& operator=(const A& a) const {                        \
        return assign(a);                                            \
    }                                                                \
    const Self& operator=(const Self& a) const { return assign(a); } \
    VEX_COMPOUND_ASSIGNMENTS(VEX_COMPOUND_BY_MEMBER)
#define VEX_COMPOUND_BY_MEMBER(symbol, operation)   \
    template <vex::detail::operand A>               \
    const auto& operator symbol(const A& a) const { \
        return assign(*this operation a);           \
    }
