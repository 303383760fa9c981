/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2024.c - backends of 2024-10: registrations without a version,
 * and buffers whose init_tensor returns nothing.
 *
 * A registration gets an entry of today that asks the old one.  Devices are the
 * same at both levels and stay what they are; only the entry that they point to
 * is put in.
 */
#include "config.h"

#include "lib/levels/level-2024.h"

#include "lib/backend/buffer.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

/* ---- buffers ---- */

typedef void (*init_tensor_fn)(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);

/* A buffer with the function that init_tensor calls, in the room behind it. */
struct old_buffer {
    struct ggml_backend_buffer core;
    init_tensor_fn init_tensor;
};

_Static_assert(sizeof(struct old_buffer) <=
                   sizeof(struct ggml_backend_buffer) + GB_BUFFER_ROOM,
               "what a buffer of 2024-10 has besides fits behind the core's");

static enum ggml_status
init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    const uint64_t n_failures = gb_failure_count();

    ((struct old_buffer *)buffer)->init_tensor(buffer, tensor);
    return gb_status_since(n_failures);
}

ggml_backend_buffer_t
ggmlbackend_l202410_backend_buffer_init(
    ggml_backend_buffer_type_t buft, struct ggml_backend_buffer_i iface,
    void *context, size_t size)
{
    /* By way of a type for any function: it is of another than it says. */
    const init_tensor_fn old =
        (init_tensor_fn)(void (*)(void))iface.init_tensor;
    ggml_backend_buffer_t buffer;

    iface.init_tensor = old != NULL ? init_tensor : NULL;
    buffer = ggml_backend_buffer_init(buft, iface, context, size);
    if (buffer != NULL)
        ((struct old_buffer *)buffer)->init_tensor = old;
    return buffer;
}

/* ---- registrations ---- */

static struct gb_2024_reg *
old_reg(ggml_backend_reg_t entry)
{
    return entry->context;
}

/* What the functions of an old registration are given. */
static ggml_backend_reg_t
old_handle(struct gb_2024_reg *old)
{
    return (ggml_backend_reg_t)old;
}

static const char *
entry_get_name(ggml_backend_reg_t entry)
{
    struct gb_2024_reg *old = old_reg(entry);

    return old->iface.get_name(old_handle(old));
}

static size_t
entry_get_device_count(ggml_backend_reg_t entry)
{
    struct gb_2024_reg *old = old_reg(entry);

    return old->iface.get_device_count(old_handle(old));
}

static ggml_backend_dev_t
old_get_device(ggml_backend_reg_t entry, size_t index)
{
    struct gb_2024_reg *old = old_reg(entry);

    return old->iface.get_device(old_handle(old), index);
}

/* The device points to its entry from when it is first handed out. */
static ggml_backend_dev_t
entry_get_device(ggml_backend_reg_t entry, size_t index)
{
    ggml_backend_dev_t device = old_get_device(entry, index);

    if (device != NULL && device->reg != entry)
        device->reg = entry;
    return device;
}

static void *
entry_get_proc_address(ggml_backend_reg_t entry, const char *name)
{
    struct gb_2024_reg *old = old_reg(entry);

    return old->iface.get_proc_address != NULL
               ? old->iface.get_proc_address(old_handle(old), name)
               : NULL;
}

static const struct ggml_backend_reg_i entry_members = {
    .get_name = entry_get_name,
    .get_device_count = entry_get_device_count,
    .get_device = entry_get_device,
    .get_proc_address = entry_get_proc_address,
};

/*
 * The entry that DEVICE, one of OLD's, points to already; NULL when it points
 * to OLD itself or to nothing.
 */
static ggml_backend_reg_t
entry_of_device(ggml_backend_dev_t device, struct gb_2024_reg *old)
{
    if (device == NULL || device->reg == old_handle(old))
        return NULL;
    return device->reg;
}

/* The entry for OLD, which all its devices point to; NULL without memory. */
static ggml_backend_reg_t
entry_for(struct gb_2024_reg *old)
{
    const size_t n_devices = old->iface.get_device_count(old_handle(old));
    ggml_backend_reg_t entry = NULL;

    if (n_devices > 0)
        entry = entry_of_device(old->iface.get_device(old_handle(old), 0), old);
    if (entry != NULL)
        return entry;
    entry = gb_mem_zalloc(1, sizeof(*entry));
    if (entry == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a registration",
                old->iface.get_name(old_handle(old)));
        return NULL;
    }
    entry->api_version = GGML_BACKEND_API_VERSION;
    entry->iface = entry_members;
    entry->context = old;
    for (size_t i = 0; i < n_devices; i++)
        entry_get_device(entry, i);
    return entry;
}

/* Is REG one that the registry has given out? */
static bool
is_of_today(ggml_backend_reg_t reg)
{
    const size_t n_regs = ggml_backend_reg_count();

    for (size_t i = 0; i < n_regs; i++)
        if (ggml_backend_reg_get(i) == reg)
            return true;
    return false;
}

struct ggml_backend_reg *
ggmlbackend_reg_2024(struct ggml_backend_reg *reg)
{
    GB_NEED_OR(NULL, reg != NULL, "backend of 2024-10: no registration");
    return is_of_today(reg) ? reg : entry_for((struct gb_2024_reg *)reg);
}

void
ggmlbackend_l202410_backend_register(ggml_backend_reg_t reg)
{
    if (reg != NULL)
        ggml_backend_register(ggmlbackend_reg_2024(reg));
}

/*
 * A device that names an old registration gets its entry; so do the others of
 * that registration.
 */
void
ggmlbackend_l202410_backend_device_register(ggml_backend_dev_t device)
{
    if (device != NULL && device->reg != NULL) {
        ggml_backend_reg_t entry = ggmlbackend_reg_2024(device->reg);

        if (entry == NULL)
            return;
        device->reg = entry;
    }
    ggml_backend_device_register(device);
}

/*
 * REG, of either level or NULL, as one of today: itself, or VIEW, which asks
 * the old one and is for the caller alone.
 */
static ggml_backend_reg_t
look_at(ggml_backend_reg_t reg, struct ggml_backend_reg *view)
{
    if (reg == NULL || is_of_today(reg))
        return reg;
    view->api_version = GGML_BACKEND_API_VERSION;
    view->iface = entry_members;
    view->iface.get_device = old_get_device;
    view->context = reg;
    return view;
}

const char *
ggmlbackend_l202410_backend_reg_name(ggml_backend_reg_t reg)
{
    struct ggml_backend_reg view;

    return ggml_backend_reg_name(look_at(reg, &view));
}

size_t
ggmlbackend_l202410_backend_reg_dev_count(ggml_backend_reg_t reg)
{
    struct ggml_backend_reg view;

    return ggml_backend_reg_dev_count(look_at(reg, &view));
}

ggml_backend_dev_t
ggmlbackend_l202410_backend_reg_dev_get(ggml_backend_reg_t reg, size_t index)
{
    struct ggml_backend_reg view;

    return ggml_backend_reg_dev_get(look_at(reg, &view), index);
}

void *
ggmlbackend_l202410_backend_reg_get_proc_address(
    ggml_backend_reg_t reg, const char *name)
{
    struct ggml_backend_reg view;

    return ggml_backend_reg_get_proc_address(look_at(reg, &view), name);
}
