# pg_bayes: build, install, test.
#
#   make && make install && make installcheck      against the PostgreSQL that pg_config belongs to
#   make help                                      everything else
#
# The kernel library comes from CMake (CMakeLists.txt), the module around it from PostgreSQL's own
# PGXS. LEVELS says for which instruction set levels of x86-64 the library is built: native (for the
# best that this machine runs; the default), all (for a package), or a list in quotes. Not given, it
# stays what it was in this build directory.
#
# KERNELDIR is where packages for several PostgreSQL share one kernel library: the module looks for
# it there, make install-kernel installs it, and install and clean leave it alone.

PG_CONFIG ?= pg_config
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
PGXS := $(wildcard $(PGXS))

all:

# ---- what needs nothing but make: these install what is missing, then call make again ----

# What can find a wrong answer; then what does it again, for longer or elsewhere.
tests := core sql server scale docs house fuzz
more := charts python statistics sanitize levels long
by_hand := faults

help:
	@echo 'make                build the module and its kernel library'
	@echo 'make LEVELS=all     the same with a library for every instruction set level, for packages'
	@echo 'make install        install them (with the same LEVELS); DESTDIR is honoured'
	@echo 'make installcheck   SQL tests on a running server (PGHOST, PGPORT, PGUSER, ... as for psql)'
	@echo 'make uninstall'
	@echo 'make clean'
	@echo 'make dist           a release of the last commit: build/pg_bayes-VERSION.tar.gz and .zip'
	@echo
	@echo 'On a machine with nothing but git and make; they touch no server and no other directory:'
	@echo 'make deps           install what building and testing needs (Debian, Ubuntu)'
	@echo 'make demo           fit real data on a throwaway server and show the results'
	@echo 'make psql           psql on a throwaway server with the extension and the data of examples'
	@echo 'make test           everything that can find a wrong answer, on throwaway servers;'
	@echo '                    parts: $(addprefix test-,$(tests))'
	@echo '                    make test-core SUITES="bmm gmm" builds and runs these suites alone,'
	@echo '                    make test-sql FILES="bmm gmm" these files; so for server and docs'
	@echo '                    TEST_EFFORT=1 runs what draws at random at its full length'
	@echo 'make check          the same as make test'
	@echo 'make test-quick     what changed, SQL and the rules of the house: a few minutes'
	@echo 'make test-all       that and more: $(addprefix test-,$(more))'
	@echo 'make test-faults    whether the tests find small faults in the kernel; takes hours'
	@echo 'UPDATE_DOCS=1 make test-docs     write what the examples print into the documentation'
	@echo 'make bench          measure speed'
	@echo 'make site           the manual as a static site with search: build/site (by mkdocs)'
	@echo 'make fuzz           fuzz the decoders with libFuzzer, ten minutes each (needs clang)'

deps:
	@tests/lib/deps

test: deps
	@tests/run $(tests)

check: test

# Unit tests of what changed in the last commit or since, all SQL tests and the rules of the house.
test-quick: deps
	@suites=$$(tests/lib/changed); [ -z "$$suites" ] || SUITES="$$suites" tests/run core
	@tests/run sql house

test-all: deps
	@tests/run $(tests) $(more)

$(addprefix test-,$(tests) $(more) $(by_hand)): test-%: deps
	@tests/run $*

demo:
	@tests/lib/deps demo
	@tests/lib/demo

psql:
	@tests/lib/deps demo
	@tests/lib/demo psql

bench: deps
	@tests/lib/bench

fuzz: deps
	@tests/lib/fuzz

site:
	@tests/lib/deps site
	@tests/lib/site

dist:
	@tests/lib/dist

.PHONY: all help deps check test test-quick test-all demo psql bench fuzz site dist \
  $(addprefix test-,$(tests) $(more) $(by_hand))

# ---- what needs PostgreSQL's development files ----

ifeq ($(PGXS),)

all install uninstall installcheck:
	@echo 'pg_config or its files are missing: install PostgreSQL development files (make deps),' \
	  'or set PG_CONFIG' >&2; exit 1

clean:
	rm -rf build pg_bayes.so

.PHONY: install uninstall installcheck clean

else

