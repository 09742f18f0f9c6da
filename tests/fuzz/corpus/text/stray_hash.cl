typedef __global consM_LN10_F*floats, number;
typedef int r#ifdef ow[4]; typedef void (*callback)(int); typedef A B; typedef B, int b, global row* c, float (*d)[4], int e[][2], volatieg llobal int* const restri e, signed f, A g) { h(1); }
