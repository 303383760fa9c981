/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/neighbours.c - others beside the module: a client's own Vulkan, the
 * module's file twice, and processes that are forked.
 *
 * On lavapipe through the shim, which shim.sh looks for.
 */
#include "config.h"

#include "tests/vulkan/shimmed.h"

#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- what the module computes ---- */

enum { N = 1000 };

/* x + x on BACKEND; NULL backends and failures give false. */
static bool
computes_on(ggml_backend_t backend)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *sum = ggml_add(ctx, x, x);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer =
        backend != NULL ? ggml_backend_alloc_ctx_tensors(ctx, backend) : NULL;
    float values[N];
    bool is_right = false;

    ggml_build_forward_expand(graph, sum);
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    if (buffer != NULL) {
        ggml_backend_tensor_set(x, values, 0, sizeof(values));
        is_right = ggml_backend_graph_compute(backend, graph) ==
                   GGML_STATUS_SUCCESS;
        ggml_backend_tensor_get(sum, values, 0, sizeof(values));
        for (int i = 0; i < N; i++)
            is_right = is_right && values[i] == 2.0f * (float)i;
        ggml_backend_buffer_free(buffer);
    }
    ggml_free(ctx);
    return is_right;
}

static bool
computes(const char *name)
{
    ggml_backend_t backend = ggml_backend_dev_init(vk_device(name), NULL);
    const bool is_right = computes_on(backend);

    ggml_backend_free(backend);
    return is_right;
}

/* ---- a client's own Vulkan ---- */

struct client {
    PFN_vkGetInstanceProcAddr get;
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
};

#define CALL(client, name) \
    ((PFN_vk##name)(client)->get((client)->instance, "vk" #name))

static void
open_client(struct client *client)
{
    static const float priority = 1.0f;
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_0,
    };
    const VkInstanceCreateInfo instance = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address;
    uint32_t n = 1;

    CHECK(library != NULL);
    address = dlsym(library, "vkGetInstanceProcAddr");
    CHECK(address != NULL);
    memset(client, 0, sizeof(*client));
    memcpy(&client->get, &address, sizeof(address));
    CHECK(CALL(client, CreateInstance)(&instance, NULL, &client->instance) ==
          VK_SUCCESS);
    CHECK(CALL(client, EnumeratePhysicalDevices)(client->instance, &n,
                                                 &client->physical) >= 0);
    CHECK(CALL(client, CreateDevice)(client->physical, &device, NULL,
                                     &client->device) == VK_SUCCESS);
    CALL(client, GetDeviceQueue)(client->device, 0, 0, &client->queue);
}

/* Memory and a command buffer of its own, and a submission that ends. */
static void
use_client(struct client *client)
{
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
    };
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandBufferCount = 1,
    };
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
    };
    VkCommandBuffer commands;
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    VkCommandPool pool;

    CHECK(CALL(client, CreateCommandPool)(client->device, &pool_info, NULL,
                                          &pool) == VK_SUCCESS);
    info.commandPool = pool;
    CHECK(CALL(client, AllocateCommandBuffers)(client->device, &info,
                                               &commands) == VK_SUCCESS);
    CHECK(CALL(client, BeginCommandBuffer)(commands, &begin) == VK_SUCCESS);
    CHECK(CALL(client, EndCommandBuffer)(commands) == VK_SUCCESS);
    CHECK(CALL(client, QueueSubmit)(client->queue, 1, &submit,
                                    VK_NULL_HANDLE) == VK_SUCCESS);
    CHECK(CALL(client, QueueWaitIdle)(client->queue) == VK_SUCCESS);
    CALL(client, DestroyCommandPool)(client->device, pool, NULL);
}

static void
close_client(struct client *client)
{
    CALL(client, DestroyDevice)(client->device, NULL);
    CALL(client, DestroyInstance)(client->instance, NULL);
}

/* It is there before the module, beside it and after what the module had. */
static void
have_a_client(void)
{
    struct client before, beside;
    ggml_backend_t backend;

    CHECK(vk_load() != NULL);
    open_client(&before);
    use_client(&before);
    backend = ggml_backend_dev_init(vk_device("Vulkan0"), NULL);
    CHECK(computes_on(backend));
    open_client(&beside);
    use_client(&beside);
    CHECK(computes_on(backend));
    close_client(&before);
    use_client(&beside);
    CHECK(computes_on(backend));
    ggml_backend_free(backend);
    use_client(&beside);
    CHECK(computes("Vulkan0"));
    close_client(&beside);
    CHECK(computes("Vulkan0"));
    CHECK(!vk_is_left("a client", 0));
}

