// Records a program with the kernel language, as a user would have written it: one C++ statement of the
// language for each of the tree's. C++ does not fix the order in which operands are evaluated, so that each
// is recorded in a statement of its own.

#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "balm/dsl/complex.hpp"
#include "balm/text_kernel.hpp"
#include "support/kernel_tree.hpp"

namespace balm::test::tree {

namespace {

using namespace balm::dsl;

/// The functions of a program, by shape.
struct device_functions {
    std::map<id, device_function<Int, Int, UInt>> numbers;
    std::map<id, device_function<Float, Float, Int>> floats;
    std::map<id, device_function<Int, Ptr<std::int32_t>, Int>> global_pointer;
    std::map<id, device_function<Float, PrivatePtr<float>, Int>> private_pointer;
    std::map<id, device_function<Var<record>, Var<record>, Int>> of_record;
    std::map<id, device_function<UInt, Var<record>, Int>> from_record;
    std::map<id, device_function<Int, Ptr<record>, Int>> record_pointer;
    std::map<id, device_function<Float, PrivatePtr<record>, Int>> own_record_pointer;
    std::map<id, device_function<UInt, UInt, Int>> meeting;
};

/// The constants of the program and of its module.
struct constants {
    std::map<id, balm::constant_array<std::int32_t>> of_program;
    module_array<std::int32_t> given;
    module_constant<record> given_record;
};

/// The kernel's memory.
struct memory {
    In<std::int32_t> in_ints;
    In<float, 2> in_floats;
    In<half4> in_halves;
    Mixed<std::int32_t> ints;
    Mixed<float> floats;
    Mixed<half> halves;
    Mixed<half3> half_vectors;
    Mixed<record> records;
    Mixed<std::int32_t> spread;
    InImage<balm::uint4, 2> image;
    Sampled<float, 2> sampled;
    OutImage<std::int32_t, 2> out_image;
    Local<std::int32_t> shared;
    LocalArray<std::int32_t, items, window>& tile;
    Int lid;
    /// The first element of the work-item's own.
    Index own() const { return global_id(0) * window; }
};

/// What the kernel has declared of a type of numbers.
template <class T>
struct declared {
    std::map<id, Var<T>> variables;
    std::map<id, Array<T, window>> arrays;
    std::map<id, Array<T, 4, 4>> matrices;
};
/// The same of a type of pointers.
template <class P>
struct declared_pointers {
    std::map<id, P> pointers;
    std::map<id, PrivatePtr<P>> deep;
    std::map<id, Array<P, pointers_each>> arrays;
};
using ConstantPtr = Ptr<const std::int32_t, space::constant>;

class recording {
public:
    recording(const program& p, const constants& c, const device_functions& f, const memory* m)
        : p_(p), constants_(c), functions_(f), memory_(m) {}

    template <class T>
    void set(id o, const Var<T>& value) {
        if constexpr (std::same_as<T, record>)
            records_.emplace(o, value);
        else
            of<T>().variables.emplace(o, value);
    }
    template <class T, space Where>
    void set(id o, const Ptr<T, Where>& p) {
        all<Ptr<T, Where>>().pointers.emplace(o, p);
    }
    void set(id o, const Ptr<record>& p) { record_pointers_.emplace(o, p); }
    void set(id o, const PrivatePtr<record>& p) { own_record_pointers_.emplace(o, p); }
    Var<record>& record_of(id o) { return records_.at(o); }

    void block(const std::vector<statement>& list) {
        for (const statement& s : list) step(s);
    }
    template <class T>
    Var<T> value(id e) {
        const expression& x = at(e);
        switch (x.what) {
            case operation::literal: return Var<T>(std::bit_cast<T>(x.bits));
            case operation::read: return read<T>(x.a);
            case operation::convert: return converted<T>(x.a);
            case operation::round:
                if constexpr (std::same_as<T, std::int32_t>) return rounded(x);
                break;
            case operation::narrow:
                if constexpr (std::integral<T>) return narrowed_as<T>(x);
                break;
            case operation::neg:
                if constexpr (!std::is_unsigned_v<T>) return -value<T>(x.a);
                break;
            case operation::bit_not:
                if constexpr (std::integral<T>) return ~value<T>(x.a);
                break;
            case operation::select: {
                const Bool condition = truth(x.a);
                const Var<T> yes = value<T>(x.b), no = value<T>(x.c);
                return select(condition, yes, no);
            }
            case operation::step_on:
                if constexpr (std::same_as<T, std::int32_t>) return step_on(x.a);
                break;
            case operation::mul_add: {
                const Var<T> a = value<T>(x.a), b = value<T>(x.b), c = value<T>(x.c);
                if constexpr (std::floating_point<T>) return fma(a, b, c);
                break;
            }
            default: {
                const Var<T> a = value<T>(x.a), b = value<T>(x.b);
                return binary<T>(x.what, a, b);
            }
        }
        throw std::logic_error("an expression of another type");
    }
    /// A sum over the variables declared at the top, and over local memory.
    UInt sum_at_the_end() {
        UInt sum = 0u;
        const auto add = [&](const UInt& value) { sum = sum * 31u + value; };
        for (const statement& s : p_.body) {
            const bool declares = s.what == action::declare || s.what == action::call ||
                                  s.what == action::exchange || s.what == action::together ||
                                  s.what == action::tally;
            if (declares) add_up(s.target, add);
        }
        for (int l = 0; l < window; ++l) add(cast<std::uint32_t>(memory_->shared[memory_->lid * window + l]));
        for (int l = 0; l < window; ++l) add(cast<std::uint32_t>(memory_->tile[memory_->lid][l]));
        return sum;
    }

private:
    const expression& at(id e) const { return p_.expressions[static_cast<std::size_t>(e)]; }
    const object& of_id(id o) const { return p_.objects[static_cast<std::size_t>(o)]; }
    template <class T>
    declared<T>& of() {
        return std::get<declared<T>>(declared_);
    }
    template <class P>
    declared_pointers<P>& all() {
        return std::get<declared_pointers<P>>(pointers_);
    }

