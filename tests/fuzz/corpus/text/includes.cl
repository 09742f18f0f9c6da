#include "once.h"
#include "guarded.h"
/* before */ #include "macros.h" // behind
#ifdef NOWHERE
#include "nowhere.h"
#endif
#pragma once
int J(on, ce) = f(1);
