/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/weightring.cuh - rows of weights on their way through shared
 * memory.
 *
 * Blocks of weights are 18 to 210 bytes long, so lanes that load what they need
 * touch a line of memory each.  Here a warp copies the bytes as they lie, 16 a
 * lane, into a ring of its own; lanes then read blocks there.  Where rows begin at
 * multiples of 16 bytes, pieces of these are numbered across all rows; else whole
 * sectors of 32 of each row are copied.  A stage is a run of k of
 * GB_CUDA_GEMV_ROWS rows; while one is worked on, the others are on their way, and
 * no other warp is waited for.
 */
#ifndef GB_CUDA_KERNELS_WEIGHTRING_CUH
#define GB_CUDA_KERNELS_WEIGHTRING_CUH

#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/mma.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define GB_SECTOR 32 /* bytes that memory gives at once */

/* Of weights of type T. */
template <typename T>
struct gb_stage_of {
    static constexpr bool is_float = gb_format<T>::is_float;
    /* A block of 32 values a lane, or 32 bytes of floats. */
    static constexpr int values =
        is_float ? GB_WARP * 32 / (int)sizeof(T) : GB_WARP * 32;
    static constexpr int bytes =
        values / gb_format<T>::values * (int)sizeof(T);
    /* Of the sectors that it may touch. */
    static constexpr int pitch =
        (bytes + 2 * (GB_SECTOR - 1)) / GB_SECTOR * GB_SECTOR;
    static constexpr int ring_bytes = 46 * 1024 / (GB_CUDA_GEMV_THREADS / GB_WARP);
    /* One, where nothing is on its way to the ring while another is worked on: as
     * many more warps are resident. */
    static constexpr int depth =
        gb_copies_by_registers                        ? 1
        : 3 * GB_CUDA_GEMV_ROWS * pitch <= ring_bytes ? 3
                                                      : 2;
};

/* A warp's. */
template <typename T>
struct alignas(GB_SECTOR) gb_weight_ring {
    char rows[gb_stage_of<T>::depth][GB_CUDA_GEMV_ROWS][gb_stage_of<T>::pitch];
};

/* Copies are of whole sectors: by so much they begin in front of FROM. */
GB_DEVICE int
gb_skip_of(const char *from)
{
    return (int)((uintptr_t)from % GB_SECTOR);
}

/* What a stage has of each row: N bytes; N_BEFORE bytes of the row are in front
 * of them and N_LEFT from there on, or more where these are 32 and above. */
struct gb_row_part {
    int n, n_before, n_left;
};

/* Bytes of the sectors in which PART is, where it begins at FROM. */
GB_DEVICE int
gb_sectors_of(const gb_row_part &part, const char *from)
{
    return (gb_skip_of(from) + part.n + GB_SECTOR - 1) & -GB_SECTOR;
}

/* Does the row, in which PART begins at FROM, have all of these? */
GB_DEVICE bool
gb_has_sectors(const gb_row_part &part, const char *from)
{
    const int skip = gb_skip_of(from);

    return skip <= part.n_before &&
           gb_sectors_of(part, from) - skip <= part.n_left;
}

/* Piece AT of 16 bytes, counted from the first sector on, as far as it is the
 * row's: no other's bytes are read.  Words are whole. */
GB_DEVICE void
gb_copy_edge(char *to, const gb_row_part &part, const char *from, int at)
{
    const int first = at - gb_skip_of(from);
    const int left = part.n_left - first;

    if (first >= -part.n_before) {
        gb_copy_async_16(to, from + first, left < 16 ? left : 16);
        return;
    }
    GB_DO_NOT_UNROLL
    for (int i = (-part.n_before - first) & ~3; i < 16 && i < left; i += 2)
        *(uint16_t *)(to + i) = first + i < -part.n_before
                                    ? (uint16_t)0
                                    : *(const uint16_t *)(from + first + i);
}

/* Begin to copy a part at a row's edge.  All lanes. */
GB_DEVICE void
gb_copy_edges(char *to, const gb_row_part &part, const char *from)
{
    const int end = gb_skip_of(from) + part.n;

    GB_DO_NOT_UNROLL
    for (int at = 16 * gb_lane(); at < end; at += 16 * GB_WARP)
        gb_copy_edge(to + at, part, from, at);
}

