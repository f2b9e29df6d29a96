/* leaks.h - for programs that load libnvvm; included by the program's own file, where the leak sanitizer looks for it. The sanitizer's
 * search of thread-local storage crashes beside that of libnvvm; without the search, what glibc keeps there counts as lost, and so does a
 * thread's scratch memory and the plans that it keeps. */
#ifndef UF_LEAKS_H
#define UF_LEAKS_H

const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "use_tls=0"; }
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:pthread_setspecific\nleak:_dlerror_run\nleak:_dl_map_object_deps\nleak:scratch_make\nleak:repeat_"
           "make\n";
}

#endif