    // ---- expressions

    template <class T>
    static Var<T> binary(operation what, const Var<T>& a, const Var<T>& b) {
        switch (what) {
            case operation::add: return a + b;
            case operation::sub: return a - b;
            case operation::mul: return a * b;
            case operation::min: return min(a, b);
            case operation::max: return max(a, b);
            default: break;
        }
        if constexpr (std::integral<T>) {
            switch (what) {
                case operation::div: return a / b;
                case operation::rem: return a % b;
                case operation::bit_and: return a & b;
                case operation::bit_or: return a | b;
                case operation::bit_xor: return a ^ b;
                case operation::shl: return a << b;
                case operation::shr: return a >> b;
                default: break;
            }
        }
        throw std::logic_error("an operation of another type");
    }
    template <class T>
    Var<T> converted(id e) {
        switch (at(e).type) {
            case number::i32: return cast<T>(value<std::int32_t>(e));
            case number::u32: return cast<T>(value<std::uint32_t>(e));
            case number::f32: return cast<T>(value<float>(e));
            default: return cast<T>(truth(e));
        }
    }
    Int rounded(const expression& x) {
        const Float quarters = value<float>(x.a) * 0.25f;
        switch (static_cast<rounding>(x.bits)) {
            case rounding::nearest_even: return convert<std::int32_t, rounding::nearest_even>(quarters);
            case rounding::toward_zero: return convert<std::int32_t, rounding::toward_zero>(quarters);
            case rounding::up: return convert<std::int32_t, rounding::up>(quarters);
            default: return convert<std::int32_t, rounding::down>(quarters);
        }
    }
    template <class T>
    Var<T> narrowed_as(const expression& x) {
        switch (at(x.a).type) {
            case number::i32: return narrowed_from<T>(x, value<std::int32_t>(x.a));
            case number::u32: return narrowed_from<T>(x, value<std::uint32_t>(x.a));
            default: return narrowed_from<T>(x, value<float>(x.a));
        }
    }
    template <class T, class V>
    static Var<T> narrowed_from(const expression& x, const V& given) {
        switch (static_cast<narrowed>(x.bits)) {
            case narrowed::i8: return cast<T>(convert_sat<std::int8_t>(given));
            case narrowed::u8: return cast<T>(convert_sat<std::uint8_t>(given));
            case narrowed::i16: return cast<T>(convert_sat<std::int16_t>(given));
            case narrowed::u16: return cast<T>(convert_sat<std::uint16_t>(given));
            case narrowed::i32: return cast<T>(convert_sat<std::int32_t>(given));
            default: return cast<T>(convert_sat<std::uint32_t>(given));
        }
    }
    Bool truth(id e) {
        const expression& x = at(e);
        switch (x.what) {
            case operation::logic_not: return !truth(x.a);
            case operation::logic_and: return truth(x.a) && truth(x.b);
            case operation::logic_or: return truth(x.a) || truth(x.b);
            default: break;
        }
        switch (at(x.a).type) {
            case number::i32: return compared<std::int32_t>(x);
            case number::u32: return compared<std::uint32_t>(x);
            default: return compared<float>(x);
        }
    }
    template <class T>
    Bool compared(const expression& x) {
        const Var<T> a = value<T>(x.a), b = value<T>(x.b);
        return x.what == operation::less ? a < b : a == b;
    }

    // ---- places

