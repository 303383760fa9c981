/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/attention.c - FLASH_ATTN_EXT: q F32, keys and values of any types
 * that can be read, mask F16, any strides between rows.
 *
 * Heads of up to 256 elements and keys and values that are not F32 go to tensor
 * cores.  These read F16: other types are unpacked into the scratch first, once
 * for all tiles of rows.  Single tokens have one tile, for which that would be
 * more bytes than floats need.
 *
 * kernels/args-attention.h says what groups, rows, tiles and parts are.
 */
#include "backends/cuda/kernels/args-attention.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#define DECODE_ROWS  8   /* of a tile */
#define PREFILL_ROWS 32
#define MMA_ROWS     64
#define MATRIX_ROWS  128
#define MMA8_DECODE_ROWS 16
#define MOST_WGMMA_SIZE 128 /* of heads */
#define RANGE        256 /* elements of results of a tile */
#define KEYS         64  /* taken at a time */
#define LEAST_PART   128 /* keys of a part, so that the join costs little */
#define MOST_PARTS   64
#define TILES_A_SM   4   /* wanted: so many run at once */

static const uint8_t formats[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type) \
    [GGML_TYPE_##TYPE] = GB_CUDA_FORMAT_##TYPE,
#define GB_CUDA_BLOCKS(TYPE, name) [GGML_TYPE_##TYPE] = GB_CUDA_FORMAT_##TYPE,
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_BLOCKS
#undef GB_CUDA_FLOATS
};

static bool
attention_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *v = node->src[2];

    (void)limits;
    return gb_cuda_can_read(k) && gb_cuda_can_read(v);
}

/* How many successive heads share both a key head and a value head.  If neither
 * number of sharing heads is a multiple of the other, each head goes alone. */
static int64_t
group_of(const struct ggml_tensor *node)
{
    const int64_t by_key = node->src[0]->ne[2] / node->src[1]->ne[2];
    const int64_t by_value = node->src[0]->ne[2] / node->src[2]->ne[2];
    const int64_t smaller = by_key < by_value ? by_key : by_value;

    return by_key % smaller == 0 && by_value % smaller == 0 ? smaller : 1;
}

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* ---- kernels ---- */

/* Kernels on tensor cores, or AMD's matrix cores, by the size of heads, the lowest that fits; the rows
 * of a tile, and how many of these a multiprocessor has registers for. */
struct mma_kernel {
    int64_t size;
    enum gb_cuda_kernel kernel;
    size_t shared;
    int64_t rows, resident;
    bool by_warp_groups; /* takes struct gb_cuda_wgmma_attention_args */
};

static const struct mma_kernel mma_kernels[] = {
    { 64, GB_CUDA_KERNEL_gb_mma_attention_64, 18576, MMA_ROWS, 2, false },
    { 128, GB_CUDA_KERNEL_gb_mma_attention_128, 35088, MMA_ROWS, 2, false },
    { 256, GB_CUDA_KERNEL_gb_mma_attention_256, 50688, MMA_ROWS, 2, false },
    { 0, 0, 0, 0, 0, false },
};

static const struct mma_kernel matrix_kernels[] = {
    { 64, GB_CUDA_KERNEL_gb_matrix_attention_64, 9728, MMA_ROWS, 4, false },
    { 128, GB_CUDA_KERNEL_gb_matrix_attention_128, 53760, MATRIX_ROWS, 1,
      false },
    { 256, GB_CUDA_KERNEL_gb_matrix_attention_256, 54272, MMA_ROWS, 1, false },
    { 0, 0, 0, 0, 0, false },
};

static const struct mma_kernel mma8_kernels[] = {
    { 64, GB_CUDA_KERNEL_gb_mma8_attention_64, 18576, MMA_ROWS, 2, false },
    { 128, GB_CUDA_KERNEL_gb_mma8_attention_128, 35088, MMA_ROWS, 2, false },
    { 256, GB_CUDA_KERNEL_gb_mma8_attention_256, 67584, MMA_ROWS, 2, false },
    { 0, 0, 0, 0, 0, false },
};

