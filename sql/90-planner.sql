-- Aggregation below a join

-- From version 19 on PostgreSQL may make partial states below a join and combine them above it.
-- Rows, counts and exact sums give the same bits then; rounded sums do not. A negative SSPACE keeps
-- the planner from it. But every version then reckons with its default of 8 kB, less than a state
-- of nb_fit takes, so before 19 the sizes are those above.
UPDATE pg_catalog.pg_aggregate SET aggtransspace = -aggtransspace
WHERE current_setting('server_version_num')::int >= 190000
  AND aggcombinefn = '_bayes_sums_combine'::regproc
  AND aggtransfn::text ~ '(_linreg_|_nb_|_bayes_rollup_)';
