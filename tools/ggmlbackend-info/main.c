/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-info/main.c - the backends and their devices, modules that were
 * refused, the CPU kernels chosen and why, and the environment in force.
 */
#include "tools/common/json.h"
#include "tools/common/options.h"
#include "tools/common/text.h"
#include "tools/common/tool.h"

#include "ggml-backend.h"
#include "ggmlbackend.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct options {
    bool env, json, list;
};

static const struct tool_row rows[] = {
#include "tools/ggmlbackend-info/options.def"
};

static const char *
type_name(enum ggml_backend_dev_type type)
{
    switch (type) {
    case GGML_BACKEND_DEVICE_TYPE_CPU:
        return "CPU";
    case GGML_BACKEND_DEVICE_TYPE_GPU:
        return "GPU";
    case GGML_BACKEND_DEVICE_TYPE_ACCEL:
        return "accelerator";
    }
    return "unknown";
}

/* What a device may offer beyond what every one does. */
static const struct {
    const char *name;
    size_t offset;
} cap_table[] = {
#define CAP(name) { #name, offsetof(struct ggml_backend_dev_caps, name) }
    CAP(async),
    CAP(host_buffer),
    CAP(buffer_from_host_ptr),
    CAP(events),
#undef CAP
};

#define N_CAPS (sizeof(cap_table) / sizeof(cap_table[0]))

static bool
has_cap(const struct ggml_backend_dev_caps *caps, size_t index)
{
    return *(const bool *)((const char *)caps + cap_table[index].offset);
}

/* What a registration says it can do, as name and value pairs; NULL for nothing. */
static const struct ggml_backend_feature *
features_of(ggml_backend_reg_t reg)
{
    union {
        void *object;
        ggml_backend_get_features_t function;
    } get;

    get.object = ggml_backend_reg_get_proc_address(reg,
                                                   "ggml_backend_get_features");
    return get.object != NULL ? get.function(reg) : NULL;
}

static void
print_features(ggml_backend_reg_t reg)
{
    const struct ggml_backend_feature *feature = features_of(reg);

    if (feature == NULL || feature->name == NULL)
        return;
    printf("    features:");
    for (; feature->name != NULL; feature++) {
        printf(" %s", text_quoted(feature->name));
        if (strcmp(feature->value, "1") != 0)
            printf(":%s", text_quoted(feature->value));
    }
    printf("\n");
}

static void
print_caps(const struct ggml_backend_dev_caps *caps)
{
    const char *before = "    offers: ";

    for (size_t i = 0; i < N_CAPS; i++) {
        if (!has_cap(caps, i))
            continue;
        printf("%s%s", before, cap_table[i].name);
        before = " ";
    }
    if (before[1] == '\0')
        printf("\n");
}

/* What is known of a device beyond the interface; NULL for nothing. */
static const struct ggml_backend_feature *
properties_of(ggml_backend_dev_t device)
{
    union {
        void *object;
        ggmlbackend_dev_get_properties_t function;
    } get;

    get.object = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggmlbackend_dev_get_properties");
    return get.object != NULL ? get.function(device) : NULL;
}

static void
print_properties(ggml_backend_dev_t device)
{
    const struct ggml_backend_feature *row = properties_of(device);

    for (; row != NULL && row->name != NULL; row++) {
        printf("    %s: ", text_quoted(row->name));
        printf("%s\n", text_quoted(row->value));
    }
}

static void
print_device(ggml_backend_dev_t device)
{
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(device, &props);
    printf("%s: %s, %s", text_quoted(props.name),
           text_quoted(props.description), type_name(props.type));
    if (props.memory_total > 0)
        printf(", %zu of %zu MiB free", props.memory_free >> 20,
               props.memory_total >> 20);
    printf("\n");
    print_caps(&props.caps);
    print_properties(device);
}

