typedef __global const: #eli; }
void l(local double2* a, uchar* b, constant char c[3], Ahalf d, size_t e, signed f, A g) { h(1); }