    template <class T>
    Var<T> read(id where) {
        const place& p = p_.places[static_cast<std::size_t>(where)];
        std::unique_ptr<Var<T>> found;
        const auto give = [&](auto&& e) { found = std::make_unique<Var<T>>(static_cast<decltype(e)&&>(e)); };
        if (is_only_read(of_id(p.where)))
            visit_constant<T>(p, give);
        else
            visit<T>(p, give);
        return *found;
    }
    template <class T>
    void write(id where, const Var<T>& given) {
        visit<T>(p_.places[static_cast<std::size_t>(where)],
                 [&](auto&& e) { static_cast<decltype(e)&&>(e) = given; });
    }
    Int step_on(id where) {
        Int changed;
        visit<std::int32_t>(p_.places[static_cast<std::size_t>(where)], [&](auto&& e) {
            const Int before(static_cast<decltype(e)&&>(e));
            changed = (before & 0x7fff) + 1;
            static_cast<decltype(e)&&>(e) = changed;
        });
        return changed;
    }
    static bool is_only_read(const object& o) {
        for (const kind what : {o.what, o.space})
            if (what == kind::in || what == kind::in_halves || what == kind::constant ||
                what == kind::given || what == kind::given_record || what == kind::image ||
                what == kind::sampled)
                return true;
        return false;
    }
    Int index_of(const place& p) { return value<std::int32_t>(p.index); }
    Int other_of(const place& p) { return value<std::int32_t>(p.other); }

    /// Gives f what stands at a place that cannot be written.
    template <class T, class F>
    void visit_constant(const place& p, F&& f) {
        const kind what = of_id(p.where).what;
        if (what == kind::given_record)
            return visit_member<T>(p, *constants_.given_record.operator->().operator->(), f);
        if constexpr (std::same_as<T, std::uint32_t>) {
            const Int column = index_of(p), row = other_of(p);
            const UInt4 element = memory_->image(row, column);
            return p.part == 0   ? f(element.x)
                   : p.part == 1 ? f(element.y)
                   : p.part == 2 ? f(element.z)
                                 : f(element.w);
        } else if constexpr (std::same_as<T, float>) {
            if (what == kind::in) {
                const Int column = index_of(p);
                if (p.other == none) return f(memory_->in_floats[column]);
                return f(memory_->in_floats(other_of(p), column));
            }
            if (what == kind::in_halves) {
                const Float4 lanes = memory_->in_halves[index_of(p)];
                return f(lanes[p.part]);
            }
            const bool is_normalised = p_.through.coordinates == image_coordinates::normalised;
            const float scale = is_normalised ? 1.f / sampled_size : 1.f;
            const auto coordinate = [&](const Int& k) {
                return (cast<float>(k - 12) * 0.5f + 0.25f) * scale;
            };
            const Float x = coordinate(index_of(p)), y = coordinate(other_of(p));
            return f(memory_->sampled(x, y));
        } else {
            const Int k = index_of(p);
            switch (what) {
                case kind::in: return f(memory_->in_ints[k]);
                case kind::constant: return f(constants_.of_program.at(p.where)[k]);
                case kind::given: return f(constants_.given[k]);
                default: return visit_pointee<ConstantPtr>(p, k, f);
            }
        }
    }
    /// Gives f what stands at a place that can be written.
    template <class T, class F>
    void visit(const place& p, F&& f) {
        declared<T>& d = of<T>();
        const kind what = of_id(p.where).what;
        if (what == kind::variable) return f(d.variables.at(p.where));
        if (what == kind::record) return visit_member<T>(p, records_.at(p.where), f);
        if (what == kind::record_pointer) return visit_pointed_record<T>(p, f);
        if constexpr (std::same_as<T, std::uint32_t>) {
            auto& v = vectors_.at(p.where);
            return p.part == 0 ? f(v.x) : p.part == 1 ? f(v.y) : p.part == 2 ? f(v.z) : f(v.w);
        } else {
            if constexpr (std::same_as<T, float>)
                if (what == kind::complex) {
                    Float part = p.part == 0 ? real(complex_.at(p.where)) : imag(complex_.at(p.where));
                    return f(part);
                }
            if constexpr (std::same_as<T, std::int32_t>)
                if (what == kind::spread) return f(memory_->spread[*shared_out_]);
            const Int k = index_of(p);
            if (what == kind::pointer || what == kind::deep_pointer || what == kind::pointer_array)
                return with_pointer_type<T>(of_id(p.where), [&]<class P>() { visit_pointee<P>(p, k, f); });
            if (what == kind::records) {
                const Index which = global_id(0) * records_each + k;
                if constexpr (std::same_as<T, std::int32_t>)
                    return f(memory_->records[which].kernel);
                else
                    return f(memory_->records[which].half);
            }
            if constexpr (std::same_as<T, std::int32_t>) {
                if (what == kind::array) return f(d.arrays.at(p.where)[k]);
                if (what == kind::tile) return f(memory_->tile[memory_->lid][k]);
                if (what == kind::shared) return f(memory_->shared[memory_->lid * window + k]);
                return f(memory_->ints[memory_->own() + k]);
            } else {
                if (what == kind::matrix) return f(d.matrices.at(p.where)[k >> 2][k & 3]);
                if (what == kind::halves) return f(memory_->halves[memory_->own() + k]);
                if (what == kind::half_vectors) return visit_lane(p.part, own_half_vector() + k, f);
                return f(memory_->floats[memory_->own() + k]);
            }
        }
    }
    static Index own_half_vector() { return global_id(0) * half_vectors_each; }
    template <class F>
    void visit_lane(int lane, const Index& k, F&& f) {
        switch (lane) {
            case 0: return f(memory_->half_vectors[k].x);
            case 1: return f(memory_->half_vectors[k].y);
            default: return f(memory_->half_vectors[k].z);
        }
    }
    template <class T, class R, class F>
    void visit_member(const place& p, R&& r, F&& f) {
        if constexpr (std::same_as<T, std::int32_t>) {
            switch (p.part) {
                case of_int: return f(r.kernel);
                case of_inner_int: return f(r.in.threadIdx);
                default: return f(r.values[index_of(p)].threadIdx);
            }
        } else if constexpr (std::same_as<T, float>) {
            switch (p.part) {
                case of_float: return f(r.half);
                case of_inner_floats: return f(r.in.w[index_of(p)]);
                default: return f(r.values[index_of(p)].w[1]);
            }
        } else if (p.part == of_uints) {
            f(r.constant[index_of(p)]);
        } else {
            switch (at(p.index).bits) {
                case 0: return f(r.local.x);
                case 1: return f(r.local.y);
                case 2: return f(r.local.z);
                default: return f(r.local.w);
            }
        }
    }
    template <class T, class F>
    void visit_pointed_record(const place& p, F&& f) {
        if (of_id(p.where).space == kind::records)
            visit_member<T>(p, *record_pointers_.at(p.where), f);
        else
            visit_member<T>(p, *own_record_pointers_.at(p.where), f);
    }
    template <class P, class F>
    void visit_pointee(const place& p, const Int& k, F&& f) {
        declared_pointers<P>& d = all<P>();
        switch (of_id(p.where).what) {
            case kind::pointer:
                if (p.part == 0) return f(d.pointers.at(p.where)[k]);
                return f((d.pointers.at(p.where) + p.part)[k]);
            case kind::deep_pointer: return f((*d.deep.at(p.where))[k]);
            default: {
                const Int which = other_of(p);
                return f(d.arrays.at(p.where)[which][k]);
            }
        }
    }

