/* SPDX-License-Identifier: MIT */
/*
 * loader/registry.c - which backends, devices and modules there are.
 *
 * Lists behind one lock.  The built-in backends enter them on the first use,
 * whatever it is; one that there was no memory for enters on the next.  Names
 * are compared while the lock is held, so that a search misses nothing when
 * another thread takes a registration out.
 */
#include "config.h"

#include "lib/loader/registry.h"

#include "ggml-backend-impl.h"
#include "ggmlbackend.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <pthread.h>
#include <string.h>

/* In the order in which they came. */
struct list {
    void **items;
    size_t n_items;
    size_t max_items;
};

/* A module that was loaded once.  It stays mapped, and this stays with it. */
struct module {
    void *handle;
    char *path;
    ggml_backend_reg_t reg; /* NULL while it is unloaded */
};

static struct {
    pthread_mutex_t load_lock; /* one module at a time; taken before LOCK */
    pthread_mutex_t lock;
    size_t n_builtin; /* built-in backends that are in the lists */
    struct list regs;
    struct list devices;
    struct list modules; /* struct module, never taken out */
    struct list refused; /* struct ggmlbackend_refused_module, as well */
} registry = {
    .load_lock = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

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

/* What comes behind moves up. */
static void
list_remove(struct list *list, size_t index)
{
    list->n_items--;
    memmove(list->items + index, list->items + index + 1,
            (list->n_items - index) * sizeof(*list->items));
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

/* The lock is held. */
static ggml_backend_reg_t
find_reg(const char *name)
{
    for (size_t i = 0; i < registry.regs.n_items; i++) {
        ggml_backend_reg_t reg = registry.regs.items[i];

        if (same_name(ggml_backend_reg_name(reg), name))
            return reg;
    }
    return NULL;
}

ggml_backend_reg_t
ggml_backend_reg_by_name(const char *name)
{
    ggml_backend_reg_t reg;

    GB_NEED_OR(NULL, name != NULL, "registry: no name");
    lock_registry();
    reg = find_reg(name);
    unlock_registry();
    return reg;
}

/* Is the device what is looked for? */
typedef bool (*device_is_fn)(ggml_backend_dev_t device, const void *what);

static ggml_backend_dev_t
first_device(device_is_fn is_it, const void *what)
{
    ggml_backend_dev_t found = NULL;

    lock_registry();
    for (size_t i = 0; i < registry.devices.n_items && found == NULL; i++)
        if (is_it(registry.devices.items[i], what))
            found = registry.devices.items[i];
    unlock_registry();
    return found;
}

static bool
has_name(ggml_backend_dev_t device, const void *name)
{
    return same_name(ggml_backend_dev_name(device), name);
}

static bool
has_type(ggml_backend_dev_t device, const void *type)
{
    return ggml_backend_dev_type(device) ==
           *(const enum ggml_backend_dev_type *)type;
}

ggml_backend_dev_t
ggml_backend_dev_by_name(const char *name)
{
    GB_NEED_OR(NULL, name != NULL, "registry: no name");
    return first_device(has_name, name);
}

ggml_backend_dev_t
ggml_backend_dev_by_type(enum ggml_backend_dev_type type)
{
    return first_device(has_type, &type);
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

/* ---- modules ---- */

void
gb_registry_begin_load(void)
{
    pthread_mutex_lock(&registry.load_lock);
}

void
gb_registry_end_load(void)
{
    pthread_mutex_unlock(&registry.load_lock);
}

/* The lock is held. */
static struct module *
find_module(const void *handle)
{
    for (size_t i = 0; i < registry.modules.n_items; i++) {
        struct module *module = registry.modules.items[i];

        if (module->handle == handle)
            return module;
    }
    return NULL;
}

/* The one that HANDLE has already, or a new one; NULL without memory. */
static struct module *
get_module(void *handle, const char *path)
{
    struct module *module = find_module(handle);

    if (module != NULL)
        return module;
    module = gb_mem_zalloc(1, sizeof(*module));
    if (module == NULL)
        return NULL;
    module->handle = handle;
    module->path = gb_mem_strdup(path);
    if (module->path == NULL || !list_make_room(&registry.modules, 1)) {
        gb_mem_free(module->path);
        gb_mem_free(module);
        return NULL;
    }
    list_add(&registry.modules, module);
    return module;
}

/* The lock is held. */
static enum gb_registry_answer
add_module(void *handle, const char *path, ggml_backend_reg_t reg)
{
    struct module *module;

    if (!list_has(&registry.regs, reg) &&
        find_reg(ggml_backend_reg_name(reg)) != NULL)
        return GB_REGISTRY_NAME_TAKEN;
    module = get_module(handle, path);
    if (module == NULL || !add_reg(reg))
        return GB_REGISTRY_NO_MEMORY;
    module->reg = reg;
    return GB_REGISTRY_ADDED;
}

enum gb_registry_answer
gb_registry_add_module(void *handle, const char *path, ggml_backend_reg_t reg)
{
    enum gb_registry_answer answer;

    lock_registry();
    answer = add_module(handle, path, reg);
    unlock_registry();
    return answer;
}

ggml_backend_reg_t
gb_registry_loaded(const void *handle)
{
    const struct module *module;
    ggml_backend_reg_t reg;

    lock_registry();
    module = find_module(handle);
    reg = module != NULL ? module->reg : NULL;
    unlock_registry();
    return reg;
}

/* The module that REG came from; NULL for none.  The lock is held. */
static struct module *
module_of(ggml_backend_reg_t reg)
{
    for (size_t i = 0; i < registry.modules.n_items; i++) {
        struct module *module = registry.modules.items[i];

        if (module->reg == reg)
            return module;
    }
    return NULL;
}

const char *
ggmlbackend_module_path(struct ggml_backend_reg *reg)
{
    const struct module *module;
    const char *path;

    GB_NEED_OR(NULL, reg != NULL, "module path: no registration");
    lock_registry();
    module = module_of(reg);
    path = module != NULL ? module->path : NULL;
    unlock_registry();
    return path;
}

/* The lock is held. */
static void
remove_reg(ggml_backend_reg_t reg)
{
    struct list *devices = &registry.devices;
    struct module *module;

    for (size_t i = devices->n_items; i > 0; i--)
        if (ggml_backend_dev_backend_reg(devices->items[i - 1]) == reg)
            list_remove(devices, i - 1);
    for (size_t i = 0; i < registry.regs.n_items; i++) {
        if (registry.regs.items[i] == reg) {
            list_remove(&registry.regs, i);
            break;
        }
    }
    while ((module = module_of(reg)) != NULL)
        module->reg = NULL;
}

void
ggml_backend_unload(ggml_backend_reg_t reg)
{
    if (reg == NULL)
        return;
    lock_registry();
    if (list_has(&registry.regs, reg))
        remove_reg(reg);
    unlock_registry();
}

/* ---- refused modules ---- */

static bool
is_refused(const char *path, const char *reason)
{
    for (size_t i = 0; i < registry.refused.n_items; i++) {
        const struct ggmlbackend_refused_module *module =
            registry.refused.items[i];

        if (strcmp(module->path, path) == 0 &&
            strcmp(module->reason, reason) == 0)
            return true;
    }
    return false;
}

/* Both strings lie behind the struct. */
static struct ggmlbackend_refused_module *
new_refused(const char *path, const char *reason)
{
    const size_t path_size = strlen(path) + 1;
    const size_t reason_size = strlen(reason) + 1;
    struct ggmlbackend_refused_module *module =
        gb_mem_alloc(sizeof(*module) + path_size + reason_size);
    char *text;

    if (module == NULL)
        return NULL;
    text = (char *)(module + 1);
    module->path = memcpy(text, path, path_size);
    module->reason = memcpy(text + path_size, reason, reason_size);
    return module;
}

void
gb_registry_refuse(const char *path, const char *reason)
{
    lock_registry();
    if (!is_refused(path, reason) && list_make_room(&registry.refused, 1))
        list_add(&registry.refused, new_refused(path, reason));
    unlock_registry();
}

size_t
ggmlbackend_refused_count(void)
{
    return list_count(&registry.refused);
}

bool
ggmlbackend_refused_get(size_t index, struct ggmlbackend_refused_module *module)
{
    const struct ggmlbackend_refused_module *refused;

    GB_NEED_OR(false, module != NULL, "refused modules: nowhere to write one");
    refused = list_at(&registry.refused, index);
    if (refused == NULL)
        return false;
    *module = *refused;
    return true;
}
