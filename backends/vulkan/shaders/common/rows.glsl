// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/rows.glsl - where rows of strided tensors lie.
//
// A row is what lies along dimension 0.  Rows are counted in index order, row =
// i1 + ne[1] * (i2 + ne[2] * i3), whatever the strides are.
#ifndef GB_ROWS_GLSL
#define GB_ROWS_GLSL

// Indices along dimensions 1 to 3 of row N; NE are the counts of those.
uvec3 gb_row_of(uint n, uint ne[3])
{
    uvec3 row;

    row.x = gb_take(n, ne[0]);
    row.y = gb_take(n, ne[1]);
    row.z = n;
    return row;
}

// Where that begins by the strides of those dimensions.
uint gb_row_offset(uvec3 row, uint nb[3])
{
    return row.x * nb[0] + row.y * nb[1] + row.z * nb[2];
}

#endif
