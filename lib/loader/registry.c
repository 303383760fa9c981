/* SPDX-License-Identifier: MIT */
/*
 * loader/registry.c - which backends and devices there are.
 *
 * Two lists behind one lock, which only grow.  The built-in backends enter them
 * on the first use, whatever it is; one that there was no memory for enters on
 * the next.
 */
#include "config.h"

#include "lib/loader/registry.h"

#include "ggml-backend-impl.h"
#include "ggmlbackend.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <pthread.h>

/* Registrations or devices, in the order in which they came. */
struct list {
    void **items;
    size_t n_items;
    size_t max_items;
};

static struct {
    pthread_mutex_t lock;
    size_t n_builtin; /* built-in backends that are in the lists */
    struct list regs;
    struct list devices;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool
list_has(const struct list *list, const void *item)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i] == item)
            return true;
    return false;
}

/* Room for N_MORE items. */
static bool
list_make_room(struct list *list, size_t n_more)
{
    size_t max_items = list->max_items > 0 ? list->max_items : 4;
    void **items;

    if (list->max_items - list->n_items >= n_more)
        return true;
    while (max_items - list->n_items < n_more) {
        if (max_items > SIZE_MAX / 2)
            return false;
        max_items *= 2;
    }
    items = gb_mem_realloc(list->items, max_items, sizeof(*items));
    if (items == NULL)
        return false;
    list->items = items;
    list->max_items = max_items;
    return true;
}

/* There is room; NULL, and an item that is there already, are passed over. */
static void
list_add(struct list *list, void *item)
{
    if (item != NULL && !list_has(list, item))
        list->items[list->n_items++] = item;
}

/* REG and all its devices; nothing of it, and false, without memory. */
static bool
add_reg(ggml_backend_reg_t reg)
{
    size_t n_devices;

    if (list_has(&registry.regs, reg))
        return true;
    n_devices = ggml_backend_reg_dev_count(reg);
    if (!list_make_room(&registry.regs, 1) ||
        !list_make_room(&registry.devices, n_devices))
        return false;
    list_add(&registry.regs, reg);
    for (size_t i = 0; i < n_devices; i++)
        list_add(&registry.devices, ggml_backend_reg_dev_get(reg, i));
    return true;
}

/*
 * Take the lock, with the built-in backends in the lists.  They are made while
 * it is held, so none of them may ask the registry for anything then.
 */
static void
lock_registry(void)
{
    pthread_mutex_lock(&registry.lock);
    while (registry.n_builtin < gb_builtin_count()) {
        ggml_backend_reg_t reg = gb_builtin_reg(registry.n_builtin);

        if (reg != NULL && !add_reg(reg))
            break;
        registry.n_builtin++;
    }
}

/* The client's log function runs without the lock. */
static void
unlock_registry(void)
{
    const bool is_whole = registry.n_builtin == gb_builtin_count();

    pthread_mutex_unlock(&registry.lock);
    if (!is_whole)
        gb_fail(GGML_STATUS_ALLOC_FAILED,
                "registry: no memory for the built-in backends");
}

void
ggml_backend_register(ggml_backend_reg_t reg)
{
    bool is_there;

    if (reg == NULL)
        return;
    lock_registry();
    is_there = add_reg(reg);
    unlock_registry();
    if (!is_there)
        gb_fail(GGML_STATUS_ALLOC_FAILED, "registry: no memory for %s",
                ggml_backend_reg_name(reg));
}

void
ggml_backend_device_register(ggml_backend_dev_t device)
{
    bool is_there;

    GB_NEED_VOID(device != NULL, "registry: no device");
    lock_registry();
    is_there = list_make_room(&registry.devices, 1);
    if (is_there)
        list_add(&registry.devices, device);
    unlock_registry();
    if (!is_there)
        gb_fail(GGML_STATUS_ALLOC_FAILED, "registry: no memory for device %s",
                ggml_backend_dev_name(device));
}

static size_t
list_count(const struct list *list)
{
    size_t count;

    lock_registry();
    count = list->n_items;
    unlock_registry();
    return count;
}

/* The item at INDEX, NULL behind the last. */
static void *
list_at(const struct list *list, size_t index)
{
    void *item = NULL;

    lock_registry();
    if (index < list->n_items)
        item = list->items[index];
    unlock_registry();
    return item;
}

size_t
ggml_backend_reg_count(void)
{
    return list_count(&registry.regs);
}

ggml_backend_reg_t
ggml_backend_reg_get(size_t index)
{
    ggml_backend_reg_t reg = list_at(&registry.regs, index);

    GB_NEED_OR(NULL, reg != NULL, "registry: no registration %zu", index);
    return reg;
}

size_t
ggml_backend_dev_count(void)
{
    return list_count(&registry.devices);
}

ggml_backend_dev_t
ggml_backend_dev_get(size_t index)
{
    ggml_backend_dev_t device = list_at(&registry.devices, index);

    GB_NEED_OR(NULL, device != NULL, "registry: no device %zu", index);
    return device;
}

/* In any locale: only the letters of ASCII have two forms. */
static int
lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool
same_name(const char *a, const char *b)
{
    while (*a != '\0' && lower((unsigned char)*a) == lower((unsigned char)*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

ggml_backend_reg_t
ggml_backend_reg_by_name(const char *name)
{
    ggml_backend_reg_t reg;

    GB_NEED_OR(NULL, name != NULL, "registry: no name");
    for (size_t i = 0; (reg = list_at(&registry.regs, i)) != NULL; i++)
        if (same_name(ggml_backend_reg_name(reg), name))
            return reg;
    return NULL;
}

ggml_backend_dev_t
ggml_backend_dev_by_name(const char *name)
{
    ggml_backend_dev_t device;

    GB_NEED_OR(NULL, name != NULL, "registry: no name");
    for (size_t i = 0; (device = list_at(&registry.devices, i)) != NULL; i++)
        if (same_name(ggml_backend_dev_name(device), name))
            return device;
    return NULL;
}

ggml_backend_dev_t
ggml_backend_dev_by_type(enum ggml_backend_dev_type type)
{
    ggml_backend_dev_t device;

    for (size_t i = 0; (device = list_at(&registry.devices, i)) != NULL; i++)
        if (ggml_backend_dev_type(device) == type)
            return device;
    return NULL;
}

ggml_backend_t
ggml_backend_init_by_name(const char *name, const char *params)
{
    ggml_backend_dev_t device = ggml_backend_dev_by_name(name);

    return device != NULL ? ggml_backend_dev_init(device, params) : NULL;
}

ggml_backend_t
ggml_backend_init_by_type(enum ggml_backend_dev_type type, const char *params)
{
    ggml_backend_dev_t device = ggml_backend_dev_by_type(type);

    return device != NULL ? ggml_backend_dev_init(device, params) : NULL;
}

ggml_backend_t
ggml_backend_init_best(void)
{
    ggml_backend_dev_t device =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU);

    if (device == NULL)
        device = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return device != NULL ? ggml_backend_dev_init(device, NULL) : NULL;
}

/* Every backend is built in, so nothing can be refused. */
size_t
ggmlbackend_refused_count(void)
{
    return 0;
}

bool
ggmlbackend_refused_get(size_t index, struct ggmlbackend_refused_module *module)
{
    (void)index;
    GB_NEED_OR(false, module != NULL, "refused modules: nowhere to write one");
    return false;
}
