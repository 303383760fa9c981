/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/graph.h - a graph as dispatches.
 */
#ifndef GB_VULKAN_DEVICE_GRAPH_H
#define GB_VULKAN_DEVICE_GRAPH_H

#include "backends/vulkan/device/recorder.h"

#include "lib/fuse/fuse.h"

#include "ggml-impl.h"

/*
 * Record and submit CGRAPH, which nobody has to wait for.  SCRATCH is made as
 * large as the graph needs; what uses it is RECORDER's.  FUSE is the place for
 * the groups of its nodes that are computed together.
 */
enum ggml_status gb_vk_graph_run(
    struct gb_vk_recorder *recorder, struct gb_vk_memory *scratch,
    struct gb_fuse *fuse, const struct ggml_cgraph *cgraph);

#endif
