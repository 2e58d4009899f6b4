# Turns the plain comments of nima.h into Doxygen's, so that the header itself stays plain C to read.
#   /* ---- title --- */             a heading for the group of declarations that follows
#   declaration; /* text */          what the declaration is
#   /* text */ at a line's start     belongs to what follows
NR == 1 { sub(/^\/\* nima\.h: /, "/** @file\n * @brief ") }
/^\/\* ---- / {
    title = $0
    sub(/^\/\* -+ /, "", title); sub(/ -+( \*\/)?$/, "", title)
    if (open) print "/** @} */"
    open = 1
    if ($0 ~ /\*\/$/) print "/** @name " title "\n * @{ */"
    else { print "/** @name " title; print " * @verbatim"; verbatim = 1 }
    next
}
verbatim && /\*\/$/ { sub(/ \*\/$/, ""); print; print " * @endverbatim\n * @{ */"; verbatim = 0; next }
/^\/\* / { sub(/^\/\* /, "/** ") }
/[;,{] +\/\* .*\*\/$/ && !/^\/\*/ { sub(/\/\* /, "/**< ") }
{ print }
END { if (open) print "/** @} */" }
