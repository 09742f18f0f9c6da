#pragma once
// Assignment operators, which everything that can be assigned to has in one form.

/// Applies the macro to each compound assignment and its operator.
#define VEX_COMPOUND_ASSIGNMENTS(apply)                                                                     \
    apply(+=, +) apply(-=, -) apply(*=, *) apply(/=, /) apply(%=, %) apply(&=, &) apply(|=, |) apply(^=, ^) \
        apply(<<=, <<) apply(>>=, >>)

/// In a class Self that has `const Self& assign(a) const`: assignment of any operand, and compound
/// assignments.
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
