/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2024.c - backends of 2024-10: registrations without a version,
 * and buffers whose init_tensor returns nothing.
 *
 * A registration gets an entry of today that asks the old one.  Devices are the
 * same at both levels and stay what they are, but for the entry that they point
 * to and for two questions: what a device is, and which nodes it supports.  The
 * entry keeps the functions that answered these.
 */
#include "config.h"

#include "lib/levels/level-2024.h"

#include "lib/backend/buffer.h"
#include "lib/backend/members.h"
#include "lib/base/lock.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/levels/forms.h"

#include <stdatomic.h>

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

/* ---- devices ---- */

/* Functions of a device's own, whose places in its table the adapter took. */
struct old_device {
    ggml_backend_dev_t device;
    enum ggml_backend_dev_type (*get_type)(ggml_backend_dev_t device);
    void (*get_props)(
        ggml_backend_dev_t device, struct ggml_backend_dev_props *props);
    bool (*supports_op)(
        ggml_backend_dev_t device, const struct ggml_tensor *op);
    struct old_device *next;
};

/* An entry of today; its devices are added in front, under the lock, and stay. */
struct entry {
    struct ggml_backend_reg reg;
    _Atomic(struct old_device *) devices;
};

/* NULL for a device that is not ENTRY's. */
static const struct old_device *
find_device(struct entry *entry, ggml_backend_dev_t device)
{
    const struct old_device *old =
        atomic_load_explicit(&entry->devices, memory_order_acquire);

    while (old != NULL && old->device != device)
        old = old->next;
    return old;
}

/* Never NULL in the functions below: only such devices have them. */
static const struct old_device *
old_face(ggml_backend_dev_t device)
{
    return find_device((struct entry *)device->reg, device);
}

/*
 * Who said CPU helped the CPU with some operations: as BLAS did before there
 * was a word for it.  The CPU itself is there already.
 */
static enum ggml_backend_dev_type
type_of_today(enum ggml_backend_dev_type type)
{
    switch ((int)type) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
        return GGML_BACKEND_DEVICE_TYPE_ACCEL;
    case GB_2024_DEVICE_TYPE_CPU_FULL:
        return GGML_BACKEND_DEVICE_TYPE_CPU;
    case GB_2024_DEVICE_TYPE_GPU_FULL:
        return GGML_BACKEND_DEVICE_TYPE_GPU;
    default:
        return type;
    }
}

static enum ggml_backend_dev_type
device_get_type(ggml_backend_dev_t device)
{
    return type_of_today(old_face(device)->get_type(device));
}

static void
device_get_props(
    ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    old_face(device)->get_props(device, props);
    props->type = type_of_today(props->type);
}

static bool
device_supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    return gb_form_is_of_2024(op) && old_face(device)->supports_op(device, op);
}

/* What is missing stays so: the registry says it by name. */
static void
take_places(struct ggml_backend_device_i *iface)
{
    if (iface->get_type != NULL)
        iface->get_type = device_get_type;
    if (iface->get_props != NULL)
        iface->get_props = device_get_props;
    if (iface->supports_op != NULL)
        iface->supports_op = device_supports_op;
}

/* DEVICE belongs to ENTRY from now on.  False without memory; again is fine. */
static bool
add_device(struct entry *entry, ggml_backend_dev_t device)
{
    struct old_device *old;

    gb_lock(GB_LOCK_LEVELS);
    if (find_device(entry, device) != NULL) {
        gb_unlock(GB_LOCK_LEVELS);
        return true;
    }
    old = gb_mem_alloc(sizeof(*old));
    if (old != NULL) {
        old->device = device;
        old->get_type = device->iface.get_type;
        old->get_props = device->iface.get_props;
        old->supports_op = device->iface.supports_op;
        old->next = atomic_load_explicit(&entry->devices, memory_order_relaxed);
        atomic_store_explicit(&entry->devices, old, memory_order_release);
        device->reg = &entry->reg;
        take_places(&device->iface);
    }
    gb_unlock(GB_LOCK_LEVELS);
    if (old == NULL)
        gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a device",
                ggml_backend_reg_name(&entry->reg));
    return old != NULL;
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

/* The device is the entry's from when it is first handed out. */
static ggml_backend_dev_t
entry_get_device(ggml_backend_reg_t entry, size_t index)
{
    ggml_backend_dev_t device = old_get_device(entry, index);

    return device != NULL && add_device((struct entry *)entry, device) ? device
                                                                       : NULL;
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

/* A new entry for OLD; NULL without memory. */
static struct entry *
entry_new(struct gb_2024_reg *old)
{
    struct entry *entry = gb_mem_zalloc(1, sizeof(*entry));

    if (entry == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a registration",
                old->iface.get_name(old_handle(old)));
        return NULL;
    }
    entry->reg.api_version = GGML_BACKEND_API_VERSION;
    entry->reg.iface = entry_members;
    entry->reg.context = old;
    return entry;
}

/* All devices that OLD has now are ENTRY's.  False without memory. */
static bool
add_devices(struct entry *entry, struct gb_2024_reg *old)
{
    const size_t n_devices = old->iface.get_device_count(old_handle(old));

    for (size_t i = 0; i < n_devices; i++) {
        ggml_backend_dev_t device = old_get_device(&entry->reg, i);

        if (device != NULL && !add_device(entry, device))
            return false;
    }
    return true;
}

/*
 * The entry for OLD, which all its devices point to; NULL without memory.  What
 * the first of them points to then stays, for the next try.
 */
static ggml_backend_reg_t
entry_for(struct gb_2024_reg *old)
{
    const char *missing = gb_missing_member(&gb_reg_members, &old->iface);
    struct entry *entry = NULL;

    GB_NEED_OR(NULL, missing == NULL,
               "backend of 2024-10: its registration has no %s", missing);
    if (old->iface.get_device_count(old_handle(old)) > 0)
        entry = (struct entry *)entry_of_device(
            old->iface.get_device(old_handle(old), 0), old);
    if (entry == NULL)
        entry = entry_new(old);
    if (entry == NULL || add_devices(entry, old))
        return entry != NULL ? &entry->reg : NULL;
    if (atomic_load(&entry->devices) == NULL)
        gb_mem_free(entry);
    return NULL;
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

/* Free an entry that neither a device nor the registry knows, if it is one. */
static void
forget_new(struct entry *entry)
{
    if (atomic_load(&entry->devices) == NULL && !is_of_today(&entry->reg))
        gb_mem_free(entry);
}

/*
 * A device that names an old registration, or the entry of one, becomes that
 * entry's; so do the others of that registration.
 */
void
ggmlbackend_l202410_backend_device_register(ggml_backend_dev_t device)
{
    if (device != NULL && device->reg != NULL &&
        device->iface.supports_op != device_supports_op) {
        ggml_backend_reg_t reg = ggmlbackend_reg_2024(device->reg);

        if (reg == NULL)
            return;
        if (reg->iface.get_name == entry_get_name &&
            !add_device((struct entry *)reg, device)) {
            forget_new((struct entry *)reg);
            return;
        }
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
