// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/team.glsl - invocations that share a row.
//
// A work group of 256 has 256 / GB_TEAM teams, each of which has a row;
// GB_TEAM, a power of two, is what the pipeline defines.  A member takes
// elements gb_rank(), gb_rank() + GB_TEAM and so on.  All invocations of the
// work group must come to gb_team_sum() and gb_team_max(), those of teams
// without a row too.
//
// Values are joined in shared memory, in an order that follows from GB_TEAM
// alone: the first GB_WAYS members join every GB_WAYS-th value, then each joins
// what those have.
#ifndef GB_TEAM_GLSL
#define GB_TEAM_GLSL

#define GB_TEAMS (256 / GB_TEAM)
#define GB_WAYS (GB_TEAM >= 256 ? 16 : GB_TEAM >= 64 ? 8 : GB_TEAM / 4)

shared float gb_team_values[256];

uint gb_rank()
{
    return gl_LocalInvocationID.x & uint(GB_TEAM - 1);
}

// The number of this team's row.
uint gb_team_row()
{
    return gb_group() * uint(GB_TEAMS) + gl_LocalInvocationID.x / uint(GB_TEAM);
}

float gb_team_sum(float value)
{
    const uint i = gl_LocalInvocationID.x;
    const uint first = i & ~uint(GB_TEAM - 1);

    barrier(); // the last sum has been read
    gb_team_values[i] = value;
    barrier();
    if (i - first < uint(GB_WAYS)) {
        for (uint k = uint(GB_WAYS); k < uint(GB_TEAM); k += uint(GB_WAYS))
            value += gb_team_values[i + k];
        gb_team_values[i] = value;
    }
    barrier();
    value = gb_team_values[first];
    for (uint k = 1u; k < uint(GB_WAYS); k++)
        value += gb_team_values[first + k];
    return value;
}

float gb_team_max(float value)
{
    const uint i = gl_LocalInvocationID.x;
    const uint first = i & ~uint(GB_TEAM - 1);

    barrier();
    gb_team_values[i] = value;
    barrier();
    if (i - first < uint(GB_WAYS)) {
        for (uint k = uint(GB_WAYS); k < uint(GB_TEAM); k += uint(GB_WAYS))
            value = max(value, gb_team_values[i + k]);
        gb_team_values[i] = value;
    }
    barrier();
    value = gb_team_values[first];
    for (uint k = 1u; k < uint(GB_WAYS); k++)
        value = max(value, gb_team_values[first + k]);
    return value;
}

#endif
