#if ((((!!~-1?1:0))))
#endif
int a = ((((1))));
#define D0 x x
#define D1 D0 D0
#define D2 D1 D1
D2