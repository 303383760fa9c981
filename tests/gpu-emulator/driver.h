/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/driver.h - the parts of driver*.cpp, as they see each other.
 *
 * One lock is held during every call (driver.cpp), kernels' runs included, so
 * nothing below is called by two threads at once.
 */
#ifndef GB_GPU_EMULATOR_DRIVER_H
#define GB_GPU_EMULATOR_DRIVER_H

/* Before what follows, as it says what names mean there. */
#ifdef GB_USE_HIP
#include "tests/gpu-emulator/hip.h"
#endif

#include "backends/cuda/driver/platform.h"
#include "tests/gpu-emulator/control.h"
#include "tests/gpu-emulator/emulator.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace emu {

/* Of a warp, in the library that the driver is linked into (lanes.cpp). */
extern const int lanes;

/* ---- what cards are (driver-arch.cpp, hip-arch.cpp) ---- */

/* The number of an architecture: of "90", of "gfx90a". */
int arch_of(const char *text);
/* What a card has unless the environment says otherwise. */
const char *usual_arch();
const char *usual_version();
/* Most shared memory that one thread block may ask for, and has unasked. */
int shared_limit(int arch);
int shared_unasked();
/* Has a card of ARCH the kernels of a variant, enum gb_cuda_variant? */
bool arch_has_variant(int arch, int variant);
/* Lanes that share a line of a matrix instruction's, where it is one of AMD's. */
int matrix_shares_of(int arch);

/* Results that driver.h has no use for. */
enum {
    PEER_UNSUPPORTED = 217,
    NOT_SUPPORTED = 801,
};

/* One an entry point, in driver.def's order. */
enum call {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) CALL_##id,
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    N_CALLS
};

/* What the entry points do, once it is clear that they may. */
namespace api {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    int id parameters;
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
} // namespace api

/* ---- cards (driver-settings.cpp) ---- */

enum peer_kind { PEER_RIGHT, PEER_REFUSED, PEER_CORRUPTING };

struct card {
    int number;
    /* what the environment says */
    int arch; /* 90: 9.0 */
    size_t memory;
    int sms, integrated, pageable, compute_mode;
    std::string name;
    gb_cuda_uuid uuid;
    /* the primary context: NULL where nobody retains it */
    gb_cuda_context context;
    int retained;
    uint64_t clock; /* microseconds that its work took, see driver-work.cpp */
    int error; /* what every call of it fails with; 0: none */
    std::vector<bool> peers; /* that it may reach */
};

struct settings {
    int version, init_failure;
    bool is_idle; /* kernels are counted and not run */
    bool has_no_image, is_ptx_too_new;
    peer_kind peer;
};

extern settings set;
extern std::vector<card> cards;

/* Reads the environment, unless that was done already. */
void settings_read();
void settings_forget();
/* A variable's text, GGMLBACKEND_TEST_EMU_ before NAME; NULL: none or empty. */
const char *setting_text(const char *name);
/* NULL for a number that no card has. */
card *card_of(int number);

/* ---- handles: a number that no second object ever has ---- */

uintptr_t new_handle();

template <typename T, typename H> class handles {
    std::map<uintptr_t, std::shared_ptr<T>> live;

public:
    H
    add(const std::shared_ptr<T> &object)
    {
        const uintptr_t handle = new_handle();

        live[handle] = object;
        return (H)handle;
    }
    /* Empty for what is none, or was freed. */
    std::shared_ptr<T>
    find(H handle) const
    {
        const auto at = live.find((uintptr_t)handle);

        return at == live.end() ? nullptr : at->second;
    }
    bool
    drop(H handle)
    {
        return live.erase((uintptr_t)handle) != 0;
    }
    /* Those for which IS_GONE says so; how many that were. */
    size_t
    drop_those(const std::function<bool(const T &)> &is_gone)
    {
        const size_t before = live.size();

        for (auto at = live.begin(); at != live.end();)
            at = is_gone(*at->second) ? live.erase(at) : std::next(at);
        return before - live.size();
    }
    size_t
    size() const
    {
        return live.size();
    }
};

/* ---- calls: counting, failing, what each needs (driver-call.cpp) ---- */

extern uint64_t counts[EMU_COUNTERS];

/* NAME's number; N_CALLS for "any", -1 for none. */
int call_named(const char *name);
uint64_t calls_of(int which);
void fail_call(const char *name, uint64_t n, int result);
void lose_card(uint64_t n, int result);
uint64_t failed_calls();
void calls_reset();
void calls_read_settings();

