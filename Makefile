# libufunc. `make` builds the library and the tool, `make demo` shows them, `make test` tests; each first installs what is
# missing (tools/deps.sh says what, and why). Variables: CC CFLAGS CPPFLAGS LDFLAGS BUILD PREFIX DESTDIR; V=1 shows commands.

BUILD ?= build
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
DEPS ?= $(BUILD)# stamps of installed packages, and the Python environment; shared by the sanitizer builds
VENV = $(DEPS)/venv

VERSION := $(shell awk '/define UF_VERSION_(MAJOR|MINOR|PATCH)/ {v = v d $$3; d = "."} END {print v}' include/ufunc.h)
SONAME = libufunc.so.$(firstword $(subst ., ,$(VERSION)))

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes
CXX_WARNINGS = -Wall -Wextra -Wpedantic -Wshadow
COMPILE_CXX = $(CXX) -std=c++17 $(CXX_WARNINGS) -MMD -MP -Iinclude $(CPPFLAGS) $(CFLAGS)
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE $(WARNINGS) -ffp-contract=off -MMD -MP -Iinclude $(CPPFLAGS) $(CFLAGS)
RELEASE = -DNDEBUG# the library goes without the assertions that unit tests compile its sources with
# Without CFLAGS of the user's, unit tests have lines for a debugger and no variables, and their own files little optimisation: in full
# these take a third of the time that `make programs` does.
INSIDE_CFLAGS := $(if $(filter file,$(origin CFLAGS)),-g1)
TEST_CFLAGS := $(if $(filter file,$(origin CFLAGS)),-O1 -g1)
LIBS = -lm -ldl -lpthread
TOOL_LIBS = -lz# of the tool alone: .npz files
# Programs built here also run where the test libraries are not installed: build/lib has copies of them.
RPATH = -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/..:$$ORIGIN/../lib'