static const struct mma_kernel wgmma_kernels[] = {
    { 64, GB_CUDA_KERNEL_gb_wgmma_attention_64,
      GB_CUDA_WGMMA_ATTENTION_64_SHARED, GB_CUDA_WGMMA_QUERIES, 1, true },
    { 128, GB_CUDA_KERNEL_gb_wgmma_attention_128,
      GB_CUDA_WGMMA_ATTENTION_128_SHARED, GB_CUDA_WGMMA_QUERIES, 1, true },
    { 0, 0, 0, 0, 0, false },
};

static const struct mma_kernel mma8_decode_kernels[] = {
    { 64, GB_CUDA_KERNEL_gb_mma8_attention_decode_64, 39360, MMA8_DECODE_ROWS,
      4, false },
    { 128, GB_CUDA_KERNEL_gb_mma8_attention_decode_128, 74176,
      MMA8_DECODE_ROWS, 3, false },
    { 256, GB_CUDA_KERNEL_gb_mma8_attention_decode_256, 76224,
      MMA8_DECODE_ROWS, 4, false },
    { 0, 0, 0, 0, 0, false },
};

/* Are keys or values read as they are, sixteen bytes at a time? */
static bool
are_halves(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F16 &&
           (t->nb[1] | t->nb[2] | t->nb[3]) % 16 == 0;
}

/* Floats keep their precision.  GGML_PREC_F32, which clients give every
 * attention, asks for sums in F32: those are such in all kernels.  A view may
 * begin anywhere. */
static bool
fits_tensor_cores(const struct ggml_tensor *t)
{
    return t->type != GGML_TYPE_F32 &&
           (!are_halves(t) || (uintptr_t)t->data % 16 == 0);
}

/* ---- what TMA fetches ---- */

/* Keys or values as TMA knows them: heads before keys where they lie closer. */
struct mapped {
    struct gb_cuda_mapped as;
    bool heads_first;
    bool is_possible; /* else no map has them as they lie */
};

/* Bytes from one of T's to the next along DIM; SPAN where there is one only. */
static int64_t
stride_of(const struct ggml_tensor *t, int dim, int64_t span)
{
    return t->ne[dim] > 1 ? (int64_t)t->nb[dim] : span;
}

/* May dimensions STRIDE and, outside of it, NEXT bytes apart be mapped?  The
 * vendor wants each to be a multiple of the one before. */
static bool
is_outside(int64_t stride, int64_t next)
{
    return next >= stride && next % stride == 0 && next < (int64_t)1 << 40;
}

/* N_KEYS keys or values of T, which are halves at multiples of 16 bytes. */
static struct mapped
map_of(const struct ggml_tensor *t, int64_t n_keys)
{
    const int64_t row = 2 * t->ne[0];
    const bool heads_first =
        t->ne[1] > 1 && t->ne[2] > 1 && t->nb[2] < t->nb[1];
    const int first = heads_first ? 2 : 1, second = 3 - first;
    const int64_t at = stride_of(t, first, row);
    const int64_t next = stride_of(t, second, at * t->ne[first]);
    const int64_t batch = stride_of(t, 3, next * t->ne[second]);
    const int64_t n[2] = { n_keys, t->ne[2] };

    return (struct mapped){
        .as = {
            .data = t->data,
            .n = (uint64_t)t->ne[0],
            .rows = (uint64_t)n[first - 1],
            .stride = (uint64_t)at,
            .box_rows = heads_first ? 1 : GB_CUDA_WGMMA_KEYS,
            .more = {
                { (uint64_t)n[second - 1], (uint64_t)next,
                  heads_first ? GB_CUDA_WGMMA_KEYS : 1 },
                { (uint64_t)t->ne[3], (uint64_t)batch, 1 },
            },
        },
        .heads_first = heads_first,
        .is_possible = n_keys > 0 && n_keys <= INT32_MAX / 2 &&
                       t->ne[2] <= INT32_MAX && t->ne[3] <= INT32_MAX &&
                       at >= row && is_outside(16, at) &&
                       is_outside(at, next) && is_outside(next, batch),
    };
}

/* Can NODE's keys and values be brought by TMA? */
static bool
can_be_mapped(const struct ggml_tensor *node)
{
    for (int i = 1; i <= 2; i++)
        if (!are_halves(node->src[i]) ||
            !map_of(node->src[i], node->src[1]->ne[1]).is_possible)
            return false;
    return true;
}

