// The only include of PostgreSQL's headers; undoes their redefinitions of library names.
//
// PostgreSQL redefines names of the C library as macros (snprintf, printf, strerror, gettext); a
// standard C++ header read after that no longer compiles. These are undone here, so that the order
// of includes does not matter.
#pragma once
#pragma GCC system_header  // PostgreSQL's headers are C: our warnings are not about them

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/tsmapi.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_authid_d.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "common/base64.h"
#include "common/jsonapi.h"
#include "common/string.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "foreign/foreign.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "rewrite/rewriteManip.h"
#include "storage/buffile.h"
#include "tcop/dest.h"
#include "tsearch/ts_type.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/jsonb.h"
#include "utils/jsonfuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/plancache.h"
#include "utils/regproc.h"
#include "utils/resowner.h"
#include "utils/rls.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"
#include "utils/varlena.h"
#include "windowapi.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
}

#undef snprintf
#undef vsnprintf
#undef sprintf
#undef vsprintf
#undef printf
#undef vprintf
#undef fprintf
#undef vfprintf
#undef strerror
#undef strerror_r
#undef gettext
#undef dgettext
#undef ngettext
#undef dngettext
#undef Min
#undef Max
#undef Abs
