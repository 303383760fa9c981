/* SPDX-License-Identifier: MIT */
/*
 * loader/registry.c - which backends, devices and modules there are.
 *
 * Lists behind one lock.  The built-in backends enter them on the first use,
 * whatever it is; one that there was no memory for enters on the next.
 *
 * Backends and the client's log function may ask the registry, so nothing of
 * theirs is called while the lock is held.  What a search needs to know of a
 * registration or a device is asked once, before it is added, and stands beside
 * it in the list.
 */
#include "config.h"

#include "lib/loader/registry.h"

#include "ggml-backend-impl.h"
#include "ggmlbackend.h"

#include "lib/backend/members.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/loader/not-here.h"

#include <stdio.h>
#include <string.h>

/* An object, and what is known of it. */
struct item {
    void *object;
    const char *name;                /* of registrations and devices */
    enum ggml_backend_dev_type type; /* of devices */
};

/* In the order in which they came. */
struct list {
    struct item *items;
    size_t n_items;
    size_t max_items;
};

/* A module that was loaded once.  It stays mapped, and this stays with it. */
struct module {
    void *handle;
    char *path;
    ggml_backend_reg_t reg; /* NULL while it is unloaded */
};

/* Under GB_LOCK_REGISTRY. */
static struct {
    size_t n_builtin; /* built-in backends that are in the lists */
    struct list regs;
    struct list devices;
    struct list modules; /* struct module, never taken out */
    struct list refused; /* struct ggmlbackend_refused_module, as well */
} registry;

static bool
list_has(const struct list *list, const void *object)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (list->items[i].object == object)
            return true;
    return false;
}

