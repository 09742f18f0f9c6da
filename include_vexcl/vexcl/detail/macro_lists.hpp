#pragma once
// Preprocessor lists such as `(double, x)(int, i)`, for VEX_FUNCTION. Each element invokes a macro that
// expands to one item and the name of the next macro. Two macros alternate, since a macro does not expand
// recursively.

/// Terminates an expanded list: appends _END to the last token, the name of the next macro, which makes it
/// the name of a macro that expands to nothing.
#define VEX_ENDED(...) VEX_ENDED_AS_IS(__VA_ARGS__)
#define VEX_ENDED_AS_IS(...) __VA_ARGS__##_END

/// `, double, int`
#define VEX_TYPES_OF(list) VEX_ENDED(VEX_TYPES_1 list)
#define VEX_TYPES_1(type, name) , type VEX_TYPES_2
#define VEX_TYPES_2(type, name) , type VEX_TYPES_1
#define VEX_TYPES_1_END
#define VEX_TYPES_2_END

/// `, "x", "i"`
#define VEX_NAMES_OF(list) VEX_ENDED(VEX_NAMES_1 list)
#define VEX_NAMES_1(type, name) , VEX_AS_TEXT(name) VEX_NAMES_2
#define VEX_NAMES_2(type, name) , VEX_AS_TEXT(name) VEX_NAMES_1
#define VEX_NAMES_1_END
#define VEX_NAMES_2_END
#define VEX_AS_TEXT(...) #__VA_ARGS__

/// `double x, int i`
#define VEX_PARAMETERS_OF(list) VEX_ENDED(VEX_PARAMETERS_0 list)
#define VEX_PARAMETERS_0(type, name) type name VEX_PARAMETERS_1
#define VEX_PARAMETERS_1(type, name) , type name VEX_PARAMETERS_2
#define VEX_PARAMETERS_2(type, name) , type name VEX_PARAMETERS_1
#define VEX_PARAMETERS_0_END
#define VEX_PARAMETERS_1_END
#define VEX_PARAMETERS_2_END

/// `f.define(src); g.define(src);` of `(f)(g)`
#define VEX_DEFINITIONS_OF(list) VEX_ENDED(VEX_DEFINITIONS_1 list)
#define VEX_DEFINITIONS_1(f)                       \
    std::remove_cvref_t<decltype(f)>::define(src); \
    VEX_DEFINITIONS_2
#define VEX_DEFINITIONS_2(f)                       \
    std::remove_cvref_t<decltype(f)>::define(src); \
    VEX_DEFINITIONS_1
#define VEX_DEFINITIONS_1_END
#define VEX_DEFINITIONS_2_END