/* Rows of a group: heads that share keys, times tokens. */
static int64_t
rows_of(const struct ggml_tensor *node)
{
    return node->src[0]->ne[1] * group_of(node);
}

static bool
has_warp_groups(const struct gb_cuda_limits *limits)
{
    return limits->variant >= GB_CUDA_WGMMA &&
           limits->shared >= GB_CUDA_WGMMA_ATTENTION_128_SHARED;
}

/* Those for NODE's rows, types and variant; NULL for none. */
static const struct mma_kernel *
mma_kernels_of(const struct gb_cuda_limits *limits,
               const struct ggml_tensor *node)
{
    const int64_t rows = rows_of(node);

    if (gb_cuda_has_variant(limits, GB_CUDA_MFMA))
        return rows <= DECODE_ROWS ? NULL : matrix_kernels;
    if (limits->warp != 32 || limits->variant < GB_CUDA_MMA)
        return NULL;
    if (limits->variant >= GB_CUDA_MMA8 && rows <= MMA8_DECODE_ROWS &&
        are_halves(node->src[1]) && are_halves(node->src[2]))
        return mma8_decode_kernels;
    if (rows <= DECODE_ROWS)
        return NULL;
    if (has_warp_groups(limits) && rows > MMA_ROWS &&
        node->ne[0] <= MOST_WGMMA_SIZE && can_be_mapped(node))
        return wgmma_kernels;
    return limits->variant >= GB_CUDA_MMA8 ? mma8_kernels : mma_kernels;
}

/* The kernel on tensor cores for NODE; NULL for none. */
static const struct mma_kernel *
mma_kernel_of(const struct gb_cuda_limits *limits,
              const struct ggml_tensor *node)
{
    const int64_t d = node->ne[0];
    const struct mma_kernel *kernel = mma_kernels_of(limits, node);

    if (kernel == NULL || d % 8 != 0 || !fits_tensor_cores(node->src[1]) ||
        !fits_tensor_cores(node->src[2]))
        return NULL;
    while (kernel->size > 0 && kernel->size < d)
        kernel++;
    return kernel->size > 0 && kernel->shared <= limits->shared ? kernel : NULL;
}

/* Are KERNEL's rows those of single tokens?  It looks at the mask itself. */
static bool
is_decode(const struct mma_kernel *kernel)
{
    return kernel->rows == MMA8_DECODE_ROWS;
}

/* ---- tiles and parts ---- */

/* Divide the keys into PARTS, or fewer, each of whole steps of KEYS. */
static void
divide_keys(struct gb_cuda_attention_args *args, int64_t parts, int64_t keys)
{
    if (parts > MOST_PARTS)
        parts = MOST_PARTS;
    if (parts < 1)
        parts = 1;
    args->part = ceil_div(args->n_keys, parts);
    if (args->part < LEAST_PART)
        args->part = LEAST_PART;
    args->part = ceil_div(args->part, keys) * keys;
    args->n_parts = args->n_keys > 0 ? ceil_div(args->n_keys, args->part) : 1;
    args->n_tiles *= args->n_parts;
}

/* How many of KERNEL's blocks a multiprocessor has room for; a block's system
 * share of shared memory is 1 KB. */
static int64_t
resident_blocks(
    const struct gb_cuda_limits *limits, const struct mma_kernel *kernel)
{
    const int64_t n =
        (int64_t)((limits->shared + 1024) / (kernel->shared + 1024));

    return n < kernel->resident ? n : kernel->resident;
}

/*
 * How many parts there should be of the keys: where there are fewer tiles than
 * the card runs at once, as many as it does.  With one part more a block of the
 * second wave would take as long as all of the first, and there would be more
 * sums to join.  That pays only in the place of one part, and only where blocks
 * of the second wave have more of a multiprocessor than those of the first.
 */
static int64_t
wanted_parts(const struct gb_cuda_limits *limits,
             const struct mma_kernel *kernel, int64_t n_tiles)
{
    const int64_t sms = limits->n_sms;
    int64_t resident, room;

    if (kernel == NULL)
        return ceil_div(sms * TILES_A_SM, n_tiles);
    resident = resident_blocks(limits, kernel);
    room = sms * resident;
    if (!is_decode(kernel) && 2 * n_tiles > room &&
        2 * n_tiles - room <= sms * (resident - 1))
        return 2;
    return room / n_tiles;
}