SOURCES := $(filter-out src/cmd/%,$(wildcard src/*/*.c src/*/*/*.c))
OBJECTS := $(SOURCES:src/%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/generated/catalogue.o
MAP = src/libufunc.map# the symbols of the shared library, with the release that brought each
LAYOUTS := $(wildcard layouts/*.uf layouts/aliases modules/*.uf)
TOOL := $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/cmd/*.c) src/base/distance.c)
# Test programs are tests/FOLDER/test_*.c; the other C files of those folders are helpers, which every program can link.
TEST_FOLDERS := $(sort $(dir $(wildcard tests/*/test_*.c))) tests/support/ tests/support/ref/
TEST_SOURCES := $(wildcard $(TEST_FOLDERS:%=%*.c))
TESTS := $(patsubst %.c,$(BUILD)/test/%,$(notdir $(wildcard tests/*/test_*.c)))
HELPERS := $(patsubst %.c,$(BUILD)/test/obj/%.o,$(filter-out test_%,$(notdir $(TEST_SOURCES))))
MOCKS := $(patsubst tests/support/mock/%.c,$(BUILD)/test/lib%.so,$(wildcard tests/support/mock/*.c))
EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))
# Examples in C++ are built where there is a compiler for it.
HAS_CXX := $(shell echo '\#include <vector>' | $(CXX) -std=c++17 -x c++ -E - >/dev/null 2>&1 && echo yes)
EXAMPLES += $(if $(HAS_CXX),$(patsubst examples/%.cpp,$(BUILD)/examples/%,$(wildcard examples/*.cpp)))
BENCH := $(patsubst tests/perf/%.c,$(BUILD)/perf/%,$(wildcard tests/perf/bench*.c))

Q = $(if $(V),,@)
say = @printf '  %-4s %s\n' $1 $@

all: $(BUILD)/libufunc.so $(BUILD)/libufunc.a $(BUILD)/ufunc $(BUILD)/ufunc.pc $(BUILD)/share/.made

# ---- The library ----

$(BUILD)/libufunc.so: $(OBJECTS) $(MAP)
	$(call say,LD)
	$(Q)$(CC) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,$(MAP) -Wl,-z,nodelete $(NO_UNDEFINED) \
	    $(CFLAGS) $(LDFLAGS) -o $@ $(OBJECTS) $(LIBS)
	$(Q)ln -sf libufunc.so $(BUILD)/$(SONAME)

NO_UNDEFINED = -Wl,-z,defs# sanitizer builds clear it: their runtime is in the program

# One relocatable object with its hidden symbols made local, so that a static link sees only uf_* as well.
$(BUILD)/libufunc.a: $(OBJECTS)
	$(call say,AR)
	$(Q)$(LD) -r -o $(BUILD)/libufunc.o $^
	$(Q)objcopy --localize-hidden $(BUILD)/libufunc.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/libufunc.o

$(BUILD)/ufunc: $(TOOL) $(BUILD)/libufunc.a
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(LIBS)

# Manual pages and completion, made of the tool's tables and of the header. A page of several verbs, or of the library, has a page
# for each of their names that leads to it.
$(BUILD)/share/.made: $(BUILD)/ufunc tools/man3.awk include/ufunc.h $(MAP)
	$(call say,MAN)
	$(Q)rm -rf $(@D)
	$(Q)mkdir -p $(@D)/man/man1 $(@D)/man/man3 $(@D)/bash-completion/completions $(@D)/zsh/site-functions
	$(Q)for page in $$($(BUILD)/ufunc help --pages); do \
	    $(BUILD)/ufunc help --man $$page > $(@D)/man/man1/$$page.1 || exit 1; done
	$(Q)awk -v version=$(VERSION) -f tools/man3.awk include/ufunc.h > $(@D)/man/man3/libufunc.3
	$(Q)for name in $(MAPPED); do echo .so man3/libufunc.3 > $(@D)/man/man3/$$name.3; done
	$(Q)$(BUILD)/ufunc help --completion bash > $(@D)/bash-completion/completions/ufunc
	$(Q)$(BUILD)/ufunc help --completion zsh > $(@D)/zsh/site-functions/_ufunc
	$(Q)touch $@

MAPPED := $(shell awk '/^ *uf_/ {sub(/;/, ""); print $$1}' $(MAP))

# Written again only if what it says changes, which PREFIX and LIBS have a part in.
$(BUILD)/ufunc.pc: FORCE | $(BUILD)/.flags
	@{ printf 'prefix=%s\nlibdir=$${prefix}/lib\nincludedir=$${prefix}/include\n\n' '$(PREFIX)'; \
	   printf 'Name: libufunc\nDescription: universal functions: write the scalar, call it on arrays\n'; \
	   printf 'Version: $(VERSION)\nLibs: -L$${libdir} -lufunc\nLibs.private: $(LIBS)\nCflags: -I$${includedir}\n'; } > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/obj/cmd/%.o: src/cmd/%.c $(BUILD)/.flags | $(DEPS)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) -Isrc -c -o $@ $<

$(BUILD)/obj/%.o: src/%.c $(BUILD)/.flags | $(DEPS)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(RELEASE) -Isrc -fPIC -fvisibility=hidden -c -o $@ $<

# The catalogue: the text of layouts/ and modules/ as C. A folder changes when a file comes or goes.
$(BUILD)/generated/catalogue.c: tools/catalogue.sh layouts modules $(LAYOUTS)
	@mkdir -p $(@D)
	$(Q)sh tools/catalogue.sh layouts modules > $@.new && mv $@.new $@

$(BUILD)/obj/generated/%.o: $(BUILD)/generated/%.c $(BUILD)/.flags | $(DEPS)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) -Isrc -fPIC -fvisibility=hidden -c -o $@ $<

# Holds the compile command; changes when the command does, and everything with it.
$(BUILD)/.flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$(COMPILE) $(RELEASE) $(TEST_CFLAGS)" | cmp -s - $@ || printf '%s\n' "$(COMPILE) $(RELEASE) $(TEST_CFLAGS)" > $@

# ---- Examples and tests ----

$(BUILD)/examples/%: examples/%.c $(BUILD)/libufunc.so $(BUILD)/.flags | $(DEPS)/.deps-demo
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $< -L$(BUILD) -lufunc $(if $(shell grep -E '"picture.h"|<png.h>' $<),-lpng) -lm $(RPATH)

$(BUILD)/examples/%: examples/%.cpp include/ufunc.hpp $(BUILD)/libufunc.so $(BUILD)/.flags | $(DEPS)/.deps-demo
	@mkdir -p $(@D)
	$(call say,CXX)
	$(Q)$(COMPILE_CXX) $(LDFLAGS) -o $@ $< -L$(BUILD) -lufunc $(RPATH)

$(BUILD)/perf/%: tests/perf/%.c $(BUILD)/libufunc.so $(BUILD)/.flags | $(DEPS)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $< -L$(BUILD) -lufunc $(LIBS) $(RPATH)

# Files of tests have names of their own, whatever their folder.
vpath %.c $(TEST_FOLDERS)

$(BUILD)/test/obj/%.o: %.c $(BUILD)/.flags | $(DEPS)/.deps-test
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(TEST_CFLAGS) -Isrc -Itests/support -c -o $@ $<

# Unit tests link the library's sources, compiled with assertions, so that internal functions are in reach, and the helpers beside them.
$(BUILD)/test/inside/%.o: src/%.c $(BUILD)/.flags | $(DEPS)/.deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(INSIDE_CFLAGS) -Isrc -fPIC -fvisibility=hidden -c -o $@ $<

$(BUILD)/test/libinside.a: $(SOURCES:src/%.c=$(BUILD)/test/inside/%.o) $(BUILD)/obj/generated/catalogue.o
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# The same objects as a shared library, for programs that travel: `make mutants` has INSIDE name it.
$(BUILD)/lib/libinside.so: $(SOURCES:src/%.c=$(BUILD)/test/inside/%.o) $(BUILD)/obj/generated/catalogue.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) -shared -Wl,-soname,$(@F) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/test/libhelpers.a: $(HELPERS)
	@mkdir -p $(@D)
	$(call say,AR)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

INSIDE = $(BUILD)/test/libinside.a
$(BUILD)/test/%: $(BUILD)/test/obj/%.o $(BUILD)/test/libhelpers.a $(INSIDE)
	$(call say,LD)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--wrap=lang_check,--undefined=__wrap_lang_check -o $@ $^ -lcmocka -lmpfr $(LIBS) $(RPATH)

# The one part of the tool that is tested from inside: it reads strangers' files.
FILES = $(patsubst %,obj/cmd/%.o,npy_header npy_read npy_write npz zip raw text_read text_write forms value print signals progress)
$(BUILD)/test/test_npy $(BUILD)/test/test_corpora: $(FILES:%=$(BUILD)/%)
$(BUILD)/test/test_npy $(BUILD)/test/test_corpora: LIBS += $(TOOL_LIBS)

# Stand-ins for libraries a test machine may lack; tests load them by path.
$(BUILD)/test/lib%.so: tests/support/mock/%.c tests/support/mock/%.h $(BUILD)/.flags | $(DEPS)/.deps-test
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(COMPILE) -fPIC -shared -fvisibility=hidden $(LDFLAGS) -o $@ $< -lpthread

# The library as a whole on the simulated GPU: a driver and a libnvvm that it loads by path.
SIMULATED = $(BUILD)/test/libsimcuda.so
SIMULATED_SOURCES = tests/support/simulated/simcuda.c tests/support/mock/mockcuda.c $(patsubst %,tests/support/%.c,gpu_sim ir_check draw)
$(SIMULATED): $(SIMULATED_SOURCES) $(INSIDE) $(BUILD)/.flags | $(DEPS)/.deps-test
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(COMPILE) $(TEST_CFLAGS) -Isrc -Itests/support -Itests/support/mock -fPIC -shared -fvisibility=hidden -Wl,-Bsymbolic $(LDFLAGS) \
	    -o $@ $(SIMULATED_SOURCES) $(INSIDE) -lcmocka $(LIBS) $(RPATH)

$(BUILD)/lib/.copied: $(TESTS) $(EXAMPLES)
	@mkdir -p $(@D)
	@ldd $^ | awk '/lib(cmocka|mpfr|gmp|png16|z)\.so/ && !seen[$$1]++ {print $$3, $$1}' | \
	 while read -r path name; do test -e $(@D)/$$name || cp -L "$$path" $(@D)/$$name; done
	@touch $@

programs: all $(EXAMPLES) test-programs

test-programs: $(TESTS) $(MOCKS) $(SIMULATED) $(BUILD)/lib/.copied

# Unless make was told how many jobs, there is one for each processor, and one more as installing what is missing waits for a network.
test:
	@$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$$(($$(nproc) + 1))) deps programs
	@BUILD=$(BUILD) VENV=$(VENV) sh tests/run.sh

# Runs what was built, with the GPU tests on: a machine with a GPU needs neither a compiler nor the test libraries.
test-gpu: $(if $(wildcard $(BUILD)/test/test_*),,programs)
	@UF_TEST_GPU=1 BUILD=$(BUILD) VENV=$(VENV) sh tests/run.sh

# What a newcomer meets: every block of code in the documents, every example, and every verb of the tool, also at a terminal.
newcomer:
	@$(MAKE) --no-print-directory programs
	@BUILD=$(BUILD) VENV=$(VENV) sh tests/run.sh readme documents doc_code examples cmd terminal test_mistakes install

DEMO := rel_diff statistics kalman gpu_round pi mandelbrot heat
demo: all $(DEMO:%=$(BUILD)/examples/%)
	$(BUILD)/examples/rel_diff
	$(BUILD)/examples/statistics
	$(BUILD)/examples/kalman
	$(BUILD)/examples/gpu_round
	$(BUILD)/examples/pi
	$(BUILD)/examples/mandelbrot $(BUILD)/mandelbrot.png
	$(BUILD)/examples/heat $(BUILD)/heat.png

# Measures the errors of the catalogue's functions, for docs/accuracy.md. ACCURACY is the number of arguments in float64.
ACCURACY ?= 3000
accuracy: all | $(DEPS)/.deps-test
	@export UFUNC_LIB=$(abspath $(BUILD))/libufunc.so PYTHONDONTWRITEBYTECODE=1; \
	 $(VENV)/bin/python tools/measure_accuracy.py measure $(ACCURACY) && \
	 $(VENV)/bin/python tools/measure_accuracy.py page > docs/accuracy.md

# The pages of the catalogue: docs/catalogue.md, and a plot of each function of one real number.
catalogue: all $(BUILD)/tools/plots | $(DEPS)/.deps-test
	@mkdir -p docs/plots
	$(BUILD)/tools/plots docs/plots $(basename $(notdir $(wildcard layouts/*.uf)))
	@UFUNC_LIB=$(abspath $(BUILD))/libufunc.so PYTHONDONTWRITEBYTECODE=1 $(VENV)/bin/python tools/catalogue_page.py > docs/catalogue.md

$(BUILD)/tools/plots: tools/plots.c $(BUILD)/libufunc.so $(BUILD)/.flags | $(DEPS)/.deps-demo
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $< -L$(BUILD) -lufunc -lpng -lm $(RPATH)

bench: all $(BENCH) | $(DEPS)/.deps-bench
	@BUILD=$(BUILD) VENV=$(VENV) sh tests/perf/run.sh

asan:
	$(MAKE) test BUILD=$(BUILD)/asan DEPS=$(DEPS) NO_UNDEFINED= \
	    CFLAGS='-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined'

tsan:
	$(MAKE) test BUILD=$(BUILD)/tsan DEPS=$(DEPS) NO_UNDEFINED= CFLAGS='-O1 -g -fsanitize=thread'

# How much of src/ the tests run, by file and layer. A failing test does not keep the table back.
coverage:
	$(MAKE) programs BUILD=$(BUILD)/coverage DEPS=$(DEPS) CFLAGS='-O0 -g --coverage' \
	    CPPFLAGS='$(CPPFLAGS) -include tools/coverage.h' LDFLAGS='$(LDFLAGS) -Wl,--exclude-libs,libgcov.a'
	@find $(BUILD)/coverage -name '*.gcda' -delete
	@BUILD=$(BUILD)/coverage VENV=$(VENV) sh tests/run.sh; status=$$?; \
	 python3 tools/coverage.py $(BUILD)/coverage && exit $$status

# How many small faults, seeded in src/, the unit programs notice.
mutants: | $(DEPS)/.deps-test
	@python3 tools/mutants.py build --into $(BUILD)/mutants --cc '$(CC)' DEPS=$(abspath $(DEPS))
	@python3 tools/mutants.py run --build $(BUILD)/mutants/run

# Fuzzes one target, or all in turn, with the sanitizers: `make fuzz TARGETS=kernel RUNS=10000000`. What it finds that is new goes to
# build/fuzz/corpus, a failure to build/fuzz; failures that were mended go to tests/fuzz/corpus, which `make test` runs.
FUZZ = $(BUILD)/fuzz
TARGETS = $(notdir $(wildcard tests/fuzz/corpus/*))
RUNS = 100000
# FUZZ_TRACE=no-: three times as many inputs a second, which comparisons in the code do not guide.
FUZZ_TRACE =
FUZZ_FLAGS = -O2 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined \
    -f$(FUZZ_TRACE)sanitize-coverage=trace-cmp
# Memory that is freed comes back soon, and is not filled.
FUZZ_ASAN = malloc_context_size=2:quarantine_size_mb=1:max_malloc_fill_size=0:allocator_release_to_os_interval_ms=-1
fuzz: $(FUZZ)/fuzzer
	@export ASAN_OPTIONS=$(FUZZ_ASAN); for target in $(TARGETS); do \
	    mkdir -p $(FUZZ)/corpus/$$target && \
	    UF_FUZZ=$$target $(FUZZ)/fuzzer -runs=$(RUNS) -timeout=20 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1 \
	        -artifact_prefix=$(FUZZ)/$$target- $(FUZZ)/corpus/$$target tests/fuzz/corpus/$$target || exit 1; \
	done

$(FUZZ)/fuzzer: FORCE | $(DEPS)/.deps-lint
	@$(MAKE) --no-print-directory $(FUZZ)/libufunc.a $(FILES:%=$(FUZZ)/%) BUILD=$(FUZZ) DEPS=$(abspath $(DEPS)) CC=clang CFLAGS='$(FUZZ_FLAGS)'
	$(call say,LD)
	$(Q)clang -std=c11 -D_GNU_SOURCE $(WARNINGS) -Iinclude -Isrc $(subst fuzzer-no-link,fuzzer,$(FUZZ_FLAGS)) -o $@ \
	    $(wildcard tests/fuzz/fuzz_*.c) tests/fuzz/libfuzzer/fuzzer.c $(FILES:%=$(FUZZ)/%) $(FUZZ)/libufunc.a $(TOOL_LIBS) $(LIBS)

lint: all | $(DEPS)/.deps-lint $(DEPS)/.deps-demo $(DEPS)/.deps-test
	@BUILD=$(BUILD) DEPS=$(DEPS) MAKE='$(MAKE)' sh tools/lint.sh

# What programs rely on of this release, for lint to compare later ones with; docs/releasing.md says when. Never written again.
abi: tests/header/libufunc-$(VERSION).abi

tests/header/libufunc-$(VERSION).abi: | $(BUILD)/libufunc.so $(DEPS)/.deps-lint
	$(call say,ABI)
	$(Q)CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' sh tools/abi.sh corpus $(BUILD)/libufunc.so > $@.new && mv $@.new $@

# ---- Dependencies: tools/deps.sh installs what one group of targets needs and is not there ----

deps: $(DEPS)/.deps-build $(DEPS)/.deps-demo $(DEPS)/.deps-test

# The compiler comes first: the others install while it works.
$(DEPS)/.deps-demo $(DEPS)/.deps-test: | $(DEPS)/.deps-build

$(DEPS)/.deps-%: tools/deps.sh
	@mkdir -p $(@D)
	@CC='$(CC)' CPPFLAGS='$(CPPFLAGS)' VENV=$(VENV) sh tools/deps.sh $*
	@touch $@

# ---- Installation ----

bindir = $(DESTDIR)$(PREFIX)/bin
libdir = $(DESTDIR)$(PREFIX)/lib
includedir = $(DESTDIR)$(PREFIX)/include
sharedir = $(DESTDIR)$(PREFIX)/share
docdir = $(sharedir)/doc/libufunc
# Documents and what they link to, in the folders of the repository, so that the links lead there.
DOCS = README.md HACKING.md LICENSE $(shell find docs examples layouts modules -type f ! -name '.*')

install: all
	install -d $(bindir) $(libdir)/pkgconfig $(includedir) $(docdir)/include
	install -m 644 include/ufunc.h include/ufunc.hpp $(includedir)
	install -m 755 $(BUILD)/libufunc.so $(libdir)/libufunc.so.$(VERSION)
	ln -sf libufunc.so.$(VERSION) $(libdir)/$(SONAME)
	ln -sf $(SONAME) $(libdir)/libufunc.so
	install -m 644 $(BUILD)/libufunc.a $(libdir)/libufunc.a
	install -m 644 $(BUILD)/ufunc.pc $(libdir)/pkgconfig/ufunc.pc
	install -m 755 $(BUILD)/ufunc $(bindir)/ufunc
	@for file in $(DOCS); do install -D -m 644 $$file $(docdir)/$$file || exit 1; done
	ln -sf ../../../../include/ufunc.h ../../../../include/ufunc.hpp $(docdir)/include
	@cd $(BUILD)/share && find . -type f ! -name .made | while read -r file; do \
	    install -D -m 644 $$file $(abspath $(sharedir))/$$file || exit 1; done

uninstall:
	rm -f $(includedir)/ufunc.h $(includedir)/ufunc.hpp $(libdir)/libufunc.so.$(VERSION) $(libdir)/$(SONAME) $(libdir)/libufunc.so \
	    $(libdir)/libufunc.a $(libdir)/pkgconfig/ufunc.pc $(bindir)/ufunc $(addprefix $(docdir)/,$(DOCS)) $(docdir)/include/ufunc.h*
	rm -f $(sharedir)/man/man1/ufunc.1 $(sharedir)/man/man1/ufunc-*.1 $(MAPPED:%=$(sharedir)/man/man3/%.3) \
	    $(sharedir)/man/man3/libufunc.3 $(sharedir)/bash-completion/completions/ufunc $(sharedir)/zsh/site-functions/_ufunc
	-find $(docdir) -depth -type d -exec rmdir {} +

clean:
	rm -rf $(BUILD)

-include $(wildcard $(BUILD)/obj/*/*.d $(BUILD)/obj/*/*/*.d $(BUILD)/test/obj/*.d $(BUILD)/test/inside/*/*.d $(BUILD)/test/inside/*/*/*.d $(BUILD)/examples/*.d $(BUILD)/perf/*.d)

.PHONY: all deps programs demo test newcomer test-programs test-gpu accuracy catalogue bench coverage mutants fuzz lint asan tsan abi install uninstall clean FORCE
.SECONDARY:
