// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/gemv.glsl - what products with few columns share: which rows
// and columns a work group has, and the sums of its invocations.
//
// Invocations have GB_ROWS rows by COLS columns of sums each.  Those of p.lanes
// invocations beside each other, which share k, are added up in shared memory in
// one order, whatever subgroups are.
//
// A shader defines GB_ROWS, COLS, THREADS, and STRIDE = THREADS + 1, and includes
// format.glsl, tensor.glsl and epilogue.glsl before.
#ifndef GB_GEMV_GLSL
#define GB_GEMV_GLSL

#define SUMS 8 // of the lanes that share k, before the last step

shared float parts[GB_ROWS * COLS * STRIDE];

// What a group multiplies.
uint matrix;          // byte of weights
uint from[COLS];   // of columns
uint to[COLS];     // of dst
bool is_nothing;      // no such expert: zeros

// Column C of those that meet matrix INDEX, and where its result goes.
void find_column(uint c, uint index, uint which)
{
    const uint a2 = index % p.weights_ne2;
    const uint a3 = index / p.weights_ne2;
    uint i1, i2, i3;

    i1 = gb_take(c, p.n);
    i2 = a2 * p.r2 + gb_take(c, p.r2);
    i3 = a3 * p.r3 + c;
    from[which] = p.at[2] + i1 * p.columns_nb[0] + i2 * p.columns_nb[1] +
                  i3 * p.columns_nb[2];
    to[which] = p.at[0] + i1 * p.dst_nb[0] + i2 * p.dst_nb[1] +
                i3 * p.dst_nb[2];
}

// Pair C of a token and one of its ids; false where its expert is elsewhere.
bool find_pair(uint c)
{
    const uint x = gb_take(c, p.n);
    const uint expert =
        gb_u32(chosen, p.at[3] + x * p.ids_nb[0] + c * p.ids_nb[1]);

    is_nothing = expert >= p.weights_ne2;
    matrix = p.at[1] + (expert - p.first_expert) * p.weights_nb[1];
    from[0] = p.at[2] + x % p.r2 * p.columns_nb[0] + c * p.columns_nb[1];
    to[0] = p.at[0] + x * p.dst_nb[0] + c * p.dst_nb[1];
    return is_nothing ? p.first_expert == 0u
                      : expert >= p.first_expert && expert < p.end_expert;
}

// The sums of each accumulator over the lanes that share k.
void add_up(uint n_sets)
{
    const uint each = p.lanes / SUMS;
    const uint n = n_sets * GB_ROWS * COLS;

    barrier();
    if (each > 1u) {
        for (uint i = gl_LocalInvocationID.x; i < n * SUMS; i += THREADS) {
            const uint o = i / SUMS;
            const uint first = o / n_sets * STRIDE + o % n_sets * p.lanes +
                               i % SUMS * each;
            float sum = parts[first];

            for (uint j = 1u; j < each; j++)
                sum += parts[first + j];
            parts[first] = sum;
        }
        barrier();
    }
}

// The first of the rows, what is left of the number of the group, and the split and
// the first column.
uint first_row, index, split, tile;
uint row[GB_ROWS]; // bytes where an invocation's begin
float sums[GB_ROWS][COLS];

uint gb_rows_of_group()
{
    return THREADS / p.lanes * GB_ROWS;
}

// What this work group has to do; false for nothing.
bool gb_find_work()
{
    const uint set = gl_LocalInvocationID.x / p.lanes;
    const uint rows = gb_rows_of_group();

    index = gb_group();
    if (index >= p.n_groups)
        return false;
    first_row = gb_take(index, (p.m + rows - 1u) / rows) * rows;
    split = gb_take(index, p.n_splits);
    tile = gb_take(index, (p.n_cols + COLS - 1u) / COLS) * COLS;
    is_nothing = false;
    if (p.has_ids == GB_VK_BY_PAIR) {
        if (!find_pair(tile))
            return false;
    } else {
        matrix = p.at[1] + index % p.weights_ne2 * p.weights_nb[1] +
                 index / p.weights_ne2 * p.weights_nb[2];
        [[unroll]] for (uint c = 0u; c < COLS; c++)
            find_column(min(tile + c, p.n_cols - 1u), index, c);
    }
    [[unroll]] for (uint r = 0u; r < GB_ROWS; r++) {
        row[r] = matrix + min(first_row + set * GB_ROWS + r, p.m - 1u) *
                              p.weights_nb[0];
        [[unroll]] for (uint c = 0u; c < COLS; c++)
            sums[r][c] = 0.0;
    }
    return true;
}

// All sums, to dst.
void gb_write_sums()
{
    const uint n_sets = THREADS / p.lanes;
    const uint rows = gb_rows_of_group();

    [[unroll]] for (uint r = 0u; r < GB_ROWS; r++)
        [[unroll]] for (uint c = 0u; c < COLS; c++)
            parts[(r + GB_ROWS * c) * STRIDE + gl_LocalInvocationID.x] =
                sums[r][c];
    add_up(n_sets);
    for (uint o = gl_LocalInvocationID.x; o < rows * COLS; o += THREADS) {
        const uint of_set = o % n_sets, r = o / n_sets % GB_ROWS;
        const uint c = o / n_sets / GB_ROWS;
        const uint at_row = first_row + of_set * GB_ROWS + r;
        const uint first = (r + GB_ROWS * c) * STRIDE + of_set * p.lanes;
        float sum = 0.0;

        [[unroll]] for (uint j = 0u; j < SUMS; j++)
            sum += parts[first + j * (p.lanes / SUMS)];
        if (at_row < p.m && tile + c < p.n_cols)
            gb_put_f32(dst, to[c] + split * p.split_bytes + at_row * 4u,
                       gb_with_addend(sum, at_row, tile + c, index));
    }
}

#endif
