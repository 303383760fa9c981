// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-settings.cpp - what the environment says of driver and
 * cards.
 *
 * Names begin with GGMLBACKEND_TEST_EMU_.  Those marked * are lists with
 * commas, one entry a card; the last is that of all cards behind it.
 *
 *   DEVICES         cards (1); 0: the driver finds none
 *   ARCH*           90 for 9.0 (90); of HIP gfx90a (64 lanes), gfx1100 (32)
 *   MEMORY*         bytes (8 GiB)
 *   SMS*            multiprocessors (4)
 *   NAME*           ("Emulated GPU")
 *   UUID*           32 digits of base 16 (16 bytes that follow each other)
 *   INTEGRATED*     1: shares the host's memory (0)
 *   PAGEABLE*       1: reads all of the host's memory, 2: by its tables (0)
 *   COMPUTE_MODE*   2: nobody may use the card (0)
 *   PEER            right, refused, corrupting: copies between cards (right)
 *   DRIVER_VERSION  (13000); of HIP as it counts (60342134)
 *   INIT_FAIL       result of cuInit (0)
 *   NO_IMAGE        1: no image fits the card, module_load fails with 209
 *   PTX_OLD         1: module_load fails with 222, as an old driver does
 *   ORDER           of streams with work: 0 the oldest first, 1 the newest,
 *                   more: by chance, with this seed; kernels' threads follow it
 *   IDLE            1: kernels are counted and not run
 *   FAIL            NAME:N[:RESULT], see emu_fail_call
 *   LOST            N[:RESULT], see emu_lose_card
 *   COUNTS          a file that gets "lanes kernel runs" when the process ends
 *   SLOWED          why clocks are low, as the management library's bits (0)
 *   PROCESSES       that compute on the card, by the management library (1)
 *
 * MISSING, the names of entry points that the library shall not have, is for
 * the script "run" alone.
 */
#include "tests/gpu-emulator/driver.h"

#include <algorithm>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace emu {

settings set;
std::vector<card> cards;

namespace {

bool is_read;

/* Entry I of a list with commas; the last one where there are fewer. */
std::string
list_entry(const std::string &list, int i)
{
    size_t from = 0;

    for (; i > 0; i--) {
        const size_t comma = list.find(',', from);

        if (comma == std::string::npos)
            break;
        from = comma + 1;
    }
    return list.substr(from, list.find(',', from) - from);
}

std::string
text_for(const char *name, int i, const char *otherwise)
{
    const char *list = setting_text(name);

    return list_entry(list == nullptr ? otherwise : list, i);
}

size_t
number_for(const char *name, int i, const char *otherwise)
{
    return strtoull(text_for(name, i, otherwise).c_str(), nullptr, 0);
}

long
number(const char *name, long otherwise)
{
    const char *text = setting_text(name);

    return text == nullptr ? otherwise : strtol(text, nullptr, 0);
}

peer_kind
peer_setting()
{
    const std::string kind = text_for("PEER", 0, "right");

    return kind == "refused"      ? PEER_REFUSED
           : kind == "corrupting" ? PEER_CORRUPTING
                                  : PEER_RIGHT;
}

/* Bytes of TEXT, two digits each; those that it lacks count up from FIRST. */
gb_cuda_uuid
uuid_of(const std::string &text, int first)
{
    gb_cuda_uuid uuid;

    for (size_t i = 0; i < sizeof(uuid.bytes); i++) {
        const std::string digits = text.substr(std::min(2 * i, text.size()), 2);

        uuid.bytes[i] =
            (uint8_t)(digits.empty() ? (unsigned long)first + i
                                     : strtoul(digits.c_str(), nullptr, 16));
    }
    return uuid;
}

card
card_setting(int i, int n)
{
    card c = {};

    c.number = i;
    c.arch = arch_of(text_for("ARCH", i, usual_arch()).c_str());
    c.memory = number_for("MEMORY", i, "8589934592");
    c.sms = (int)number_for("SMS", i, "4");
    c.integrated = (int)number_for("INTEGRATED", i, "0");
    c.pageable = (int)number_for("PAGEABLE", i, "0");
    c.compute_mode = (int)number_for("COMPUTE_MODE", i, "0");
    c.name = text_for("NAME", i, "Emulated GPU");
    c.uuid = uuid_of(text_for("UUID", i, ""), 16 * (i + 1));
    c.peers.resize((size_t)n);
    return c;
}

} // namespace

const char *
setting_text(const char *name)
{
    const std::string variable = std::string("GGMLBACKEND_TEST_EMU_") + name;
    const char *text = getenv(variable.c_str());

    return text == nullptr || *text == '\0' ? nullptr : text;
}

void
settings_read()
{
    if (is_read)
        return;
    is_read = true;
    set.version = (int)number_for("DRIVER_VERSION", 0, usual_version());
    set.init_failure = (int)number("INIT_FAIL", 0);
    queue_order((uint64_t)number("ORDER", 0));
    set.is_idle = number("IDLE", 0) != 0;
    set.has_no_image = number("NO_IMAGE", 0) != 0;
    set.is_ptx_too_new = number("PTX_OLD", 0) != 0;
    set.peer = peer_setting();

    const int n = (int)number("DEVICES", 1);

    for (int i = 0; i < n; i++)
        cards.push_back(card_setting(i, n));
    calls_read_settings();
}

void
settings_forget()
{
    is_read = false;
    cards.clear();
}

card *
card_of(int number)
{
    return number >= 0 && (size_t)number < cards.size() ? &cards[(size_t)number]
                                                        : nullptr;
}

uintptr_t
new_handle()
{
    static uintptr_t last = 0xe000;

    return last += 16;
}

} // namespace emu
