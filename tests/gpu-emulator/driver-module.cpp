// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-module.cpp - images, and the functions in them.
 *
 * What runs are the kernels that the host's compiler made; an image only says
 * which of them a module has:
 *
 *   a fatbin        all of the table (it is compressed)
 *   PTX             those that it has an .entry of
 *   "GB-IMAGE x\n"  those of kernels/x.cu; stands for a fatbin where no
 *                   compiler makes one
 */
#include "tests/gpu-emulator/driver.h"

#include <string.h>

namespace emu {

namespace {

enum image_kind { NO_IMAGE, FATBIN, PTX, PLACEHOLDER };

struct module {
    card *on;
    image_kind kind;
    std::string file; /* of a placeholder */
    std::string text; /* of PTX */
    std::map<std::string, gb_cuda_function> functions; /* given out */
};

handles<module, gb_cuda_module> modules;
handles<function, gb_cuda_function> functions;

const char placeholder[] = "GB-IMAGE ";

image_kind
kind_of(const void *image)
{
    static const unsigned char magic[] = { 0x50, 0xed, 0x55, 0xba };
    const char *text = (const char *)image;

    if (memcmp(image, magic, sizeof(magic)) == 0)
        return FATBIN;
    if (strncmp(text, placeholder, strlen(placeholder)) == 0)
        return PLACEHOLDER;
    if (text[0] == '/' || text[0] == '\n' || text[0] == '.')
        return strstr(text, ".version") != nullptr ? PTX : NO_IMAGE;
    return NO_IMAGE;
}

std::string
placeholder_file(const char *image)
{
    image += strlen(placeholder);
    return std::string(image, strcspn(image, "\n"));
}

bool
ptx_has(const std::string &text, const char *name)
{
    const std::string entry = std::string(".entry ") + name;
    size_t at = text.find(entry);

    /* Not the beginning of a longer name. */
    while (at != std::string::npos &&
           strchr("( \t\n", text[at + entry.size()]) == nullptr)
        at = text.find(entry, at + 1);
    return at != std::string::npos;
}

bool
has_kernel(const module &m, const kernel &k)
{
    switch (m.kind) {
    case PLACEHOLDER:
        return m.file == k.file;
    case PTX:
        return ptx_has(m.text, k.name);
    case FATBIN:
        return true;
    case NO_IMAGE:
        break;
    }
    return false;
}

} // namespace

std::shared_ptr<function>
function_of(gb_cuda_function handle)
{
    const auto f = functions.find(handle);

    return f != nullptr && f->on == current_card() ? f : nullptr;
}

size_t
modules_drop(const card *on)
{
    functions.drop_those([on](const function &f) { return f.on == on; });
    return modules.drop_those([on](const module &m) { return m.on == on; });
}

size_t
modules_live()
{
    return modules.size();
}

int
api::module_load(gb_cuda_module *module, const void *image)
{
    if (module == nullptr || image == nullptr)
        return GB_CUDA_INVALID_VALUE;
    if (set.has_no_image)
        return GB_CUDA_NO_BINARY_FOR_GPU;
    if (set.is_ptx_too_new)
        return GB_CUDA_UNSUPPORTED_PTX_VERSION;

    const auto m = std::make_shared<emu::module>();

    m->on = current_card();
    m->kind = kind_of(image);
    if (m->kind == NO_IMAGE)
        return GB_CUDA_INVALID_IMAGE;
    if (m->kind == PLACEHOLDER)
        m->file = placeholder_file((const char *)image);
    if (m->kind == PTX)
        m->text = (const char *)image;
    *module = modules.add(m);
    counts[EMU_MODULES]++;
    return 0;
}

int
api::module_unload(gb_cuda_module module)
{
    const auto m = modules.find(module);

    if (m == nullptr)
        return GB_CUDA_INVALID_HANDLE;

    card *on = m->on;
    const int result = host_wait(on, [on] { return !queue_has_work(on); });

    for (const auto &row : m->functions)
        functions.drop(row.second);
    modules.drop(module);
    return result;
}

int
api::module_function(gb_cuda_function *function, gb_cuda_module module,
                     const char *name)
{
    const auto m = modules.find(module);

    if (function == nullptr || name == nullptr)
        return GB_CUDA_INVALID_VALUE;
    if (m == nullptr || m->on != current_card())
        return GB_CUDA_INVALID_HANDLE;

    const auto known = m->functions.find(name);
    const kernel *k = find_kernel(name);

    if (known != m->functions.end()) {
        *function = known->second;
        return 0;
    }
    if (k == nullptr || !has_kernel(*m, *k) ||
        !arch_has_variant(m->on->arch, k->variant))
        return GB_CUDA_NOT_FOUND;

    const auto f = std::make_shared<emu::function>();

    f->on = m->on;
    f->k = k;
    f->max_shared = (size_t)shared_unasked();
    *function = m->functions[name] = functions.add(f);
    return 0;
}

int
api::function_attribute(int *value, int attribute, gb_cuda_function function)
{
    const auto f = function_of(function);

    if (f == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (value == nullptr)
        return GB_CUDA_INVALID_VALUE;
    switch (attribute) {
    case GB_CUDA_FUNCTION_MAX_THREADS:
        *value = (int)f->k->threads;
        return 0;
    case GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED:
        *value = (int)f->max_shared;
        return 0;
    case GB_CUDA_FUNCTION_REGISTERS:
        *value = 32;
        return 0;
    case GB_CUDA_FUNCTION_STATIC_SHARED:
    case GB_CUDA_FUNCTION_LOCAL_BYTES:
        *value = 0;
        return 0;
    default:
        return GB_CUDA_INVALID_VALUE;
    }
}

int
api::function_set(gb_cuda_function function, int attribute, int value)
{
    const auto f = function_of(function);
    int most = 0;

    if (f == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    api::device_attribute(&most, GB_CUDA_MAX_SHARED_OPTIN, f->on->number);
    if (attribute != GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED || value < 0 ||
        value > most)
        return GB_CUDA_INVALID_VALUE;
    f->max_shared = (size_t)value;
    return 0;
}

} // namespace emu
