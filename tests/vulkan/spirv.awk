# SPDX-License-Identifier: MIT
# What a shader takes of a device, of spirv-dis's text: "capability NAME" for each of
# its capabilities, and the numbers "threads" of a work group, "shared" bytes of it,
# "bindings" and bytes of push constants, "pushed".
function size_of(type,   n, parts, i, sum) {
    if (type in count)
        return count[type] * size_of(of[type])
    if (type in members) {
        n = split(members[type], parts, " ")
        for (i = 1; i <= n; i++)
            sum += size_of(parts[i])
        return sum
    }
    return bytes[type]
}

/OpCapability/ { print "capability", $2 }
/OpExecutionMode .* LocalSize / { threads = $4 * $5 * $6 }
# Comes before the others where it is there.
/OpDecorate .* BuiltIn WorkgroupSize/ { sized_by = $2 }
/OpDecorate .* Binding / && $4 + 1 > bindings { bindings = $4 + 1 }
/OpMemberDecorate .* Offset / { offset[$2, $3] = $5 }
/OpDecorate .* ArrayStride / { stride[$2] = $4 }
$2 != "=" { next }
$3 == "OpTypeInt" || $3 == "OpTypeFloat" { bytes[$1] = $4 / 8 }
$3 == "OpTypeBool" { bytes[$1] = 4 }
$3 ~ /Op(Spec)?Constant$/ { value[$1] = $5 }
$3 == "OpConstantComposite" && $1 == sized_by {
    threads = value[$5] * value[$6] * value[$7]
}
$3 == "OpTypeVector" || $3 == "OpTypeMatrix" { of[$1] = $4; count[$1] = $5 }
$3 == "OpTypeArray" { of[$1] = $4; count[$1] = value[$5] }
$3 == "OpTypeStruct" {
    for (i = 4; i <= NF; i++)
        members[$1] = members[$1] " " $i
    last[$1] = $NF; n_members[$1] = NF - 3
}
$3 == "OpTypePointer" { target[$1] = $5 }
$3 == "OpVariable" && $5 == "Workgroup" { shared += size_of(target[$4]) }
$3 == "OpVariable" && $5 == "PushConstant" {
    type = target[$4]
    pushed = offset[type, n_members[type] - 1] + size_of(last[type])
}
END {
    print "threads", threads + 0
    print "shared", shared + 0
    print "bindings", bindings + 0
    print "pushed", pushed + 0
}
