// Pointers in kernels: taking addresses, arithmetic, indexing; pointers to pointers, and arrays of pointers.

#include <balm/balm.hpp>
#include <iostream>

int main() {
    using namespace balm::dsl;

    // Functions that change their caller's variables take pointers. The memory that a pointer points to is
    // part of its type: Ptr is for buffers, LocalPtr for local memory, PrivatePtr for variables.
    auto swap_values = balm::function("swap_values(a, b)", [](PrivatePtr<int> a, PrivatePtr<int> b) {
        Int kept = *a;
        *a = Int(*b);
        *b = kept;
    });

    auto variables = balm::kernel<1>("variables(out)", [=](Out<int> out) {
        Int a = 44, b = 88;
        PrivatePtr<int> p = address_of(a);
        *p += 1;
        out[0] = a;  // 45

        PrivatePtr<PrivatePtr<int>> pp = address_of(p);
        PrivatePtr<PrivatePtr<PrivatePtr<int>>> ppp = address_of(pp);
        *pp = address_of(b);  // p points to b now
        ***ppp = 99;
        out[1] = b;  // 99

        swap_values(address_of(a), address_of(b));
        out[2] = a;  // 99
        out[3] = b;  // 45

        Int c = 23;
        Array<PrivatePtr<int>, 3> several;
        several[0] = address_of(a);
        several[1] = address_of(b);
        several[2] = address_of(c);
        for (Int k : range(3)) *several[k] *= 2;
        out[4] = a + b + c;  // 2 (99 + 45 + 23)
    });

    auto arrays = balm::kernel<1>("arrays(numbers, out)", [](InOut<int> numbers, Out<int> out) {
        Ptr<int> first = address_of(numbers[0]), second = address_of(numbers[1]);
        ++first;
        out[0] = *(first + 1);  // the third
        *(second + 1) = 100;
        out[1] = second[1];                      // the third again, 100 now
        out[2] = cast<int>(second - first);      // 0: they are equal
        out[3] = select(first == second, 1, 0);  // 1
        Ptr<const int> reader = numbers.data();  // read-only
        out[4] = reader[0] + reader[4];

        Array<int, 3, 4> matrix;
        matrix[0][0] = 12;
        matrix[0][1] = 14;
        matrix[1][0] = 16;
        PrivatePtr<int> q = address_of(matrix[0][0]);
        q += 1;
        out[5] = *q;    // row-major: 14
        out[6] = q[3];  // the first of the next row, 16
    });

    balm::context ctx;
    balm::device dev = ctx.device(0);
    auto numbers = dev.mixed_buffer<int>(5);
    numbers.write({1, 2, 3, 4, 5});
    auto of_variables = dev.out_buffer<int>(5), of_arrays = dev.out_buffer<int>(7);
    dev.execute(variables(of_variables), {1});
    dev.execute(arrays(numbers, of_arrays), {1});
    const auto print = [](const char* what, const auto& values) {
        std::cout << what;
        for (int value : values) std::cout << ' ' << value;
        std::cout << '\n';
    };
    print("variables:", of_variables.read());
    print("arrays:   ", of_arrays.read());
    print("numbers:  ", numbers.read());
}