    // ---- pointers

    /// Calls f with the type of a pointer to numbers of T.
    template <class T, class F>
    void with_pointer_type(const object& p, F&& f) {
        switch (p.space) {
            case kind::mixed: return f.template operator()<Ptr<T>>();
            case kind::variable:
            case kind::array:
            case kind::matrix: return f.template operator()<PrivatePtr<T>>();
            default:
                if constexpr (std::same_as<T, std::int32_t>) return f.template operator()<LocalPtr<T>>();
        }
    }
    /// Calls f with a pointer to the first element of what this one points into.
    template <class F>
    void with_base(const object& p, F&& f) {
        declared<std::int32_t>& i = of<std::int32_t>();
        declared<float>& x = of<float>();
        switch (p.space) {
            case kind::variable:
                if (p.type == number::i32) return f(address_of(i.variables.at(p.of)));
                return f(address_of(x.variables.at(p.of)));
            case kind::mixed:
                if (p.type == number::i32) return f(address_of(memory_->ints[memory_->own()]));
                return f(memory_->floats.data() + memory_->own());
            case kind::array: return f(i.arrays.at(p.of).data());
            case kind::matrix: return f(x.matrices.at(p.of).data());
            case kind::tile: return f(address_of(memory_->tile[memory_->lid][0]));
            case kind::shared: return f(memory_->shared.data() + memory_->lid * window);
            case kind::given: return f(constants_.given.data());
            default: return f(constants_.of_program.at(p.of).data());
        }
    }
    /// The last element that a pointer may point to.
    int last_of(const object& p) const { return p.space == kind::variable ? 0 : reach - 1; }

    void declare_pointer(id target, const Int& at_element) {
        with_base(of_id(target), [&]<class P>(const P& base) { set(target, P(base + at_element)); });
    }
    void declare_pointer_array(id target, const Int& at_element) {
        const object& o = of_id(target);
        with_base(o, [&]<class P>(const P& base) {
            auto& made = all<P>().arrays.try_emplace(target).first->second;
            for (int k = 0; k < pointers_each; ++k) made[k] = base + ((at_element + k) & last_of(o));
        });
    }
    void declare_record_pointer(id target, const Int& which) {
        const object& o = of_id(target);
        if (o.space == kind::records)
            record_pointers_.emplace(target,
                                     address_of(memory_->records[global_id(0) * records_each + which]));
        else
            own_record_pointers_.emplace(target, address_of(records_.at(o.of)));
    }
    void move_pointer(id target, const Int& by) {
        const object& o = of_id(target);
        with_base(o, [&]<class P>(const P& base) {
            P& p = all<P>().pointers.at(target);
            const Int before = cast<std::int32_t>(p - base);
            p = base;
            p += (before + (by & 0xffff)) & last_of(o);
        });
    }
    void copy_pointer(id target, id from) {
        with_base(of_id(target),
                  [&]<class P>(const P&) { all<P>().pointers.at(target) = all<P>().pointers.at(from); });
    }
    void declare_deep(id target, id to) {
        with_base(of_id(target), [&]<class P>(const P&) {
            all<P>().deep.emplace(target, address_of(all<P>().pointers.at(to)));
        });
    }
    void redirect(const statement& s, const Int& at_element) {
        with_base(of_id(s.target), [&]<class P>(const P& base) {
            const P to(base + at_element);
            if (of_id(s.target).what == kind::deep_pointer) {
                *all<P>().deep.at(s.target) = to;
            } else {
                const Int which = value<std::int32_t>(s.b);
                all<P>().arrays.at(s.target)[which] = to;
            }
        });
    }