/* Room for N_MORE items. */
static bool
list_make_room(struct list *list, size_t n_more)
{
    size_t max_items = list->max_items > 0 ? list->max_items : 4;
    struct item *items;

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

/* There is room; what is there already is passed over. */
static void
list_add(struct list *list, struct item item)
{
    if (!list_has(list, item.object))
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

/* ---- asking, without the lock ---- */

/* What the device lacks; NULL, with the item in OUT, for nothing. */
static const char *
ask_device(ggml_backend_dev_t device, struct item *out)
{
    const char *missing = gb_missing_member(&gb_device_members, &device->iface);
    struct item item = { .object = device };

    if (missing != NULL)
        return missing;
    item.name = ggml_backend_dev_name(device);
    if (item.name == NULL)
        return "name";
    item.type = ggml_backend_dev_type(device);
    *out = item;
    return NULL;
}

/* What is known of a registration before it is added. */
struct answers {
    struct item reg;
    struct list devices;
};

static void
answers_clear(struct answers *answers)
{
    gb_mem_free(answers->devices.items);
}

/* The devices of the registration, but those that it does not give. */
static enum gb_registry_answer
ask_devices(struct answers *answers, char *reason)
{
    ggml_backend_reg_t reg = answers->reg.object;
    const size_t n_devices = ggml_backend_reg_dev_count(reg);

    if (!list_make_room(&answers->devices, n_devices))
        return GB_REGISTRY_NO_MEMORY;
    for (size_t i = 0; i < n_devices; i++) {
        ggml_backend_dev_t device = ggml_backend_reg_dev_get(reg, i);
        const char *missing;
        struct item item;

        if (device == NULL)
            continue;
        missing = ask_device(device, &item);
        if (missing != NULL) {
            snprintf(reason, GB_REASON_SIZE, "its device %zu has no %s", i,
                     missing);
            return GB_REGISTRY_BROKEN;
        }
        list_add(&answers->devices, item);
    }
    return GB_REGISTRY_ADDED;
}

/*
 * Ask REG what it is, for answers_clear in any case.  GB_REGISTRY_ADDED when it
 * may be added; REASON has room for GB_REASON_SIZE bytes.
 */
static enum gb_registry_answer
ask_reg(ggml_backend_reg_t reg, struct answers *out, char *reason)
{
    const char *missing = gb_missing_member(&gb_reg_members, &reg->iface);

    *out = (struct answers){ .reg = { .object = reg } };
    if (missing == NULL) {
        out->reg.name = ggml_backend_reg_name(reg);
        missing = out->reg.name == NULL ? "name" : NULL;
    }
    if (missing == NULL)
        return ask_devices(out, reason);
    snprintf(reason, GB_REASON_SIZE, "its registration has no %s", missing);
    return GB_REGISTRY_BROKEN;
}

/* ---- adding ---- */

/*
 * A registration and all its devices; nothing of it, and false, without memory.
 * The lock is held.
 */
static bool
add_reg(const struct answers *answers)
{
    const struct list *devices = &answers->devices;

    if (list_has(&registry.regs, answers->reg.object))
        return true;
    if (!list_make_room(&registry.regs, 1) ||
        !list_make_room(&registry.devices, devices->n_items))
        return false;
    list_add(&registry.regs, answers->reg);
    for (size_t i = 0; i < devices->n_items; i++)
        list_add(&registry.devices, devices->items[i]);
    return true;
}

/* One that is not for this machine stands with the modules of which that holds. */
static void
refuse_builtin(const char *name, const char *reason)
{
    char path[64];

    snprintf(path, sizeof(path), "built-in %s", name);
    gb_registry_refuse(path, reason);
    gb_log(GGML_LOG_LEVEL_INFO, "%s: %s", path, reason);
}

/* Is a built-in backend asked by this thread?  It may ask the registry then, and
 * finds those before it. */
static _Thread_local bool is_asking;

/*
 * Also when another thread was faster.  One that gives no registration here, or
 * none that is whole, is passed over.  False without memory.
 */
static bool
add_builtin(size_t index)
{
    struct answers answers = { .reg = { .object = NULL } };
    enum gb_registry_answer answer = GB_REGISTRY_BROKEN;
    char reason[GB_REASON_SIZE];
    ggml_backend_reg_t reg;
    bool is_there = false, is_first = false;

    gb_not_here_clear();
    is_asking = true;
    reg = gb_builtin_reg(index);
    is_asking = false;
    if (reg != NULL)
        answer = ask_reg(reg, &answers, reason);
    else
        snprintf(reason, sizeof(reason), "does not work here: %s",
                 gb_not_here_reason());
    if (answer != GB_REGISTRY_NO_MEMORY) {
        gb_lock(GB_LOCK_REGISTRY);
        is_there = registry.n_builtin > index ||
                   answer == GB_REGISTRY_BROKEN || add_reg(&answers);
        is_first = is_there && registry.n_builtin == index;
        registry.n_builtin += is_first;
        gb_unlock(GB_LOCK_REGISTRY);
    }
    if (is_first && reg == NULL)
        refuse_builtin(gb_builtin_name(index), reason);
    answers_clear(&answers);
    return is_there;
}

/* Take the lock, with the built-in backends in the lists. */
static void
lock_registry(void)
{
    bool has_memory = true;

    gb_lock(GB_LOCK_REGISTRY);
    while (!is_asking && registry.n_builtin < gb_builtin_count() &&
           has_memory) {
        const size_t index = registry.n_builtin;

        gb_unlock(GB_LOCK_REGISTRY);
        has_memory = add_builtin(index);
        gb_lock(GB_LOCK_REGISTRY);
    }
}

static void
unlock_registry(void)
{
    const bool is_whole =
        is_asking || registry.n_builtin == gb_builtin_count();

    gb_unlock(GB_LOCK_REGISTRY);
    if (!is_whole)
        gb_fail(GGML_STATUS_ALLOC_FAILED,
                "registry: no memory for the built-in backends");
}

void
ggml_backend_register(ggml_backend_reg_t reg)
{
    enum gb_registry_answer answer;
    char reason[GB_REASON_SIZE] = "no memory to register it";
    struct answers answers;

    if (reg == NULL)
        return;
    answer = ask_reg(reg, &answers, reason);
    if (answer == GB_REGISTRY_ADDED) {
        lock_registry();
        if (!add_reg(&answers))
            answer = GB_REGISTRY_NO_MEMORY;
        unlock_registry();
    }
    if (answer != GB_REGISTRY_ADDED)
        gb_fail(answer == GB_REGISTRY_NO_MEMORY ? GGML_STATUS_ALLOC_FAILED
                                                : GGML_STATUS_FAILED,
                "backend %s: %s",
                answers.reg.name != NULL ? answers.reg.name : "without a name",
                reason);
    answers_clear(&answers);
}

void
ggml_backend_device_register(ggml_backend_dev_t device)
{
    const char *missing;
    struct item item;
    bool is_there;

    GB_NEED_VOID(device != NULL, "registry: no device");
    missing = ask_device(device, &item);
    if (missing != NULL) {
        gb_fail(GGML_STATUS_FAILED,
                "registry: a device is refused, it has no %s", missing);
        return;
    }
    lock_registry();
    is_there = list_make_room(&registry.devices, 1);
    if (is_there)
        list_add(&registry.devices, item);
    unlock_registry();
    if (!is_there)
        gb_fail(GGML_STATUS_ALLOC_FAILED, "registry: no memory for device %s",
                item.name);
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

/* The object at INDEX, NULL behind the last. */
static void *
list_at(const struct list *list, size_t index)
{
    void *object = NULL;

    lock_registry();
    if (index < list->n_items)
        object = list->items[index].object;
    unlock_registry();
    return object;
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

/* Is the object what is looked for? */
typedef bool (*item_is_fn)(const struct item *item, const void *what);

static bool
has_name(const struct item *item, const void *name)
{
    return same_name(item->name, name);
}

static bool
has_type(const struct item *item, const void *type)
{
    return item->type == *(const enum ggml_backend_dev_type *)type;
}

/* The first object that is what is looked for, or NULL.  The lock is held. */
static void *
find(const struct list *list, item_is_fn is_it, const void *what)
{
    for (size_t i = 0; i < list->n_items; i++)
        if (is_it(&list->items[i], what))
            return list->items[i].object;
    return NULL;
}

static void *
find_locked(const struct list *list, item_is_fn is_it, const void *what)
{
    void *found;

    lock_registry();
    found = find(list, is_it, what);
    unlock_registry();
    return found;
}

ggml_backend_reg_t
ggml_backend_reg_by_name(const char *name)
{
    GB_NEED_OR(NULL, name != NULL, "registry: no name");
    return find_locked(&registry.regs, has_name, name);
}

ggml_backend_dev_t
ggml_backend_dev_by_name(const char *name)
{
    GB_NEED_OR(NULL, name != NULL, "registry: no name");
    return find_locked(&registry.devices, has_name, name);
}

ggml_backend_dev_t
ggml_backend_dev_by_type(enum ggml_backend_dev_type type)
{
    return find_locked(&registry.devices, has_type, &type);
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

static bool
has_handle(const struct item *item, const void *handle)
{
    return ((const struct module *)item->object)->handle == handle;
}

static bool
has_reg(const struct item *item, const void *reg)
{
    return ((const struct module *)item->object)->reg == reg;
}

/* The lock is held. */
static struct module *
find_module(const void *handle)
{
    return find(&registry.modules, has_handle, handle);
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
    list_add(&registry.modules, (struct item){ .object = module });
    return module;
}

/* The module that REG came from; NULL for none.  The lock is held. */
static struct module *
module_of(ggml_backend_reg_t reg)
{
    return find(&registry.modules, has_reg, reg);
}

static bool
is_builtin(ggml_backend_reg_t reg)
{
    for (size_t i = 0; i < gb_builtin_count(); i++)
        if (gb_builtin_reg(i) == reg)
            return true;
    return false;
}

/* Does REG belong to another than the open module HANDLE?  The lock is held. */
static bool
is_of_another(ggml_backend_reg_t reg, const void *handle)
{
    const struct module *owner = module_of(reg);

    return is_builtin(reg) || (owner != NULL && owner->handle != handle);
}

/* The lock is held. */
static enum gb_registry_answer
add_module(void *handle, const char *path, const struct answers *answers)
{
    ggml_backend_reg_t reg = answers->reg.object;
    struct module *module;

    if (is_of_another(reg, handle))
        return GB_REGISTRY_OF_ANOTHER;
    if (!list_has(&registry.regs, reg) &&
        find(&registry.regs, has_name, answers->reg.name) != NULL)
        return GB_REGISTRY_NAME_TAKEN;
    module = get_module(handle, path);
    if (module == NULL || !add_reg(answers))
        return GB_REGISTRY_NO_MEMORY;
    module->reg = reg;
    return GB_REGISTRY_ADDED;
}

enum gb_registry_answer
gb_registry_add_module(
    void *handle, const char *path, ggml_backend_reg_t reg, char *reason)
{
    enum gb_registry_answer answer;
    struct answers answers;

    answer = ask_reg(reg, &answers, reason);
    if (answer == GB_REGISTRY_ADDED) {
        lock_registry();
        answer = add_module(handle, path, &answers);
        unlock_registry();
    }
    answers_clear(&answers);
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

    for (size_t i = devices->n_items; i > 0; i--) {
        const struct ggml_backend_device *device =
            devices->items[i - 1].object;

        if (device->reg == reg)
            list_remove(devices, i - 1);
    }
    for (size_t i = 0; i < registry.regs.n_items; i++) {
        if (registry.regs.items[i].object == reg) {
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
            registry.refused.items[i].object;

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
    struct item item = { .object = NULL };

    lock_registry();
    if (!is_refused(path, reason) && list_make_room(&registry.refused, 1))
        item.object = new_refused(path, reason);
    if (item.object != NULL)
        list_add(&registry.refused, item);
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