/* ---- the module twice ---- */

static void
load_twice(void)
{
    char path[] = "./module-twice-XXXXXX", command[4300];
    const int file = mkstemp(path);
    ggml_backend_reg_t reg = vk_load();

    CHECK(reg != NULL && vk_load() == reg);
    CHECK(file >= 0 && close(file) == 0);
    snprintf(command, sizeof(command),
             "cp '%s/backends/vulkan/.libs/libggml-vulkan.so' %s",
             getenv("top_builddir") != NULL ? getenv("top_builddir") : ".",
             path);
    CHECK(system(command) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(ggml_backend_load(path) == NULL);
        CHECK(ggml_backend_dev_by_name("Vulkan1") == NULL);
        CHECK(computes("Vulkan0"));
    }
    unlink(path);
    CHECK(!vk_is_left("the module twice", 0));
}

/* ---- forks ---- */

static void
expect_child(pid_t child)
{
    int status;

    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        fprintf(stderr, "a child ends with %x\n", (unsigned)status);
    CHECK(status == 0);
}

static bool
cpu_computes(void)
{
    ggml_backend_t cpu = ggml_backend_cpu_init();
    const bool is_right = computes_on(cpu);

    ggml_backend_free(cpu);
    return is_right;
}

/* Forks are tested without the validation layer: some of its releases wait, when
 * a child ends, for threads that only its parent has. */
#define WITHOUT_LAYER "GGMLBACKEND_VULKAN_VALIDATE="

/* A child that ends as programs do. */
static void
fork_after_use(void)
{
    ggml_backend_t backend;
    pid_t child;

    CHECK(vk_load() != NULL);
    backend = ggml_backend_dev_init(vk_device("Vulkan0"), NULL);
    CHECK(computes_on(backend));
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(60);
        CHECK(!computes_on(backend));
        CHECK(ggml_backend_dev_init(vk_device("Vulkan0"), NULL) == NULL);
        CHECK(strstr(ggmlbackend_last_failure(), "forked") != NULL);
        CHECK(cpu_computes());
        ggml_backend_free(backend);
        exit(0);
    }
    expect_child(child);
    CHECK(computes_on(backend));
    ggml_backend_free(backend);
    CHECK(computes("Vulkan0"));
    CHECK(!vk_is_left("a fork", 0));
}

/* Devices are listed, and nobody has used one: the child's own are as good, or it
 * is told. */
static void
fork_before_use(void)
{
    pid_t child;

    CHECK(vk_load() != NULL);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(60);
        CHECK(computes("Vulkan0") ||
              strstr(ggmlbackend_last_failure(), "forked") != NULL);
        CHECK(cpu_computes());
        exit(0);
    }
    expect_child(child);
    CHECK(computes("Vulkan0"));
    CHECK(!vk_is_left("a fork", 0));
}

/* ---- tests ---- */

static void
validated_case(void (*function)(void), const char *variables)
{
    const char *errors;
    char whole[256];

    snprintf(whole, sizeof(whole),
             ON_LAVAPIPE "GGMLBACKEND_VULKAN_VALIDATE=1 %s", variables);
    vk_case(function, whole, &errors);
    if (strstr(errors, "vulkan validation:") != NULL)
        fail_msg("[%s] %s", variables, errors);
}

static void
a_client_has_its_own_vulkan(void **state)
{
    (void)state;
    validated_case(have_a_client, "");
}

static void
a_second_file_of_the_module_adds_nothing(void **state)
{
    (void)state;
    validated_case(load_twice, "");
    validated_case(load_twice, "GGMLBACKEND_VULKAN_DUPLICATES=1");
}

static void
a_fork_after_use_has_the_cpu(void **state)
{
    const char *errors;

    (void)state;
    vk_case(fork_after_use, ON_LAVAPIPE WITHOUT_LAYER, &errors);
}

static void
a_fork_before_use_does_not_hang(void **state)
{
    const char *errors;

    (void)state;
    vk_case(fork_before_use, ON_LAVAPIPE WITHOUT_LAYER, &errors);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_has_its_own_vulkan),
        cmocka_unit_test(a_second_file_of_the_module_adds_nothing),
        cmocka_unit_test(a_fork_after_use_has_the_cpu),
        cmocka_unit_test(a_fork_before_use_does_not_hang),
    };

    if (argc < 2 || strcmp(argv[1], "lavapipe") != 0) {
        puts("1..0 # SKIP shim.sh brings lavapipe");
        return 0;
    }
    return cmocka_run_group_tests_name("neighbours", tests, NULL, NULL);
}