version := $(shell sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" control/pg_bayes.control)
sources := $(wildcard src/pg/*/*.cpp)
# What a folder's files include takes longer to compile than they do, so they are compiled together.
# The functions of one model are called like those of another, so of models those files are whose
# names begin alike.
unit_of = $(if $(filter src/pg/models/%,$1),models-$(firstword $(subst _, ,$(basename $(notdir \
  $1)))),$(patsubst src/pg/%/,%,$(dir $1)))
units := $(sort $(foreach source,$(sources),$(call unit_of,$(source))))
sources_of = $(strip $(foreach source,$(sort $(sources)), \
  $(if $(filter $1,$(call unit_of,$(source))),$(source))))
fragments := $(sort $(wildcard sql/[0-9]*.sql))

MODULE_big = pg_bayes
OBJS = $(units:%=build/pg/%.o)
EXTENSION = control/pg_bayes
DATA_built = build/pg_bayes--$(version).sql
DATA = $(wildcard sql/updates/*.sql)
EXTRA_CLEAN = $(if $(KERNELDIR),build/pg build/pg_bayes--*.sql,build)
NO_INSTALLCHECK = 1  # PGXS knows pg_regress only; ours is below

# PostgreSQL's headers as system headers: they keep no C++ warning quiet.
PG_CPPFLAGS = -Isrc -isystem $(shell $(PG_CONFIG) --includedir-server)
# Debug information for stack traces alone, as of the kernel: with all of it the module has four
# times the size.
PG_CXXFLAGS = -std=c++20 -O2 -g1 -fvisibility=hidden -fvisibility-inlines-hidden -Wall -Wextra \
  -Wno-register $(if $(findstring clang,$(CXX)),,--param=ggc-min-heapsize=524288)
SHLIB_PREREQS = kernel
SHLIB_LINK = -Lbuild/lib/lowest -lpg_bayes_kernel -lstdc++ \
  -Wl,--enable-new-dtags,-rpath,'$(or $(KERNELDIR),$$ORIGIN)' \
  -Wl,--no-undefined-version,--version-script=src/module.map

# Bitcode for the server's JIT compiler would have clang compile everything once more, for C++ to no
# use.
override with_llvm = no

include $(PGXS)

# CMake is told of the levels when they change, and knows itself what else is out of date. The
# compiler it is told once: named again, even if it is the same, it would begin anew and forget the
# levels.
levels_option := $(if $(LEVELS),-DBAYES_LEVELS='$(LEVELS)')

kernel:
	@if [ ! -e build/CMakeCache.txt ]; then \
	  cmake -S . -B build -DCMAKE_CXX_COMPILER=$(firstword $(CXX)) $(levels_option); \
	elif [ -n '$(LEVELS)' ] && \
	    ! grep -qxF 'BAYES_LEVELS:STRING=$(LEVELS)' build/CMakeCache.txt; then \
	  cmake -S . -B build $(levels_option); \
	fi
	@MAKEFLAGS=--no-print-directory cmake --build build --target kernel --parallel $(JOBS)

# Half of the time of a file went to headers that all files include, so these are compiled first.
# ccache knows single files best, and does not look into such a header unless it is told to.
precompiled := <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <functional> <limits> \
  <memory> <numeric> <optional> <span> <string> <string_view> <unordered_map> <utility> <vector> \
  "document/option_table.hpp" "pg/server/boundary.hpp" "pg/values/model_value.hpp"
header := $(if $(findstring ccache,$(CXX)),,build/pg/precompiled.hpp)
compile = $(CXX) $(CXXFLAGS) $(CPPFLAGS) -MMD -MP

build/pg/precompiled.hpp.gch: Makefile
	@mkdir -p $(@D)
	printf '#include %s\n' $(foreach name,$(precompiled),'$(name)') > $(@:.gch=)
	$(compile) -MF $(@:.gch=.d) -MT $@ -o $@ -x c++-header $(@:.gch=)

# An included source file looks to gcc like a header, where one option would be a mistake.
define unit_object
build/pg/$1.o: $(call sources_of,$1) $(header:=.gch) Makefile
	@mkdir -p $$(@D)
	printf '#include "%s"\n' $(call sources_of,$1) | $$(compile) $(header:%=-include %) \
	  -Wno-subobject-linkage -iquote . -MF $$(@:.o=.d) -MT $$@ -c -o $$@ -x c++ -
endef
# Files that units no longer have: gcc (-MP) gives the first file of a unit no empty rule.
src/pg/%.cpp: ;
$(foreach unit,$(units),$(eval $(call unit_object,$(unit))))

-include $(OBJS:.o=.d) $(header:.hpp=.hpp.d)

# Each file by itself, so that none leans on the includes of another, or on those above.
module-single: $(sources:src/pg/%.cpp=build/pg/single/%.o)
$(sources:src/pg/%.cpp=build/pg/single/%.o): build/pg/single/%.o: src/pg/%.cpp Makefile
	@mkdir -p $(@D)
	$(compile) -c -o $@ $<

-include $(sources:src/pg/%.cpp=build/pg/single/%.d)
.PHONY: module-single

build/pg_bayes--$(version).sql: sql/expand.awk $(fragments) control/pg_bayes.control Makefile
	@mkdir -p $(@D)
	awk -f sql/expand.awk $(fragments) > $@.part && mv $@.part $@

# The lowest level in the directory, as a rule the module's own, the others where the loader looks
# for better ones. What another build may have left there goes: the loader would take it for ours.
kernel_directory := $(or $(KERNELDIR),$(pkglibdir))
install: $(if $(KERNELDIR),,install-kernel)
install-kernel: kernel
	$(MKDIR_P) '$(DESTDIR)$(kernel_directory)'
	rm -f '$(DESTDIR)$(kernel_directory)'/glibc-hwcaps/*/libpg_bayes_kernel.so
	$(INSTALL_SHLIB) build/lib/lowest/libpg_bayes_kernel.so '$(DESTDIR)$(kernel_directory)/'
	set -e; for level in $$(sed 1d build/lib/levels); do \
	  $(MKDIR_P) '$(DESTDIR)$(kernel_directory)/glibc-hwcaps/'$$level; \
	  $(INSTALL_SHLIB) build/lib/$$level/libpg_bayes_kernel.so \
	    '$(DESTDIR)$(kernel_directory)/glibc-hwcaps/'$$level/; \
	done

uninstall: $(if $(KERNELDIR),,uninstall-kernel)
uninstall-kernel:
	rm -f '$(DESTDIR)$(kernel_directory)'/libpg_bayes_kernel.so \
	  '$(DESTDIR)$(kernel_directory)'/glibc-hwcaps/*/libpg_bayes_kernel.so
	-rmdir '$(DESTDIR)$(kernel_directory)'/glibc-hwcaps/* \
	  '$(DESTDIR)$(kernel_directory)'/glibc-hwcaps 2>/dev/null || true

installcheck:
	PATH="$(bindir):$$PATH" tests/run installcheck

.PHONY: kernel install-kernel uninstall-kernel installcheck

endif