/* Begin to copy whole sectors, at most PITCH bytes.  All lanes. */
template <int pitch>
GB_DEVICE void
gb_copy_sectors(char *to, const gb_row_part &part, const char *from)
{
    const int all = gb_sectors_of(part, from), at = 16 * gb_lane();
    const char *const first = from - gb_skip_of(from) + at;

    GB_UNROLL
    for (int i = 0; i < pitch; i += 16 * GB_WARP)
        if (at < all - i)
            gb_copy_async_16(to + at + i, first + i, 16);
}

/*
 * The same of all rows, FROM being that of this lane's number modulo four: all are
 * loaded before any is stored.  So that there is no branch in between, lanes with
 * fewer pieces than others load and store their first one again; behind a row's
 * end they store what nobody reads.
 */
template <typename T>
GB_DEVICE void
gb_copy_rows(char (*to)[gb_stage_of<T>::pitch], const gb_row_part &part,
             const char *from)
{
    constexpr int rows = GB_CUDA_GEMV_ROWS, pitch = gb_stage_of<T>::pitch;
    constexpr int step = 16 * GB_WARP, n = (pitch + step - 1) / step;
    const int first = 16 * gb_lane();
    const char *row[rows];
    gb_piece pieces[n][rows];

    GB_UNROLL
    for (int r = 0; r < rows; r++)
        row[r] = gb_shuffle_pointer(from, r);
    if (first >= pitch)
        return;
    GB_UNROLL
    for (int i = 0; i < n; i++)
        GB_UNROLL
        for (int r = 0; r < rows; r++) {
            const int end = gb_sectors_of(part, row[r]), at = first + i * step;

            pieces[i][r] = gb_load_16(row[r] - gb_skip_of(row[r]) +
                                      (at < end      ? at
                                       : first < end ? first
                                                     : 0));
        }
    GB_UNROLL
    for (int i = 0; i < n; i++) {
        const int at = first + i * step;

        GB_UNROLL
        for (int r = 0; r < rows; r++)
            *(gb_piece *)(to[r] + (at < pitch ? at : first)) = pieces[i][r];
    }
}

/* Do rows that are NB bytes apart, of which ROW is one, begin at pieces? */
GB_DEVICE bool
gb_is_in_pieces(const char *row, int64_t nb)
{
    return ((uintptr_t)row | (uintptr_t)nb) % sizeof(gb_piece) == 0;
}

/*
 * Whole stages of all rows, on their way to the ring: pieces of 16 bytes, those of a
 * row behind those of the row before, of which a lane has each GB_WARPth.  A stage
 * that begins in the middle of a piece has that piece, too.
 */
template <typename T>
struct gb_stage_pieces {
    static constexpr int bytes = gb_stage_of<T>::bytes;
    static constexpr int size = (int)sizeof(gb_piece);
    static constexpr int of_row = (bytes + size - 1) / size;
    static constexpr int all = GB_CUDA_GEMV_ROWS * of_row;
    static constexpr int n = (all + GB_WARP - 1) / GB_WARP;

    const char *next; /* the first piece of the next stage */
    uint32_t from[n]; /* in pieces behind it */
    int skip; /* bytes in front of the stage in its first piece */
    gb_piece pieces[n]; /* where they go by registers */

    /* May rows be copied so that are ROW_BYTES apart, the first one at ROWS, and
     * have N_BYTES each, where the first stage begins OFFSET behind their start? */
    static __device__ __forceinline__ bool
    can(const char *rows, int64_t row_bytes, int64_t n_bytes, int64_t offset)
    {
        static_assert(bytes % (size / 2) == 0, "half a piece, or none");
        if (row_bytes > INT32_MAX)
            return false;
        return bytes % size == 0
                   ? gb_is_in_pieces(rows + offset, row_bytes)
                   : gb_is_in_pieces(rows, row_bytes | n_bytes) &&
                         offset % (size / 2) == 0;
    }

    /* Bytes in front of what begins at FROM in its piece. */
    static __device__ __forceinline__ int
    skip_of(const char *from)
    {
        return bytes % size == 0 ? 0 : (int)((uintptr_t)from % size);
    }

