// The magic block and the settings (GUC variables).
#include "document/model.hpp"
#include "pg/server/catalog_changes.hpp"
#include "pg/server/server_control.hpp"

#pragma GCC visibility push(default)
extern "C" {
#ifdef PG_MODULE_MAGIC_EXT  // PostgreSQL 18
PG_MODULE_MAGIC_EXT(.name = "pg_bayes", .version = bayes::library_version);
#else
PG_MODULE_MAGIC;
#endif
void _PG_init(void);
}

void _PG_init(void) {
  DefineCustomIntVariable("pg_bayes.threads", "Number of threads that one fit may use.",
                          "0 means max_parallel_workers_per_gather + 1, but no more than there are "
                          "processors. Results do not depend on it.",
                          &bayes::pg::threads_setting, 0, 0, bayes::pg::max_threads_limit,
                          PGC_USERSET, 0, nullptr, nullptr, nullptr);
  DefineCustomIntVariable(
      "pg_bayes.max_threads",
      "Maximum number of threads of one fit, whatever the value of pg_bayes.threads.",
      "For the administrator: only superusers, and roles that they grant it "
      "to, may change it. The default is the number of processors.",
      &bayes::pg::max_threads_setting, bayes::pg::usable_processors(), 1,
      bayes::pg::max_threads_limit, PGC_SUSET, 0, nullptr, nullptr, nullptr);
  DefineCustomBoolVariable("pg_bayes.progress", "Shows the progress of a fit as INFO messages.",
                           nullptr, &bayes::pg::progress_setting, false, PGC_USERSET, 0, nullptr,
                           nullptr, nullptr);
  bayes::pg::watch_catalogs();
  EmitWarningsOnPlaceholders("pg_bayes");
}
#pragma GCC visibility pop
