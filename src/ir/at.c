#include "ir/ir.h"
uf_status ir_at(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                code_module *module) { (void)a;(void)name;(void)t;(void)v;(void)target;(void)module; return UF_ERR_COMPILE; }
