/* mocknvtx.h - what tests ask of the library that stands in for a tool that listens to NVTX.
 *
 * MOCKNVTX  "refuse": it does not start; "deaf": it asks to be told of nothing */
#ifndef MOCKNVTX_H
#define MOCKNVTX_H

/* What it was told: "domain libufunc\n", "+name\n" for a range that begins, "-\n" for one that ends. Ranges of other domains
 * have their handle in front. Kept up to 64 KiB. */
const char *mocknvtx_log(void);

#endif