    // ---- statements

    void step(const statement& s) {
        switch (s.what) {
            case action::declare: return declare(s);
            case action::assign: return assign(s);
            case action::add_to: {
                const UInt more = value<std::uint32_t>(s.a);
                return visit<std::uint32_t>(p_.places[static_cast<std::size_t>(s.where)],
                                            [&](auto&& e) { static_cast<decltype(e)&&>(e) += more; });
            }
            case action::combine: return combine(s);
            case action::round_trip: return round_trip(s);
            case action::shuffle_lanes: {
                const UInt4 from = vectors_.at(s.b);
                vectors_.at(s.target).xy = from.zw;
                return;
            }
            case action::copy:
                if (of_id(s.target).what == kind::pointer) return copy_pointer(s.target, s.b);
                records_.at(s.target) = records_.at(s.b);
                return;
            case action::load_record:
                records_.at(s.target) = memory_->records[global_id(0) * records_each + s.part];
                return;
            case action::store_record:
                memory_->records[global_id(0) * records_each + s.part] = records_.at(s.b);
                return;
            case action::move: return move_pointer(s.target, value<std::int32_t>(s.a));
            case action::redirect: return redirect(s, value<std::int32_t>(s.a));
            case action::copy_inner: return copy_inner(s);
            case action::paint: {
                const Int column = value<std::int32_t>(s.a);
                memory_->out_image(memory_->lid, column) = value<std::int32_t>(s.b);
                return;
            }
            case action::share_out: return share_out(s);
            case action::tally: return set_named(s.target, barrier_count(truth(s.a)));
            case action::call: return call(s);
            case action::branch: return branch(s);
            case action::count: return count(s);
            case action::repeat: return repeat(s);
            case action::leave: return break_();
            case action::next: return continue_();
            case action::give_back: return give_back(s);
            case action::exchange: return exchange(s);
            case action::together: return together(s);
        }
    }
    template <class T>
    void set_named(id o, const Var<T>& given) {
        const std::string& word = of_id(o).word;
        if (word.empty())
            set(o, given);
        else
            of<T>().variables.emplace(o, named(word.c_str(), given));
    }
    void declare(const statement& s) {
        const object& o = of_id(s.target);
        switch (o.what) {
            case kind::array: of<std::int32_t>().arrays.try_emplace(s.target); return;
            case kind::matrix: of<float>().matrices.try_emplace(s.target); return;
            case kind::record: records_.try_emplace(s.target); return;
            case kind::vector: {
                const UInt b = value<std::uint32_t>(s.a);
                vectors_.emplace(s.target, UInt4(b, b + 1u, b ^ 5u, ~b));
                return;
            }
            case kind::complex: {
                const Float b = value<float>(s.a);
                complex_.emplace(s.target, CFloat(b, -b));
                return;
            }
            case kind::pointer: return declare_pointer(s.target, value<std::int32_t>(s.a));
            case kind::pointer_array: return declare_pointer_array(s.target, value<std::int32_t>(s.a));
            case kind::record_pointer: return declare_record_pointer(s.target, value<std::int32_t>(s.a));
            case kind::deep_pointer: return declare_deep(s.target, s.b);
            default: break;
        }
        switch (o.type) {
            case number::i32: return set_named(s.target, value<std::int32_t>(s.a));
            case number::u32: return set_named(s.target, value<std::uint32_t>(s.a));
            default: return set_named(s.target, value<float>(s.a));
        }
    }
    void assign(const statement& s) {
        switch (p_.places[static_cast<std::size_t>(s.where)].type) {
            case number::i32: return write(s.where, value<std::int32_t>(s.a));
            case number::u32: return write(s.where, value<std::uint32_t>(s.a));
            default: return write(s.where, value<float>(s.a));
        }
    }
    static Float bounded(const Float& f) { return cast<float>(cast<std::int32_t>(f) & 1023); }
    void combine(const statement& s) {
        if (of_id(s.target).what == kind::complex) {
            CFloat& z = complex_.at(s.target);
            const CFloat w = complex_.at(s.b);
            const auto& [divisor_real, divisor_imaginary] = divisors[static_cast<std::size_t>(s.part)];
            const CFloat sum = s.op == operation::add   ? z + w
                               : s.op == operation::sub ? z - w
                               : s.op == operation::mul ? z * w
                                                        : z / CFloat(divisor_real, divisor_imaginary);
            z = CFloat(bounded(real(sum)), bounded(imag(sum)));
            return;
        }
        UInt4& v = vectors_.at(s.target);
        const UInt4 w = vectors_.at(s.b);
        switch (s.op) {
            case operation::add: v += w; return;
            case operation::sub: v = v - w; return;
            case operation::mul: v *= w; return;
            case operation::bit_xor: v ^= w; return;
            case operation::min: v = min(v, w); return;
            default: v = v << w; return;
        }
    }
    void round_trip(const statement& s) {
        const CFloat z = complex_.at(s.b);
        // Of tan and tanh, which are near their poles at larger numbers.
        const CFloat part = z * (1 / 1024.f);
        const CFloat back = [&]() -> CFloat {
            switch (static_cast<journey>(s.part)) {
                case journey::log: return exp(log(z));
                case journey::log10: return exp(log10(z) * 2.302585093f);
                case journey::square: return sqrt(z * z) * select(real(z) < 0.f, -1.f, 1.f);
                case journey::pow: return pow(z, CFloat(1.f, 0.f));
                case journey::polar: return polar(abs(z), arg(proj(z)));
                case journey::asin: return sin(asin(z));
                case journey::acos: return cos(acos(z));
                case journey::atan: return tan(atan(part)) * 1024.f;
                case journey::asinh: return sinh(asinh(z));
                case journey::acosh: return cosh(acosh(z));
                default: return tanh(atanh(part)) * 1024.f;
            }
        }();
        complex_.at(s.target) = CFloat(bounded(rint(real(back))), bounded(rint(imag(back))));
    }
    void call(const statement& s) {
        const id first = s.arguments[0], second = s.arguments[1];
        switch (p_.functions[static_cast<std::size_t>(s.callee)].what) {
            case shape::numbers: {
                const Int a = value<std::int32_t>(first);
                return set_named(s.target, functions_.numbers.at(s.callee)(a, value<std::uint32_t>(second)));
            }
            case shape::floats: {
                const Float a = value<float>(first);
                return set_named(s.target, functions_.floats.at(s.callee)(a, value<std::int32_t>(second)));
            }
            case shape::global_pointer:
                return set_named(
                    s.target, functions_.global_pointer.at(s.callee)(
                                  all<Ptr<std::int32_t>>().pointers.at(first), value<std::int32_t>(second)));
            case shape::private_pointer:
                return set_named(
                    s.target, functions_.private_pointer.at(s.callee)(
                                  all<PrivatePtr<float>>().pointers.at(first), value<std::int32_t>(second)));
            case shape::meeting: {
                const UInt a = value<std::uint32_t>(first);
                return set_named(s.target, functions_.meeting.at(s.callee)(a, value<std::int32_t>(second)));
            }
            case shape::of_record:
                records_.emplace(s.target, functions_.of_record.at(s.callee)(records_.at(first),
                                                                             value<std::int32_t>(second)));
                return;
            case shape::from_record:
                return set_named(s.target, functions_.from_record.at(s.callee)(records_.at(first),
                                                                               value<std::int32_t>(second)));
            case shape::record_pointer:
                return set_named(s.target, functions_.record_pointer.at(s.callee)(
                                               record_pointers_.at(first), value<std::int32_t>(second)));
            case shape::own_record_pointer:
                return set_named(s.target, functions_.own_record_pointer.at(s.callee)(
                                               own_record_pointers_.at(first), value<std::int32_t>(second)));
        }
    }
    void branch(const statement& s) {
        const Bool condition = truth(s.a);
        IF (condition) {
            block(s.inner);
        }
        ELSE {
            trace::constant(scalar::i32, 0);  // an ELSE that records nothing is refused
            block(s.other);
        }
    }
    void count(const statement& s) {
        const Int begin = value<std::int32_t>(s.a), end = value<std::int32_t>(s.b);
        const std::string& word = of_id(s.target).word;
        for (Int k : named(word.empty() ? "k" : word.c_str(), range(begin, end, s.part))) {
            set(s.target, k);
            block(s.inner);
        }
    }
    void repeat(const statement& s) {
        Int turn = first_of(s.op);
        WHILE (turn < s.part && truth_for(s, turn)) {
            if (s.op == operation::add)
                turn += 1;
            else if (s.op == operation::shl)
                turn *= 2;
            else
                turn = turn * 3 + 1;
            see_counter(s, turn);
            block(s.inner);
        }
    }
    /// Makes a copy of the counter visible; the one before belonged to another block.
    void see_counter(const statement& s, const Int& turn) {
        of<std::int32_t>().variables.erase(s.target);
        set(s.target, turn);
    }
    Bool truth_for(const statement& s, const Int& turn) {
        see_counter(s, turn);
        return truth(s.a);
    }
    void share_out(const statement& s) {
        if (has_shared_out_) barrier();
        has_shared_out_ = true;
        const Int count = value<std::int32_t>(s.a);
        const std::string& word = of_id(s.target).word;
        for (Index i : named(word.empty() ? "i" : word.c_str(), grid_range(count))) {
            shared_out_ = &i;
            set(s.target, cast<std::int32_t>(i));
            block(s.inner);
        }
    }
    void give_back(const statement& s) {
        if (s.a == none)
            return_();
        else if (at(s.a).type == number::f32)
            return_(value<float>(s.a));
        else if (at(s.a).type == number::u32)
            return_(value<std::uint32_t>(s.a));
        else
            return_(value<std::int32_t>(s.a));
    }
    template <class F>
    void with_inner(Var<record>& r, int which, F&& f) {
        if (which == 0)
            f(r.in);
        else
            f(r.values[which - 1]);
    }
    void copy_inner(const statement& s) {
        with_inner(records_.at(s.b), s.part % inner_records, [&](auto&& from) {
            const Var<inner_record> copied(from);
            with_inner(records_.at(s.target), s.part / inner_records,
                       [&](auto&& to) { static_cast<decltype(to)&&>(to) = copied; });
        });
    }
    void exchange(const statement& s) {
        const Int element = value<std::int32_t>(s.a);
        barrier();
        const Int from = (memory_->lid + s.part) % items;
        const Int given = memory_->shared[from * window + element];
        barrier();
        set_named(s.target, given);
    }
    void together(const statement& s) {
        switch (of_id(s.target).type) {
            case number::i32: return set_named(s.target, Int(of_lanes_together<std::int32_t>(s)));
            case number::u32: return set_named(s.target, UInt(of_lanes_together<std::uint32_t>(s)));
            default: return set_named(s.target, Float(bounded(of_lanes_together<float>(s))));
        }
    }
    template <class T>
    Var<T> of_lanes_together(const statement& s) {
        const Var<T> given = value<T>(s.a);
        const Int lane = value<std::int32_t>(s.b);
        switch (static_cast<lanes_do>(s.part)) {
            case lanes_do::reduce_add: return sub_group_reduce_add(given);
            case lanes_do::reduce_min: return sub_group_reduce_min(given);
            case lanes_do::reduce_max: return sub_group_reduce_max(given);
            case lanes_do::inclusive_add: return sub_group_scan_inclusive_add(given);
            case lanes_do::inclusive_min: return sub_group_scan_inclusive_min(given);
            case lanes_do::inclusive_max: return sub_group_scan_inclusive_max(given);
            case lanes_do::exclusive_add: return sub_group_scan_exclusive_add(given);
            case lanes_do::exclusive_min: return sub_group_scan_exclusive_min(given);
            case lanes_do::exclusive_max: return sub_group_scan_exclusive_max(given);
            case lanes_do::shuffle: return shuffle(given, lane);
            case lanes_do::shuffle_up: return shuffle_up(given, lane);
            case lanes_do::shuffle_down: return shuffle_down(given, lane);
            case lanes_do::shuffle_xor: return shuffle_xor(given, lane);
            default: break;
        }
        if constexpr (std::same_as<T, std::uint32_t>) return ballot((given & 1u) != 0u);
        throw std::logic_error("a sub-group operation of another type");
    }

