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

using node_list = std::vector<std::shared_ptr<node>>;

struct graph {
    card *on;
    node_list nodes;
};

/* Launches of it that are queued have the same list, until it is changed. */
struct graph_exec {
    card *on;
    std::shared_ptr<node_list> nodes;
    std::shared_ptr<bool> is_running; /* until its last launch is done */
};

handles<graph, gb_cuda_graph> graphs;
handles<graph_exec, gb_cuda_graph_exec> execs;

/* Handles rise, and nodes stand in the order in which they got theirs. */
std::shared_ptr<node> *
find_node(node_list *nodes, gb_cuda_graph_node handle)
{
    const auto at = std::lower_bound(
        nodes->begin(), nodes->end(), handle,
        [](const std::shared_ptr<node> &n, gb_cuda_graph_node h) {
            return (uintptr_t)n->handle < (uintptr_t)h;
        });

    return at != nodes->end() && (*at)->handle == handle ? &*at : nullptr;
}

/* Which node may run next, while one after the other does. */
class edges {
    std::vector<std::vector<size_t>> followers;
    std::vector<size_t> n_before; /* that did not run yet */
    std::vector<size_t> ready;

public:
    /* Nodes come after older ones alone. */
    explicit edges(const node_list &nodes)
        : followers(nodes.size()), n_before(nodes.size())
    {
        std::map<gb_cuda_graph_node, size_t> number;

        for (size_t i = 0; i < nodes.size(); i++) {
            number[nodes[i]->handle] = i;
            n_before[i] = nodes[i]->after.size();
            if (n_before[i] == 0)
                ready.push_back(i);
            for (const gb_cuda_graph_node before : nodes[i]->after)
                followers[number[before]].push_back(i);
        }
    }
    /* False: all did. */
    bool
    next(size_t *number)
    {
        if (ready.empty())
            return false;

        const size_t at = queue_choice(ready.size());

        *number = ready[at];
        ready.erase(ready.begin() + (ptrdiff_t)at);
        for (const size_t i : followers[*number])
            if (--n_before[i] == 0)
                ready.push_back(i);
        return true;
    }
};

/* One launch of a graph; keeps the nodes that it had then. */
struct graph_item : item {
    std::shared_ptr<const node_list> nodes;
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
        edges e(*nodes);
        size_t i;

        while (e.next(&i)) {
            const int result = (*nodes)[i]->what.run();

            if (result != 0)
                return result;
        }
        return 0;
    }
    bool
    may_use(const range &what) const
    {
        return std::any_of(nodes->begin(), nodes->end(),
                           [&](const std::shared_ptr<node> &n) {
                               return n->what.may_use(what);
                           });
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

/* Nodes come after older ones alone, as they do when they are added. */
int
api::graph_add_edges(gb_cuda_graph graph, const gb_cuda_graph_node *from,
                     const gb_cuda_graph_node *to,
                     const struct gb_cuda_edge *edges, size_t n)
{
    const auto g = graphs.find(graph);

    if (g == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (n > 0 && (from == nullptr || to == nullptr))
        return GB_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < n; i++) {
        const struct gb_cuda_edge edge =
            edges == nullptr ? (struct gb_cuda_edge){} : edges[i];
        const bool is_early = edge.type == GB_CUDA_EDGE_PROGRAMMATIC;
        auto *const place = find_node(&g->nodes, to[i]);

        if (place == nullptr || find_node(&g->nodes, from[i]) == nullptr ||
            (uintptr_t)from[i] >= (uintptr_t)to[i] || edge.to_port != 0 ||
            edge.from_port != (is_early ? GB_CUDA_PORT_LETS_NEXT_BEGIN : 0))
            return GB_CUDA_INVALID_VALUE;

        const auto changed = std::make_shared<emu::node>(**place);

        changed->after.push_back(from[i]);
        changed->what.is_early = is_early;
        *place = changed;
    }
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
    e->nodes = std::make_shared<node_list>(g->nodes);
    *exec = execs.add(e);
    return 0;
}

int
api::graph_exec_destroy(gb_cuda_graph_exec exec)
{
    return execs.drop(exec) ? 0 : (int)GB_CUDA_INVALID_HANDLE;
}

/* Launches that are queued already keep what they had, and so do graphs; what
 * is E's alone is changed in its place. */
int
api::graph_exec_kernel(gb_cuda_graph_exec exec, gb_cuda_graph_node node,
                       const struct gb_cuda_kernel_node *params)
{
    const auto e = execs.find(exec);

    if (e == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (params == nullptr || find_node(e->nodes.get(), node) == nullptr)
        return GB_CUDA_INVALID_VALUE;
    if (e->nodes.use_count() > 1)
        e->nodes = std::make_shared<node_list>(*e->nodes);

    auto &place = *find_node(e->nodes.get(), node);
    const auto f = function_of(params->function);

    if (f != nullptr && f->k != place->what.k) {
        report("graph_exec_kernel: the kernel becomes another one");
        return GB_CUDA_INVALID_VALUE;
    }
    if (place.use_count() > 1)
        place = std::make_shared<emu::node>(*place);
    return launch_prepare(*params, &place->what);
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