/* How NODE is computed, and what lies where in its scratch. */
struct plan {
    struct gb_cuda_attention_args args;
    const struct mma_kernel *mma; /* NULL: with floats */
    int64_t rows;                 /* of a tile */
    size_t halves[2], factors[2]; /* of keys and of values */
    size_t scratch;
};

/* SIZE bytes more of the scratch: where they begin. */
static size_t
take_scratch(struct plan *plan, int64_t size)
{
    const size_t first = plan->scratch;

    plan->scratch += gb_cuda_scratch_up((size_t)size);
    return first;
}

/* Room for what is made before attention on tensor cores. */
static void
plan_preparation(struct plan *plan, const struct ggml_tensor *node)
{
    for (int i = 0; i < 2; i++) {
        const struct ggml_tensor *t = node->src[1 + i];
        const int64_t matrices = t->ne[2] * t->ne[3];

        if (are_halves(t))
            continue;
        plan->halves[i] = take_scratch(
            plan, matrices * plan->args.n_keys * t->ne[0] * 2);
        plan->factors[i] = take_scratch(
            plan, matrices * plan->args.key_tiles * (int64_t)sizeof(float));
    }
}

/* By MMA (NULL: with floats), shapes, and the card's multiprocessors alone. */
static struct plan
plan_by(const struct gb_cuda_limits *limits, const struct ggml_tensor *node,
        const struct mma_kernel *mma)
{
    const struct ggml_tensor *q = node->src[0];
    struct plan plan = { .args.n_keys = node->src[1]->ne[1], .mma = mma };
    struct gb_cuda_attention_args *args = &plan.args;

    args->group = group_of(node);
    args->groups = q->ne[2] / args->group;
    args->rows = rows_of(node);
    plan.rows = mma != NULL                  ? mma->rows
                : args->rows <= DECODE_ROWS ? DECODE_ROWS
                                            : PREFILL_ROWS;
    args->row_tiles = ceil_div(args->rows, plan.rows);
    args->key_tiles = ceil_div(args->n_keys, GB_CUDA_MASK_KEYS);
    args->ranges = ceil_div(q->ne[0], RANGE);
    args->n_tiles = args->ranges * args->row_tiles * args->groups * q->ne[3];
    divide_keys(args, wanted_parts(limits, mma, args->n_tiles),
                mma != NULL && mma->by_warp_groups ? GB_CUDA_WGMMA_KEYS : KEYS);
    if (args->n_parts > 1)
        take_scratch(&plan, args->n_parts * ggml_nrows(node) *
                                (node->ne[0] + 2) * (int64_t)sizeof(float));
    if (mma != NULL && !is_decode(mma))
        plan_preparation(&plan, node);
    return plan;
}

/* What a view needs that begins elsewhere is there too. */
static size_t
attention_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct plan floats = plan_by(limits, node, NULL);
    const struct plan mma =
        plan_by(limits, node, mma_kernel_of(limits, node));

    return mma.scratch > floats.scratch ? mma.scratch : floats.scratch;
}

static size_t
attention_block_mask(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct mma_kernel *mma = mma_kernel_of(limits, node);
    const struct plan plan = plan_by(limits, node, mma);

    return mma == NULL || is_decode(mma) || node->src[3] == NULL
               ? 0
               : (size_t)(plan.args.row_tiles * plan.args.key_tiles);
}

/* May four elements of each row, which are floats, be read at once? */
static bool
is_aligned(const struct ggml_tensor *t)
{
    const size_t size = 4 * ggml_type_size(t->type);

    return ((uintptr_t)t->data | t->nb[1] | t->nb[2] | t->nb[3]) % size == 0;
}

/* May as many bytes of each row of a mask be read at once? */
static bool
has_rows_of(const struct ggml_tensor *mask, size_t bytes)
{
    return ((uintptr_t)mask->data | mask->nb[1]) % bytes == 0;
}

/* How many heads and batches of Q share a matrix of T. */
static struct gb_cuda_sharing
sharing_of(const struct ggml_tensor *t, const struct ggml_tensor *q)
{
    return (struct gb_cuda_sharing){ .heads = q->ne[2] / t->ne[2],
                                     .batches = q->ne[3] / t->ne[3] };
}