    template <class Add>
    void add_up(id o, Add&& add) {
        switch (of_id(o).what) {
            case kind::variable:
                switch (of_id(o).type) {
                    case number::i32: return add(cast<std::uint32_t>(of<std::int32_t>().variables.at(o)));
                    case number::u32: return add(of<std::uint32_t>().variables.at(o));
                    default: return add(as_unsigned(of<float>().variables.at(o)));
                }
            case kind::array:
                for (int k = 0; k < window; ++k) add(cast<std::uint32_t>(of<std::int32_t>().arrays.at(o)[k]));
                return;
            case kind::matrix:
                for (int k = 0; k < window; ++k)
                    add(as_unsigned(Float(of<float>().matrices.at(o)[k / 4][k % 4])));
                return;
            case kind::vector:
                for (int k = 0; k < 4; ++k) add(vectors_.at(o)[k]);
                return;
            case kind::complex:
                add(as_unsigned(real(complex_.at(o))));
                return add(as_unsigned(imag(complex_.at(o))));
            default: return;
        }
    }
    static UInt as_unsigned(const Float& f) { return cast<std::uint32_t>(cast<std::int32_t>(f)); }

    const program& p_;
    const constants& constants_;
    const device_functions& functions_;
    const memory* memory_;
    std::tuple<declared<std::int32_t>, declared<std::uint32_t>, declared<float>> declared_;
    std::map<id, UInt4> vectors_;
    std::map<id, CFloat> complex_;
    std::map<id, Var<record>> records_;
    std::tuple<declared_pointers<Ptr<std::int32_t>>, declared_pointers<Ptr<float>>,
               declared_pointers<PrivatePtr<std::int32_t>>, declared_pointers<PrivatePtr<float>>,
               declared_pointers<LocalPtr<std::int32_t>>, declared_pointers<ConstantPtr>>
        pointers_;
    std::map<id, Ptr<record>> record_pointers_;
    std::map<id, PrivatePtr<record>> own_record_pointers_;
    const Index* shared_out_ = nullptr;  ///< the element that the grid_range around is at
    bool has_shared_out_ = false;
};

/// Defines a program's functions.
class definitions {
public:
    definitions(const program& p, const constants& constants) : p_(p), constants_(constants) {}