/* A backend and its devices. */
static void
print_reg(ggml_backend_reg_t reg)
{
    const char *path = ggmlbackend_module_path(reg);
    const size_t n = ggml_backend_reg_dev_count(reg);

    printf("backend %s, %s%s, %zu %s\n",
           text_quoted(ggml_backend_reg_name(reg)),
           path != NULL ? "module " : "part of the library",
           text_quoted(path != NULL ? path : ""), n,
           n == 1 ? "device" : "devices");
    print_features(reg);
    for (size_t i = 0; i < n; i++)
        print_device(ggml_backend_reg_dev_get(reg, i));
}

static void
print_variants(void)
{
    if (ggmlbackend_cpu_level()[0] == '\0')
        return;
    printf("CPU kernels: %s, %s\n", ggmlbackend_cpu_level(),
           text_quoted(ggmlbackend_cpu_level_reason()));
    printf("    this machine can run:");
    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++)
        printf(" %s", ggmlbackend_cpu_level_at(i));
    printf("\nthreads of a new CPU backend: %d\n",
           ggmlbackend_default_n_threads());
}

static void
print_env(bool all)
{
    for (size_t i = 0; i < ggmlbackend_env_count(); i++) {
        struct ggmlbackend_env_entry entry;

        if (!ggmlbackend_env_get(i, &entry) || (!all && entry.value == NULL))
            continue;
        if (entry.value != NULL)
            printf("%s is set to %s\n", entry.name, text_quoted(entry.value));
        else
            printf("%s is not set\n", entry.name);
        if (all)
            printf("    %s, default '%s': %s\n", entry.type,
                   entry.default_value, entry.help);
    }
}

/* Did the library have what it needed to know all? */
static bool
is_whole(void)
{
    return !tool_has_reason() || tool_error("%s", tool_reason());
}

static bool
print_text(bool env)
{
    printf("libggmlbackend %s, interface level %d\n", ggmlbackend_version(),
           ggmlbackend_api_level());
    for (size_t i = 0; i < ggml_backend_reg_count(); i++)
        print_reg(ggml_backend_reg_get(i));
    printf("modules are installed in %s\n",
           text_quoted(ggmlbackend_module_folder()));
    for (size_t i = 0; i < ggmlbackend_refused_count(); i++) {
        struct ggmlbackend_refused_module module;

        if (ggmlbackend_refused_get(i, &module))
            printf("refused: %s: %s\n", text_quoted(module.path),
                   text_quoted(module.reason));
    }
    print_variants();
    print_env(env);
    return is_whole();
}

static json_t *
json_features(const struct ggml_backend_feature *feature)
{
    json_t *root = json_object();

    for (; feature != NULL && feature->name != NULL; feature++)
        tool_json_put(root, feature->name, tool_json_text(feature->value));
    return root;
}

static json_t *
json_caps(const struct ggml_backend_dev_caps *caps)
{
    json_t *root = json_object();

    for (size_t i = 0; i < N_CAPS; i++)
        tool_json_put(root, cap_table[i].name, json_boolean(has_cap(caps, i)));
    return root;
}

static json_t *
json_device(ggml_backend_dev_t device)
{
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(device);
    json_t *root = json_object();
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(device, &props);
    tool_json_put(root, "name", tool_json_text(props.name));
    tool_json_put(root, "description", tool_json_text(props.description));
    tool_json_put(root, "type", tool_json_text(type_name(props.type)));
    tool_json_put(root, "memory_free", tool_json_unsigned(props.memory_free));
    tool_json_put(root, "memory_total", tool_json_unsigned(props.memory_total));
    tool_json_put(root, "caps", json_caps(&props.caps));
    tool_json_put(root, "features", json_features(features_of(reg)));
    tool_json_put(root, "properties", json_features(properties_of(device)));
    tool_json_put(root, "backend", tool_json_text(ggml_backend_reg_name(reg)));
    return root;
}

