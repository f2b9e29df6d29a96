# layers.awk - checks the direction of dependencies (HACKING.md, "The house") by the #include lines of the given files. A layer is a
# folder of src/, or engine.h; the folders of src/ir are rooms, each of which sees what the table says. All layers see ufunc.h and the
# headers of the system; of src/ir the other layers see ir/ir.h alone. base/distance is a file that the tool is built with as well.
BEGIN {
    sees["base/distance"] = ""
    sees["base"] = "base/distance"
    sees["type"] = "base"
    sees["lang"] = "base type"
    sees["nd"] = "base type"
    sees["engine.h"] = "base type nd"
    sees["cpu"] = "base type nd engine.h"
    sees["gpu"] = "base type nd engine.h"
    sees["cuda"] = "base type nd engine.h gpu"
    sees["core"] = "base type lang nd ir engine.h"
    sees["cmd"] = "base/distance"
    below = "base type lang engine.h ir"
    sees["ir/common"] = below
    sees["ir/construct"] = below " ir/common"
    sees["ir/elementwise"] = below " ir/common"
    sees["ir/at"] = below " ir/common ir/elementwise"
    sees["ir/gufunc"] = below " ir/common ir/construct"
    sees["ir/forall"] = below " ir/common ir/construct ir/gufunc"
    sees["ir/reduce"] = below " ir/common"
    sees["ir/scan"] = below " ir/common ir/reduce"
    sees["ir"] = below " ir/common ir/gufunc ir/forall"
    for (layer in sees) {
        count = split(sees[layer], list, " ")
        allowed[layer, layer] = 1
        for (i = 1; i <= count; i++) allowed[layer, list[i]] = 1
    }
}
# The layer of a path below src/: "ir/common" of "ir/common/emit.h", "ir" of "ir/ir.h".
function layer_of(path,    part) {
    if (path ~ /^base\/distance\.[ch]$/) return "base/distance"
    split(path, part, "/")
    return part[1] == "ir" && part[3] ? "ir/" part[2] : part[1]
}
FNR == 1 {
    layer = layer_of(substr(FILENAME, index(FILENAME, "/") + 1))
    if (!(layer in sees)) {
        print FILENAME ": \"" layer "\" is not a layer; tools/layers.awk has the table"
        bad = 1
    }
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    if (quoted[2] == "ufunc.h") next
    seen = index(quoted[2], "/") || quoted[2] == "engine.h" ? layer_of(quoted[2]) : layer
    if (!((layer, seen) in allowed)) {
        print FILENAME ":" FNR ": " layer " may not see " quoted[2]
        bad = 1
    }
}
END { exit bad }
