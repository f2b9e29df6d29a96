/* mockllvm.h - the variables by which tests steer the library that says it is LLVM 99.
 *
 * MOCKLLVM_REAL    the file of the libLLVM that does the work
 * MOCKLLVM_BREAKS  "parse": no text is understood; "emit": nothing is compiled */
#ifndef MOCKLLVM_H
#define MOCKLLVM_H

#define MOCKLLVM_REAL "MOCKLLVM_REAL"
#define MOCKLLVM_BREAKS "MOCKLLVM_BREAKS"

#endif