static json_t *
json_reg(ggml_backend_reg_t reg)
{
    json_t *root = json_object();

    tool_json_put(root, "name", tool_json_text(ggml_backend_reg_name(reg)));
    tool_json_put(root, "module", tool_json_text(ggmlbackend_module_path(reg)));
    return root;
}

static json_t *
json_env(void)
{
    json_t *root = json_array();

    for (size_t i = 0; i < ggmlbackend_env_count(); i++) {
        struct ggmlbackend_env_entry entry;
        json_t *row = json_object();

        if (ggmlbackend_env_get(i, &entry)) {
            tool_json_put(row, "name", tool_json_text(entry.name));
            tool_json_put(row, "type", tool_json_text(entry.type));
            tool_json_put(row, "default", tool_json_text(entry.default_value));
            tool_json_put(row, "help", tool_json_text(entry.help));
            tool_json_put(row, "value", tool_json_text(entry.value));
        }
        tool_json_add(root, row);
    }
    return root;
}

static bool
print_json(void)
{
    json_t *root = json_object(), *devices = json_array();
    json_t *backends = json_array();
    json_t *variants = json_array(), *refused = json_array();

    for (size_t i = 0; i < ggml_backend_reg_count(); i++)
        tool_json_add(backends, json_reg(ggml_backend_reg_get(i)));
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        tool_json_add(devices, json_device(ggml_backend_dev_get(i)));
    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++)
        tool_json_add(variants, tool_json_text(ggmlbackend_cpu_level_at(i)));
    for (size_t i = 0; i < ggmlbackend_refused_count(); i++) {
        struct ggmlbackend_refused_module module;
        json_t *row = json_object();

        if (ggmlbackend_refused_get(i, &module)) {
            tool_json_put(row, "path", tool_json_text(module.path));
            tool_json_put(row, "reason", tool_json_text(module.reason));
        }
        tool_json_add(refused, row);
    }
    tool_json_put(root, "version", tool_json_text(ggmlbackend_version()));
    tool_json_put(root, "level", json_integer(ggmlbackend_api_level()));
    tool_json_put(root, "backends", backends);
    tool_json_put(root, "devices", devices);
    tool_json_put(root, "cpu_level", tool_json_text(ggmlbackend_cpu_level()));
    tool_json_put(root, "cpu_level_reason",
                  tool_json_text(ggmlbackend_cpu_level_reason()));
    tool_json_put(root, "cpu_levels", variants);
    tool_json_put(root, "default_threads",
                  json_integer(ggmlbackend_default_n_threads()));
    tool_json_put(root, "module_folder",
                  tool_json_text(ggmlbackend_module_folder()));
    tool_json_put(root, "refused_modules", refused);
    tool_json_put(root, "environment", json_env());
    if (is_whole())
        return tool_json_print(root);
    json_decref(root);
    return false;
}

/* For scripts, and for shells that complete a device's name. */
static bool
print_names(void)
{
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        puts(text_quoted(ggml_backend_dev_name(ggml_backend_dev_get(i))));
    for (size_t i = 0; i < ggmlbackend_refused_count(); i++) {
        struct ggmlbackend_refused_module module;

        if (ggmlbackend_refused_get(i, &module))
            tool_warning("%s: %s", module.path, module.reason);
    }
    return is_whole();
}

int
main(int argc, char **argv)
{
    struct options options = { .env = false };
    bool is_done;
    int status;

    tool_begin("ggmlbackend-info");
    status = tool_options_read(rows, sizeof(rows) / sizeof(rows[0]), argc, argv,
                               &options);
    if (status >= 0)
        return tool_end(status);
    if (optind < argc)
        return tool_end(
            tool_usage_error("unexpected argument '%s'", argv[optind]));
    tool_load_modules();
    if (options.json)
        is_done = print_json();
    else if (options.list)
        is_done = print_names();
    else
        is_done = print_text(options.env);
    return tool_end(is_done ? TOOL_OK : TOOL_FAILED);
}