    /* Row R of a stage that is at STAGE in the ring and has SKIP. */
    static __device__ __forceinline__ const char *
    row(const char *stage, int r, int skip)
    {
        return stage + r * of_row * size + skip;
    }

    /* Lanes with fewer pieces than others have their first one twice. */
    static __device__ __forceinline__ int
    number(int i)
    {
        return gb_lane() + (gb_lane() + i * GB_WARP < all ? i * GB_WARP : 0);
    }

    /* Of the stage that begins at ROW; of N_ROWS rows, each ROW_BYTES behind the one
     * before, the last is there once more. */
    __device__ __forceinline__ void
    begin(const char *row, int64_t row_bytes, int64_t n_rows)
    {
        const int last = n_rows < GB_CUDA_GEMV_ROWS ? (int)n_rows - 1
                                                    : GB_CUDA_GEMV_ROWS - 1;

        skip = skip_of(row);
        next = row - skip;
        GB_UNROLL
        for (int i = 0; i < n; i++) {
            const int at = number(i) / of_row;

            from[i] = (uint32_t)(at < last ? at : last) *
                          (uint32_t)(row_bytes / size) +
                      (uint32_t)(number(i) % of_row);
        }
    }

    __device__ __forceinline__ const char *
    piece(int i) const
    {
        return next + (uint64_t)from[i] * size;
    }

    /* The next stage begins STEP bytes behind this one. */
    __device__ __forceinline__ void
    go_on(int step)
    {
        const int its = bytes % size == 0 ? 0 : (skip + step) % size;

        next += step + skip - its;
        skip = its;
    }

    /* Load a stage; the next one begins STEP bytes behind it. */
    __device__ __forceinline__ void
    load(int step)
    {
        GB_UNROLL
        for (int i = 0; i < n; i++)
            pieces[i] = gb_load_16(piece(i));
        go_on(step);
    }

    __device__ __forceinline__ void
    store(char *stage) const
    {
        GB_UNROLL
        for (int i = 0; i < n; i++)
            *(gb_piece *)(stage + number(i) * size) = pieces[i];
    }

    /* Begin to copy one without registers; the next one begins STEP bytes behind
     * it. */
    __device__ __forceinline__ void
    copy(char *stage, int step)
    {
        char *const to = stage + gb_lane() * size;

        GB_UNROLL
        for (int i = 0; i < n; i++)
            if (gb_lane() < all - i * GB_WARP)
                gb_copy_async_16(to + i * GB_WARP * size, piece(i), size);
        go_on(step);
    }
};

/* Is IT so in all lanes of each four neighbouring ones? */
GB_DEVICE bool
gb_all_of_four(bool it)
{
    int all = it;

    all &= gb_shuffle_xor(all, 1);
    all &= gb_shuffle_xor(all, 2);
    return all != 0;
}

/* Begin to copy a stage to ROWS of a ring: PART of each row, wherever it lies; by whole
 * sectors where the rows have all of them.  FROM is where it begins in the row of this
 * lane's number modulo four.  All lanes. */
template <typename T>
GB_DEVICE void
gb_begin_stage(char (*rows)[gb_stage_of<T>::pitch], const gb_row_part &part,
               const char *from)
{
    const bool is_whole = gb_all_of_four(gb_has_sectors(part, from));

    if (is_whole && gb_copies_by_registers) {
        gb_copy_rows<T>(rows, part, from);
        return;
    }
    GB_DO_NOT_UNROLL
    for (int r = 0; r < GB_CUDA_GEMV_ROWS; r++)
        if (is_whole)
            gb_copy_sectors<gb_stage_of<T>::pitch>(
                rows[r], part, gb_shuffle_pointer(from, r));
        else
            gb_copy_edges(rows[r], part, gb_shuffle_pointer(from, r));
}

/* Wait until all but the last DEPTH - 1 stages that were begun have arrived.  All
 * lanes. */
template <typename T>
GB_DEVICE void
gb_wait_for_stage()
{
    gb_copy_async_wait<gb_stage_of<T>::depth - 1>();
    gb_warp_sync();
}

#endif