/*
 * A call of an entry point begins: 0, or what it fails with instead of being
 * done.  AFTER is what it fails with although it was done, 0 for none: those
 * that give something back do that first, so that nothing leaks.
 */
int call_begins(call which, int *after);

/* ---- contexts (driver-context.cpp) ---- */

/* The card of the calling thread's current context; NULL: none is current. */
card *current_card();
card *card_of_context(gb_cuda_context context);
void contexts_forget();
/* Nothing is current in this thread. */
void current_forget();
/* Does the call only ask or say what is current, so that no card has a part in
 * it? */
bool is_about_current(call which);

/* ---- streams' queues (driver-queue.cpp) ---- */

struct range {
    const char *from;
    size_t size;

    bool
    overlaps(const range &other) const
    {
        return from < other.from + other.size && other.from < from + size;
    }
};

/* One operation of a stream. */
struct item {
    virtual ~item() {}
    /* May it run, as far as other streams are concerned? */
    virtual bool
    is_ready() const
    {
        return true;
    }
    /* 0, or the error that its card keeps. */
    virtual int run() = 0;
    /* May it read or write what is there? */
    virtual bool
    may_use(const range &) const
    {
        return false;
    }
    /* Another item is about to write, or has written, host memory. */
    virtual void before_host_write(const range &) {}
    virtual void after_host_write(const range &) {}
};

struct stream {
    card *on;
    bool is_destroyed;
    std::deque<std::unique_ptr<item>> queue;
};

void queue_add(stream &to, std::unique_ptr<item> what);
/* Runs what is queued, in any order that streams allow, until IS_DONE. */
void queue_run_until(const std::function<bool()> &is_done);
/* One operation, where there is one: time passes. */
void queue_run_one();
/* All of CARD, and what that waits for. */
void queue_run_card(const card *on);
bool queue_has_work(const card *on);
/* Is there queued work that may use it, on any card? */
bool queue_may_use(const range &what);
void queue_each(const std::function<void(item &)> &see);
/* What is queued there never runs; whoever waits for it goes on. */
void queue_drop(const card *on);
std::shared_ptr<stream> queue_new(card *on);
uint64_t queue_length();
/* 0: the oldest first, 1: the newest, more: by chance, with this seed. */
void queue_order(uint64_t order);
/* A number below N, as that says. */
size_t queue_choice(size_t n);

/* ---- objects that a context owns ---- */

/* Everything of ON is freed; how many were there. */
size_t memory_drop(const card *on);
size_t host_drop(const card *on);
size_t streams_drop(const card *on);
size_t modules_drop(const card *on);
size_t graphs_drop(const card *on);
/* How many live. */
size_t memory_live();
size_t host_live();
size_t streams_live();
size_t modules_live();
size_t graphs_live();

/* The stream, of the current context; otherwise *RESULT says what is wrong. */
std::shared_ptr<stream> stream_of(gb_cuda_stream handle, int *result);
/* Until IS_DONE; counted where the host has to wait.  The card's error. */
int host_wait(card *on, const std::function<bool()> &is_done);

/*
 * Has ON all of it, or is it pinned host memory?  Reports what is not so, with
 * WHAT as the name of the operation.
 */
bool is_reachable(const card *on, gb_cuda_address at, size_t size,
                  const char *what);

/* ---- kernels (driver-module.cpp, driver-launch.cpp) ---- */

struct function {
    card *on;
    const kernel *k;
    size_t max_shared; /* that a launch may ask for */
};

std::shared_ptr<function> function_of(gb_cuda_function handle);
uint64_t kernel_runs(const char *name);
void kernel_runs_reset();
/* To the file that COUNTS names; the process ends. */
void kernel_runs_write();

/* A launch that was checked; has its own copy of the arguments. */
struct kernel_launch {
    const kernel *k;
    card *on;
    unsigned grid[3], block[3];
    size_t shared;
    bool is_early = false; /* it may begin before the one in front has ended */
    std::vector<char> args;

    int run() const;
    bool may_use(const range &what) const;
};

/* 0, or what the launch fails with, which is reported, and *OUT as it was. */
int launch_prepare(const struct gb_cuda_kernel_node &from, kernel_launch *out);

/* ---- work of other libraries (driver-work.cpp) ---- */

/* Microseconds that a kernel takes of its card's time. */
uint64_t kernel_time(const kernel &k);
constexpr uint64_t host_copy_time = 20; /* from the host, or to it */
int queue_work(gb_cuda_stream stream, void (*run)(const void *data),
               const void *data, size_t size, uint64_t us);
bool work_uses(const void *at, size_t size, bool writes);

} // namespace emu

#endif
