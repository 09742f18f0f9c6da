#pragma once
// All of Balm. The names of the kernel language are in namespace balm::dsl; the macros IF, ELIF, ELSE and
// WHILE come with it unless BALM_NO_SHORT_MACROS is defined (BALM_IF and so on always do).

#include "balm/buffer.hpp"
#include "balm/context.hpp"
#include "balm/device.hpp"
#include "balm/device_pointer.hpp"
#include "balm/dsl/complex.hpp"
#include "balm/error.hpp"
#include "balm/event.hpp"
#include "balm/expr.hpp"
#include "balm/filter.hpp"
#include "balm/host_array.hpp"
#include "balm/kernel.hpp"
#include "balm/mapping.hpp"
#include "balm/pinned_array.hpp"
#include "balm/platform.hpp"
#include "balm/queue.hpp"
#include "balm/reduce.hpp"
#include "balm/text_kernel.hpp"
#include "balm/vector.hpp"