static void
emit_join(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
          int64_t n_parts)
{
    /* A token's heads are a column. */
    const int64_t width = node->ne[0] * node->ne[1];
    char *const halves = gb_cuda_halves_for(emit, node, width);
    const struct gb_cuda_attention_join_args args = {
        .dst = node->data,
        .columns = halves != NULL ? halves : gb_cuda_columns_for(emit, node),
        .parts = (const float *)emit->scratch,
        .d = node->ne[0],
        .n_rows = ggml_nrows(node),
        .n_parts = n_parts,
        .width = width,
    };

    if (halves != NULL)
        GB_CUDA_LAUNCH(emit, gb_attention_join_halves,
                       gb_cuda_blocks(ggml_nelements(node), width), 0, &args);
    else
        GB_CUDA_LAUNCH(emit, gb_attention_join,
                       gb_cuda_blocks(ggml_nelements(node), 256), 0, &args);
}

/* ---- what tensor cores need ---- */

/* T, keys or values, as halves in the scratch from TO on: the tensor that the
 * kernel reads. */
static struct gb_cuda_tensor
emit_halves(struct gb_cuda_emit *emit, const struct plan *plan,
            const struct ggml_tensor *t, char *to, float *factors)
{
    const struct gb_cuda_halves_args args = {
        .from = gb_cuda_arg(t),
        .to = to,
        .factors = factors,
        .n_keys = plan->args.n_keys,
        .key_tiles = plan->args.key_tiles,
        .format = formats[t->type],
        .is_aligned = is_aligned(t),
    };
    const int64_t row = 2 * t->ne[0], matrix = plan->args.n_keys * row;

    GB_CUDA_LAUNCH(
        emit, gb_attention_halves,
        gb_cuda_blocks(t->ne[2] * t->ne[3] * args.key_tiles, 1), 0, &args);
    return (struct gb_cuda_tensor){
        .data = to,
        .ne = { t->ne[0], args.n_keys, t->ne[2], t->ne[3] },
        .nb = { 2, row, matrix, matrix * t->ne[2] },
    };
}

/* Where the block mask WANTED is kept; -1: nowhere. */
static int
find_block_mask(
    const struct gb_cuda_emit *emit, const struct gb_cuda_kept_mask *wanted)
{
    for (int i = 0; i < GB_CUDA_BLOCK_MASKS; i++) {
        const struct gb_cuda_kept_mask *kept = &emit->masks[i];

        if (kept->mask != NULL &&
            gb_cuda_are_the_same(kept->mask, wanted->mask) &&
            kept->n_keys == wanted->n_keys && kept->group == wanted->group &&
            kept->rows == wanted->rows &&
            kept->rows_of_tile == wanted->rows_of_tile)
            return i;
    }
    return -1;
}

static void
launch_block_mask(
    struct gb_cuda_emit *emit, const struct plan *plan, uint8_t *to)
{
    const struct gb_cuda_block_mask_args args = {
        .mask = plan->args.mask,
        .block_mask = to,
        .n_keys = plan->args.n_keys,
        .group = plan->args.group,
        .rows = plan->args.rows,
        .rows_of_tile = plan->rows,
        .row_tiles = plan->args.row_tiles,
        .key_tiles = plan->args.key_tiles,
    };

    GB_CUDA_LAUNCH(emit, gb_attention_block_mask,
                   gb_cuda_blocks(args.row_tiles * args.key_tiles, 8), 0,
                   &args);
}

/* Where the block mask of MASK lies, which an attention before may have needed
 * too. */
static const uint8_t *
emit_block_mask(struct gb_cuda_emit *emit, const struct plan *plan,
                const struct ggml_tensor *mask)
{
    const struct gb_cuda_kept_mask wanted = {
        .mask = mask,
        .n_keys = plan->args.n_keys,
        .group = plan->args.group,
        .rows = plan->args.rows,
        .rows_of_tile = plan->rows,
    };
    const int kept = find_block_mask(emit, &wanted);
    const int i = kept >= 0 ? kept : emit->next_mask;
    uint8_t *const to =
        (uint8_t *)emit->block_masks + (size_t)i * emit->block_mask_size;

    if (kept < 0) {
        launch_block_mask(emit, plan, to);
        emit->masks[i] = wanted;
        emit->next_mask = (i + 1) % GB_CUDA_BLOCK_MASKS;
    }
    return to;
}

