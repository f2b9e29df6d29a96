# layers.awk - the direction of dependencies (DESIGN.md, section 6), read off the #include lines of the files given.
# A layer is a folder of src/, or engine.h. Who sees what is the table below; everyone sees ufunc.h and the system.
BEGIN {
    sees["base"] = ""
    sees["type"] = "base"
    sees["lang"] = "base type"
    sees["nd"] = "base type"
    sees["engine.h"] = "base type nd"
    sees["ir"] = "base type lang engine.h"
    sees["cpu"] = "base type nd engine.h"
    sees["gpu"] = "base type nd engine.h"
    sees["cuda"] = "base type nd engine.h gpu"
    sees["core"] = "base type lang nd ir engine.h"
    sees["cmd"] = ""
    for (layer in sees) {
        count = split(sees[layer], list, " ")
        allowed[layer, layer] = 1
        for (i = 1; i <= count; i++) allowed[layer, list[i]] = 1
    }
}
FNR == 1 {
    split(FILENAME, path, "/")
    layer = path[2]
    if (!(layer in sees)) {
        print FILENAME ": \"" layer "\" is not a layer; tools/layers.awk has the table"
        bad = 1
    }
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    if (quoted[2] == "ufunc.h") next
    split(quoted[2], part, "/")
    seen = index(quoted[2], "/") || part[1] == "engine.h" ? part[1] : layer
    if (!((layer, seen) in allowed)) {
        print FILENAME ":" FNR ": " layer " may not see " quoted[2]
        bad = 1
    }
}
END { exit bad }
