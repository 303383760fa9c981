/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-info/main.c - the devices, the CPU kernels chosen and why, and the
 * environment in force.
 */
#include "tools/common/json.h"
#include "tools/common/tool.h"

#include "ggml-backend.h"
#include "ggmlbackend.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static void
print_help(void)
{
    puts("Usage: ggmlbackend-info [--env] [--json]\n"
         "Show the devices that compute, the CPU kernels in use, modules that were\n"
         "refused, and environment variables that are set.\n"
         "\n"
         "      --env       every environment variable that the library reads\n"
         "      --json      one JSON object on standard output\n"
         "      --help      print this and exit\n"
         "      --version   print the version and exit");
}

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
print_device(ggml_backend_dev_t device)
{
    struct ggml_backend_dev_props props;
    const struct ggml_backend_feature *feature;

    ggml_backend_dev_get_props(device, &props);
    printf("%s: %s, %s", props.name, props.description, type_name(props.type));
    if (props.memory_total > 0)
        printf(", %zu of %zu MiB free", props.memory_free >> 20,
               props.memory_total >> 20);
    printf("\n");
    feature = features_of(ggml_backend_dev_backend_reg(device));
    if (feature == NULL || feature->name == NULL)
        return;
    printf("    features:");
    for (; feature->name != NULL; feature++) {
        printf(" %s", feature->name);
        if (strcmp(feature->value, "1") != 0)
            printf(":%s", feature->value);
    }
    printf("\n");
}

static void
print_levels(void)
{
    if (ggmlbackend_cpu_level()[0] == '\0')
        return;
    printf("CPU kernels: %s, %s\n", ggmlbackend_cpu_level(),
           ggmlbackend_cpu_level_reason());
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
            printf("%s is set to %s\n", entry.name, entry.value);
        else
            printf("%s is not set\n", entry.name);
        if (all)
            printf("    %s, default '%s': %s\n", entry.type,
                   entry.default_value, entry.help);
    }
}

static void
print_text(bool env)
{
    printf("libggmlbackend %s, interface level %d\n", ggmlbackend_version(),
           ggmlbackend_api_level());
    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        print_device(ggml_backend_dev_get(i));
    print_levels();
    for (size_t i = 0; i < ggmlbackend_refused_count(); i++) {
        struct ggmlbackend_refused_module module;

        if (ggmlbackend_refused_get(i, &module))
            printf("refused: %s: %s\n", module.path, module.reason);
    }
    print_env(env);
}

static json_t *
text(const char *s)
{
    return s != NULL ? tool_json_string(s, strlen(s)) : json_null();
}

static json_t *
json_device(ggml_backend_dev_t device)
{
    const struct ggml_backend_feature *feature =
        features_of(ggml_backend_dev_backend_reg(device));
    json_t *root = json_object(), *features = json_object();
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(device, &props);
    json_object_set_new(root, "name", text(props.name));
    json_object_set_new(root, "description", text(props.description));
    json_object_set_new(root, "type", text(type_name(props.type)));
    json_object_set_new(root, "memory_free",
                        json_integer((json_int_t)props.memory_free));
    json_object_set_new(root, "memory_total",
                        json_integer((json_int_t)props.memory_total));
    for (; feature != NULL && feature->name != NULL; feature++)
        json_object_set_new(features, feature->name, text(feature->value));
    json_object_set_new(root, "features", features);
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
            json_object_set_new(row, "name", text(entry.name));
            json_object_set_new(row, "type", text(entry.type));
            json_object_set_new(row, "default", text(entry.default_value));
            json_object_set_new(row, "help", text(entry.help));
            json_object_set_new(row, "value", text(entry.value));
        }
        json_array_append_new(root, row);
    }
    return root;
}

static bool
print_json(void)
{
    json_t *root = json_object(), *devices = json_array();
    json_t *levels = json_array(), *refused = json_array();

    for (size_t i = 0; i < ggml_backend_dev_count(); i++)
        json_array_append_new(devices, json_device(ggml_backend_dev_get(i)));
    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++)
        json_array_append_new(levels, text(ggmlbackend_cpu_level_at(i)));
    for (size_t i = 0; i < ggmlbackend_refused_count(); i++) {
        struct ggmlbackend_refused_module module;
        json_t *row = json_object();

        if (ggmlbackend_refused_get(i, &module)) {
            json_object_set_new(row, "path", text(module.path));
            json_object_set_new(row, "reason", text(module.reason));
        }
        json_array_append_new(refused, row);
    }
    json_object_set_new(root, "version", text(ggmlbackend_version()));
    json_object_set_new(root, "level", json_integer(ggmlbackend_api_level()));
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "cpu_level", text(ggmlbackend_cpu_level()));
    json_object_set_new(root, "cpu_level_reason",
                        text(ggmlbackend_cpu_level_reason()));
    json_object_set_new(root, "cpu_levels", levels);
    json_object_set_new(root, "default_threads",
                        json_integer(ggmlbackend_default_n_threads()));
    json_object_set_new(root, "refused_modules", refused);
    json_object_set_new(root, "environment", json_env());
    return tool_json_print(root);
}

int
main(int argc, char **argv)
{
    enum { HELP = 256, VERSION, JSON, ENV };
    static const struct option longs[] = {
        { "env", no_argument, NULL, ENV },
        { "json", no_argument, NULL, JSON },
        { "help", no_argument, NULL, HELP },
        { "version", no_argument, NULL, VERSION },
        { NULL, 0, NULL, 0 },
    };
    bool json = false, env = false;
    int c;

    tool_begin("ggmlbackend-info");
    while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
        switch (c) {
        case ENV:
            env = true;
            break;
        case JSON:
            json = true;
            break;
        case HELP:
            print_help();
            return tool_end(TOOL_OK);
        case VERSION:
            tool_print_version();
            return tool_end(TOOL_OK);
        default:
            return tool_end(tool_usage_error("wrong option"));
        }
    }
    if (optind < argc)
        return tool_end(
            tool_usage_error("unexpected argument '%s'", argv[optind]));
    if (!json)
        print_text(env);
    return tool_end(json && !print_json() ? TOOL_FAILED : TOOL_OK);
}