static void
emit_preparation(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
                 struct plan *plan)
{
    struct gb_cuda_attention_args *args = &plan->args;
    struct gb_cuda_tensor *const tensors[] = { &args->k, &args->v };
    const float **const factors[] = { &args->k_factors, &args->v_factors };

    if (args->has_mask)
        args->block_mask = emit_block_mask(emit, plan, node->src[3]);
    for (int i = 0; i < 2; i++) {
        float *const to = (float *)(emit->scratch + plan->factors[i]);

        if (are_halves(node->src[1 + i]))
            continue;
        *tensors[i] = emit_halves(emit, plan, node->src[1 + i],
                                  emit->scratch + plan->halves[i], to);
        *factors[i] = to;
    }
}

static void
emit_mma(struct gb_cuda_emit *emit, const struct mma_kernel *mma,
         const struct gb_cuda_attention_args *args)
{
    emit->add(emit, mma->kernel, gb_cuda_blocks(args->n_tiles, 1), mma->shared,
              args, sizeof(*args));
}

/* The same by warp groups, of whose NODE keys and values can be mapped.  What the
 * driver does not map all the same is the emission's failure. */
static void
emit_warp_groups(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
                 const struct mma_kernel *mma,
                 const struct gb_cuda_attention_args *args)
{
    struct gb_cuda_wgmma_attention_args all = { .of = *args };
    const struct mapped k = map_of(node->src[1], args->n_keys);
    const struct mapped v = map_of(node->src[2], args->n_keys);

    emit->map(emit, &k.as, &all.k_map);
    emit->map(emit, &v.as, &all.v_map);
    all.k_heads_first = k.heads_first;
    all.v_heads_first = v.heads_first;
    emit->add(emit, mma->kernel, gb_cuda_blocks(args->n_tiles, 1), mma->shared,
              &all, sizeof(all));
}

static void
attention_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct plan plan =
        plan_by(emit->limits, node, mma_kernel_of(emit->limits, node));
    struct gb_cuda_attention_args *args = &plan.args;

    args->q = gb_cuda_arg(node->src[0]);
    args->k = gb_cuda_arg(node->src[1]);
    args->v = gb_cuda_arg(node->src[2]);
    args->of_k = sharing_of(node->src[1], node->src[0]);
    args->of_v = sharing_of(node->src[2], node->src[0]);
    args->k_format = formats[node->src[1]->type];
    args->v_format = formats[node->src[2]->type];
    args->k_is_aligned = is_aligned(node->src[1]);
    args->v_is_aligned = is_aligned(node->src[2]);
    args->has_mask = node->src[3] != NULL;
    if (args->has_mask)
        args->mask = gb_cuda_arg(node->src[3]);
    args->mask_is_paired = args->has_mask && has_rows_of(node->src[3], 4);
    args->mask_is_wide = args->has_mask && has_rows_of(node->src[3], 16);
    args->dst = node->data;
    args->parts = (float *)emit->scratch;
    args->scale = gb_node_param_f32(node, 0);
    args->max_bias = gb_node_param_f32(node, 1);
    args->softcap = gb_node_param_f32(node, 2);
    if (args->softcap != 0.0f)
        args->scale /= args->softcap;

    if (plan.mma != NULL) {
        if (!is_decode(plan.mma))
            emit_preparation(emit, node, &plan);
        else if (args->n_parts == 1)
            args->columns = gb_cuda_columns_for(emit, node);
        if (plan.mma->by_warp_groups)
            emit_warp_groups(emit, node, plan.mma, args);
        else
            emit_mma(emit, plan.mma, args);
    } else if (plan.rows == DECODE_ROWS) {
        GB_CUDA_LAUNCH(emit, gb_attention_decode,
                       gb_cuda_blocks(args->n_tiles, 1), 0, args);
    } else {
        GB_CUDA_LAUNCH(emit, gb_attention_prefill,
                       gb_cuda_blocks(args->n_tiles, 1), 0, args);
    }
    if (args->n_parts > 1)
        emit_join(emit, node, args->n_parts);
}

const struct gb_cuda_op gb_cuda_op_attention = {
    .supports = attention_supports,
    .block_mask = attention_block_mask,
    .scratch = attention_scratch,
    .emit = attention_emit,
};
