/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/span.h - what the host does for a card, on the library's timeline.
 *
 * A card works by itself: that a graph was queued is one span, and that the host
 * waited for it another.  Where no timeline is written, which is nearly always,
 * a span is one call that finds that out.
 */
#ifndef GB_VULKAN_DEVICE_SPAN_H
#define GB_VULKAN_DEVICE_SPAN_H

#include "ggmlbackend.h"

struct gb_vk_span {
    int track; /* 0: no timeline */
    int64_t start;
};

/* Begins now, on the calling thread's track for DEVICE. */
static inline struct gb_vk_span
gb_vk_span_begin(const char *device)
{
    const int track = ggmlbackend_trace_track(device);

    return (struct gb_vk_span){
        track, track != 0 ? ggmlbackend_trace_now() : 0
    };
}

/* Ends now. */
static inline void
gb_vk_span_end(const struct gb_vk_span *span, const char *name)
{
    if (span->track != 0)
        ggmlbackend_trace_span(span->track, name, span->start,
                               ggmlbackend_trace_now() - span->start);
}

#endif
