/* vector_tables.h - the numbers of vector_tables.c. */
#ifndef UF_VECTOR_TABLES_H
#define UF_VECTOR_TABLES_H

extern const double exp2_high[16], exp2_low[16]; /* 2^(j / 16) is high (1 + low) */
extern const double log_high[16], log_low[16];   /* -log(1 + j / 16) is high + low; high is a multiple of 2^-42 */
extern const double log2_high[32], log2_low[32]; /* -log2(1 + j / 32) is high + low; high is a multiple of 2^-40 */

#endif
