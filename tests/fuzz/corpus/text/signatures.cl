typedef __global const float *floats, number;
typedef int row[4]; typedef void (*callback)(int); typedef A B; typedef B A; typedef;
enum e { one }; union u { int a; };
kernel void k(floats a, int b, global row* c, float (*d)[4], int e[][2], volatile global int* const restrict g);
int h(unsigned long long a, image2d_t b, read_only image3d_t c, callback d, enum e f, union u g, long double i, ...);
float4 *j(void) { return 0; }
void l(local double2* a, uchar* b, constant char c[3], half d, size_t e, signed f, A g) { h(1); }
