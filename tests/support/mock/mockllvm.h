/* mockllvm.h - the variables by which tests steer the library that says it is LLVM 99.
 *
 * MOCKLLVM_REAL     the file of the libLLVM that does the work
 * MOCKLLVM_VERSION  the version that it says it is, 99 if not set
 * MOCKLLVM_BREAKS   "parse": no text is understood; "passes": no pass is known; "emit": nothing is compiled
 * MOCKLLVM_OPTIMISES "2/3": one module in three is optimised as asked for, the second and then every third; the others not at all,
 *                   which takes a fifth of the time */
#ifndef MOCKLLVM_H
#define MOCKLLVM_H

/* Its function mockllvm_machines says how many target machines were made. */
#define MOCKLLVM_REAL "MOCKLLVM_REAL"
#define MOCKLLVM_VERSION "MOCKLLVM_VERSION"
#define MOCKLLVM_BREAKS "MOCKLLVM_BREAKS"
#define MOCKLLVM_OPTIMISES "MOCKLLVM_OPTIMISES"

#endif