    device_functions all() && {
        for (std::size_t k = 0; k < p_.functions.size(); ++k) {
            const function& f = p_.functions[k];
            const auto number = static_cast<id>(k);
            switch (f.what) {
                case shape::numbers: define(made_.numbers[number], f); break;
                case shape::meeting: define(made_.meeting[number], f); break;
                case shape::floats: define(made_.floats[number], f); break;
                case shape::global_pointer: define(made_.global_pointer[number], f); break;
                case shape::private_pointer: define(made_.private_pointer[number], f); break;
                case shape::of_record: define(made_.of_record[number], f); break;
                case shape::from_record: define(made_.from_record[number], f); break;
                case shape::record_pointer: define(made_.record_pointer[number], f); break;
                case shape::own_record_pointer: define(made_.own_record_pointer[number], f); break;
            }
        }
        return std::move(made_);
    }

private:
    template <class R, class A, class B>
    void define(device_function<R, A, B>& made, const function& f) {
        if (f.is_text) {
            text_source source;
            for (const std::string& text : texts_of(p_, f)) source = source + text;
            made = balm::source_function<R(A, B)>(f.name, source);
            return;
        }
        made = balm::function(f.name, [&](A a, B b) {
            recording r(p_, constants_, made_, nullptr);
            r.set(f.parameters[0], a);
            r.set(f.parameters[1], b);
            r.block(f.body);
            if constexpr (std::same_as<R, Var<record>>)
                return R(r.record_of(f.result));
            else
                return r.value<typename R::value_type>(f.result);
        });
    }

