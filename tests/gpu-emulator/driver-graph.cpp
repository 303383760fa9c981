// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-graph.cpp - recorded graphs of kernels.
 *
 * Kernels of a graph run in any order that its edges allow, as streams do.
 */
#include "tests/gpu-emulator/driver.h"

#include <algorithm>

namespace emu {

namespace {

struct node {
    gb_cuda_graph_node handle;
    kernel_launch what;
    std::vector<gb_cuda_graph_node> after;
};

using node_list = std::vector<std::shared_ptr<const node>>;

struct graph {
    card *on;
    node_list nodes;
};

struct graph_exec {
    card *on;
    node_list nodes;
    std::shared_ptr<bool> is_running; /* until its last launch is done */
};

handles<graph, gb_cuda_graph> graphs;
handles<graph_exec, gb_cuda_graph_exec> execs;

std::shared_ptr<const node> *
find_node(node_list *nodes, gb_cuda_graph_node handle)
{
    for (auto &n : *nodes)
        if (n->handle == handle)
            return &n;
    return nullptr;
}

/* One launch of a graph; keeps the nodes that it had then. */
struct graph_item : item {
    node_list nodes;
    std::shared_ptr<bool> previous; /* the launch before it, of any stream */
    std::shared_ptr<bool> is_running;

    ~graph_item()
    {
        *is_running = false;
    }
    bool
    is_ready() const
    {
        return previous == nullptr || !*previous;
    }
    int
    run()
    {
        node_list left = nodes;

        while (!left.empty()) {
            const size_t i = next(left);
            const std::shared_ptr<const node> n = left[i];

            left.erase(left.begin() + (ptrdiff_t)i);

            const int result = n->what.run();

            if (result != 0)
                return result;
        }
        return 0;
    }
    bool
    may_use(const range &what) const
    {
        return std::any_of(nodes.begin(), nodes.end(),
                           [&](const std::shared_ptr<const node> &n) {
                               return n->what.may_use(what);
                           });
    }

private:
    static bool
    waits_for_one(const node &n, node_list *left)
    {
        return std::any_of(
            n.after.begin(), n.after.end(), [left](gb_cuda_graph_node before) {
                return find_node(left, before) != nullptr;
            });
    }
    /* Nodes name only older ones as those that they come after. */
    static size_t
    next(node_list &left)
    {
        std::vector<size_t> ready;

        for (size_t i = 0; i < left.size(); i++)
            if (!waits_for_one(*left[i], &left))
                ready.push_back(i);
        return ready[queue_choice(ready.size())];
    }
};

} // namespace

size_t
graphs_drop(const card *on)
{
    return graphs.drop_those([on](const graph &g) { return g.on == on; }) +
           execs.drop_those([on](const graph_exec &e) { return e.on == on; });
}

size_t
graphs_live()
{
    return graphs.size() + execs.size();
}

int
api::graph_create(gb_cuda_graph *graph, unsigned flags)
{
    if (graph == nullptr || flags != 0)
        return GB_CUDA_INVALID_VALUE;

    const auto g = std::make_shared<emu::graph>();

    g->on = current_card();
    *graph = graphs.add(g);
    return 0;
}

int
api::graph_destroy(gb_cuda_graph graph)
{
    return graphs.drop(graph) ? 0 : (int)GB_CUDA_INVALID_HANDLE;
}

int
api::graph_add_kernel(gb_cuda_graph_node *node, gb_cuda_graph graph,
                      const gb_cuda_graph_node *after, size_t n_after,
                      const struct gb_cuda_kernel_node *params)
{
    const auto g = graphs.find(graph);
    const auto n = std::make_shared<emu::node>();

    if (g == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (node == nullptr || params == nullptr ||
        (n_after > 0 && after == nullptr))
        return GB_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < n_after; i++) {
        if (find_node(&g->nodes, after[i]) == nullptr)
            return GB_CUDA_INVALID_VALUE;
        n->after.push_back(after[i]);
    }

    const int result = launch_prepare(*params, &n->what);

    if (result != 0)
        return result;
    n->handle = (gb_cuda_graph_node)new_handle();
    g->nodes.push_back(n);
    *node = n->handle;
    return 0;
}

int
api::graph_instantiate(gb_cuda_graph_exec *exec, gb_cuda_graph graph,
                       unsigned long long flags)
{
    const auto g = graphs.find(graph);

    if (g == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (exec == nullptr || flags != 0)
        return GB_CUDA_INVALID_VALUE;

    const auto e = std::make_shared<graph_exec>();

    e->on = g->on;
    e->nodes = g->nodes;
    *exec = execs.add(e);
    return 0;
}

int
api::graph_exec_destroy(gb_cuda_graph_exec exec)
{
    return execs.drop(exec) ? 0 : (int)GB_CUDA_INVALID_HANDLE;
}

/* Launches that are queued already keep what they had. */
int
api::graph_exec_kernel(gb_cuda_graph_exec exec, gb_cuda_graph_node node,
                       const struct gb_cuda_kernel_node *params)
{
    const auto e = execs.find(exec);

    if (e == nullptr)
        return GB_CUDA_INVALID_HANDLE;

    auto *place = find_node(&e->nodes, node);

    if (place == nullptr || params == nullptr)
        return GB_CUDA_INVALID_VALUE;

    const auto changed = std::make_shared<emu::node>(**place);
    const int result = launch_prepare(*params, &changed->what);

    if (result != 0)
        return result;
    if (changed->what.k != (*place)->what.k) {
        report("graph_exec_kernel: the kernel becomes another one");
        return GB_CUDA_INVALID_VALUE;
    }
    *place = changed;
    return 0;
}

int
api::graph_launch(gb_cuda_graph_exec exec, gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);
    const auto e = execs.find(exec);

    if (s == nullptr)
        return result;
    if (e == nullptr || e->on != s->on)
        return GB_CUDA_INVALID_HANDLE;

    auto launch = std::make_unique<graph_item>();

    launch->nodes = e->nodes;
    launch->previous = e->is_running;
    launch->is_running = e->is_running = std::make_shared<bool>(true);
    queue_add(*s, std::move(launch));
    counts[EMU_GRAPH_LAUNCHES]++;
    return 0;
}

} // namespace emu