    const program& p_;
    const constants& constants_;
    device_functions made_;
};

kernel_type record_with(const program& p, const constants& constants) {
    const device_functions functions = definitions(p, constants).all();
    return balm::kernel<1>(
        p.signature,
        [&](Int s, UInt u, Float t, In<std::int32_t> in_ints, In<float, 2> in_floats, In<half4> in_halves,
            Mixed<std::int32_t> ints, Mixed<float> floats, Mixed<half> halves, Mixed<half3> half_vectors,
            Mixed<record> records, Mixed<std::int32_t> spread, InImage<balm::uint4, 2> image,
            Sampled<float, 2> sampled, OutImage<std::int32_t, 2> out_image, Local<std::int32_t> shared,
            Out<std::uint32_t> out) {
            LocalArray<std::int32_t, items, window> tile;
            const memory m{in_ints, in_floats,    in_halves, ints,   floats,
                           halves,  half_vectors, records,   spread, image,
                           sampled, out_image,    shared,    tile,   cast<std::int32_t>(local_id(0))};
            out[global_id(0)] = 0u;
            for (Int k : range(window)) {
                shared[m.lid * window + k] = k;
                tile[m.lid][k] = window - k;
            }
            recording r(p, constants, functions, &m);
            r.set(p.s, s);
            r.set(p.u, u);
            r.set(p.t, t);
            r.block(p.body);
            out[global_id(0)] = r.sum_at_the_end();
        });
}

}  // namespace

recorded record_kernel(const program& p, const compile_options& how) {
    constants known;
    std::size_t next = 0;
    for (std::size_t o = 0; o < p.objects.size(); ++o) {
        if (p.objects[o].what != kind::constant) continue;
        std::vector<std::int32_t> values;
        for (const std::uint32_t each : p.constants[next]) values.push_back(static_cast<std::int32_t>(each));
        ++next;
        known.of_program.emplace(
            static_cast<id>(o),
            balm::constant_array<std::int32_t>(p.objects[o].word, std::span<const std::int32_t>(values)));
    }
    std::optional<kernel_type> kernel;
    auto launch = [&](module_builder& m) {
        const auto word = [&](id o) -> const std::string& {
            return p.objects[static_cast<std::size_t>(o)].word;
        };
        m.options(how);
        known.given = m.constant<std::int32_t>(word(p.given), window);
        known.given_record = m.constant<record>(word(p.given_record));
        kernel = m.add(record_with(p, known));
        return m.entry(
            [given = known.given, given_record = known.given_record](
                balm::program& on, const bound_kernel<1>& bound, const data& d, const wait_list& after) {
                on.set(given, d.given);
                on.set(given_record, d.given_record[0]);
                return event(on.execute(bound, {items}, {items}, after));
            });
    };
    decltype(recorded::launch) made(launch);
    return {*kernel, p.through, made};
}

}  // namespace balm::test::tree
