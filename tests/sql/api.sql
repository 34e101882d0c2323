-- The interface of the extension, pinned: what is changed here changes for every user.
SELECT plan(50);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

-- ---- functions, aggregates, windows ----

SELECT results_eq($$
  SELECT signature, kind, arguments, result, volatility, strict, parallel
  FROM interface
  WHERE proname !~ '^(hmm|lda|nmf|pmf|linreg|logreg|probit|nb)_|^bmm_fit_stat'
    AND signature <> 'rollup(linreg_stats)'
    AND proname !~ '_(parameters|profile)$|^bayes_(match|comp)'
    AND proname !~ '_(pdf|cdf|quantile)$|^(beta|gamma|dirichlet|normal)_|^mh_'
    AND (proname !~ '_draws$' OR proname ~ '^(bayes|dpmm)_')
    AND (proname !~ '_model$|dpmm_fit' OR arguments !~ '^query') -- query_fits.sql
    AND signature !~ -- wrong_forms.sql
      '_fit\((double precision,double precision,integer\)|anynonarray|.*smallint)'
    AND arguments !~ '^x (record|double precision|boolean)(,|$)' -- own files; other forms of rows
  ORDER BY signature COLLATE "C"$$, $$VALUES
  ('bayes_columns(bayes_model)', 'function', 'model bayes_model',
    'TABLE(element integer, name text, kind text, code integer, label text)', 'immutable', true,
    'safe'),
  ('bayes_draws(bayes_model)', 'function', 'model bayes_model',
    'TABLE(chain integer, draw integer, quantity text, value double precision)', 'immutable', true,
    'safe'),
  ('bayes_info(bayes_model)', 'function', 'model bayes_model',
    'TABLE(family text, method text, rows bigint, skipped bigint, dimension integer, components '
    'integer, iterations integer, converged boolean, degenerate integer[], objective double '
    'precision, log_likelihood double precision, seed bigint, seconds double precision, version '
    'text, options jsonb, draws bigint, stored_draws bigint, parameters double precision, bic '
    'double precision, observations double precision, incomplete bigint, entropy double precision)',
    'immutable', true, 'safe'),
  ('bayes_model_cmp(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'integer',
    'immutable', true, 'safe'),
  ('bayes_model_eq(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_model_from_jsonb(jsonb)', 'function', 'jsonb', 'bayes_model', 'immutable', true, 'safe'),
  ('bayes_model_ge(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_model_gt(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_model_hash(bayes_model)', 'function', 'bayes_model', 'integer',
    'immutable', true, 'safe'),
  ('bayes_model_hash_extended(bayes_model,bigint)', 'function', 'bayes_model, bigint', 'bigint',
    'immutable', true, 'safe'),
  ('bayes_model_in(cstring)', 'function', 'cstring', 'bayes_model', 'immutable', true, 'safe'),
  ('bayes_model_le(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_model_lt(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_model_ne(bayes_model,bayes_model)', 'function', 'bayes_model, bayes_model', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_model_out(bayes_model)', 'function', 'bayes_model', 'cstring', 'immutable', true, 'safe'),
  ('bayes_model_recv(internal)', 'function', 'internal', 'bayes_model', 'immutable', true, 'safe'),
  ('bayes_model_send(bayes_model)', 'function', 'bayes_model', 'bytea', 'immutable', true, 'safe'),
  ('bayes_model_to_jsonb(bayes_model)', 'function', 'bayes_model', 'jsonb', 'immutable', true,
    'safe'),
  ('bayes_query_cmp(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'integer',
    'immutable', true, 'safe'),
  ('bayes_query_eq(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_query_ge(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_query_gt(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_query_hash(bayes_query)', 'function', 'bayes_query', 'integer',
    'immutable', true, 'safe'),
  ('bayes_query_hash_extended(bayes_query,bigint)', 'function', 'bayes_query, bigint', 'bigint',
    'immutable', true, 'safe'),
  ('bayes_query_in(cstring)', 'function', 'cstring', 'bayes_query', 'immutable', true, 'safe'),
  ('bayes_query_le(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_query_lt(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_query_ne(bayes_query,bayes_query)', 'function', 'bayes_query, bayes_query', 'boolean',
    'immutable', true, 'safe'),
  ('bayes_query_out(bayes_query)', 'function', 'bayes_query', 'cstring', 'immutable', true, 'safe'),
  ('bayes_query_recv(internal)', 'function', 'internal', 'bayes_query', 'stable', true, 'safe'),
  ('bayes_query_send(bayes_query)', 'function', 'bayes_query', 'bytea', 'stable', true, 'safe'),
  ('bayes_trace(bayes_model)', 'function', 'model bayes_model',
    'TABLE(restart integer, iteration integer, objective double precision)', 'immutable', true,
    'safe'),
  ('bmm_bootstrap(bayes_query,bayes_model)', 'function', 'query bayes_query, model bayes_model',
    'bmm_bootstrap_test', 'volatile', false, 'unsafe'),
  ('bmm_bootstrap(bayes_query,bayes_model,jsonb)', 'function',
    'query bayes_query, model bayes_model, options jsonb', 'bmm_bootstrap_test', 'volatile', false,
    'unsafe'),
  ('bmm_cluster(anyarray,integer)', 'window', 'x anyarray, k integer', 'integer', 'stable',
    false, 'safe'),
  ('bmm_cluster(anyarray,integer,jsonb)', 'window', 'x anyarray, k integer, options jsonb',
    'integer', 'stable', false, 'safe'),
  ('bmm_components(bayes_model)', 'function', 'model bayes_model',
    'TABLE(component integer, weight double precision, probability double precision[], count '
    'double precision)', 'immutable', true, 'safe'),
  ('bmm_fit(anyarray,bayes_model)', 'aggregate', 'x anyarray, start bayes_model', 'bayes_model',
    'immutable', false, 'safe'),
  ('bmm_fit(anyarray,bayes_model,jsonb)', 'aggregate',
    'x anyarray, start bayes_model, options jsonb', 'bayes_model', 'immutable', false, 'safe'),
  ('bmm_fit(anyarray,bayes_model,jsonb,double precision)', 'aggregate',
    'x anyarray, start bayes_model, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('bmm_fit(anyarray,integer)', 'aggregate', 'x anyarray, k integer', 'bayes_model', 'immutable',
    false, 'safe'),
  ('bmm_fit(anyarray,integer,jsonb)', 'aggregate', 'x anyarray, k integer, options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('bmm_fit(anyarray,integer,jsonb,double precision)', 'aggregate',
    'x anyarray, k integer, options jsonb, weight double precision', 'bayes_model', 'immutable',
    false, 'safe'),
  ('bmm_fit(bayes_query,integer)', 'function', 'query bayes_query, k integer',
    'TABLE(component integer, weight double precision, probability double precision[], count '
    'double precision)', 'volatile', false, 'unsafe'),
  ('bmm_fit(bayes_query,integer,jsonb)', 'function', 'query bayes_query, k integer, options jsonb',
    'TABLE(component integer, weight double precision, probability double precision[], count '
    'double precision)', 'volatile', false, 'unsafe'),
  ('bmm_log_density(bayes_model,"any")', 'function', 'model bayes_model, x "any"',
    'double precision', 'stable', true, 'safe'),
  ('bmm_log_density_mcse(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision', 'stable', true, 'safe'),
  ('bmm_moments(bayes_model)', 'function', 'model bayes_model',
    'TABLE(mean double precision[], covariance double precision[])', 'immutable', true, 'safe'),
  ('bmm_posterior(bayes_model)', 'function', 'model bayes_model',
    'TABLE(component integer, alpha double precision, a double precision[], b double precision[])',
    'immutable', true, 'safe'),
  ('bmm_predict(bayes_model,"any")', 'function', 'model bayes_model, x "any"', 'integer',
    'stable', true, 'safe'),
  ('bmm_probabilities(bayes_model,"any")', 'function', 'model bayes_model, x "any"',
    'double precision[]', 'stable', true, 'safe'),
  ('bmm_probabilities_mcse(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision[]', 'stable', true, 'safe'),
  ('bmm_sample(bayes_model,integer,bigint)', 'function',
    'model bayes_model, n integer, seed bigint', 'TABLE(component integer, x double precision[])',
    'immutable', true, 'safe'),
  ('bmm_select(anyarray,integer[])', 'aggregate', 'x anyarray, ks integer[]', 'bmm_selection[]',
    'immutable', false, 'safe'),
  ('bmm_select(anyarray,integer[],jsonb)', 'aggregate', 'x anyarray, ks integer[], options jsonb',
    'bmm_selection[]', 'immutable', false, 'safe'),
  ('bmm_select(bayes_query,integer[])', 'function', 'query bayes_query, ks integer[]',
    'SETOF bmm_selection', 'volatile', false, 'unsafe'),
  ('bmm_select(bayes_query,integer[],jsonb)', 'function',
    'query bayes_query, ks integer[], options jsonb', 'SETOF bmm_selection', 'volatile', false,
    'unsafe'),
  ('bmm_update(anyarray,bayes_model)', 'aggregate', 'x anyarray, prior bayes_model', 'bayes_model',
    'immutable', false, 'safe'),
  ('bmm_update(anyarray,bayes_model,jsonb)', 'aggregate',
    'x anyarray, prior bayes_model, options jsonb', 'bayes_model', 'immutable', false, 'safe'),
  ('bmm_update(anyarray,bayes_model,jsonb,double precision)', 'aggregate',
    'x anyarray, prior bayes_model, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('dpmm_cluster(bayes_query)', 'function', 'query bayes_query',
    'TABLE(id text, cluster integer, probability double precision, mcse double precision)',
    'volatile', false, 'unsafe'),
  ('dpmm_cluster(bayes_query,jsonb)', 'function', 'query bayes_query, options jsonb',
    'TABLE(id text, cluster integer, probability double precision, mcse double precision)',
    'volatile', false, 'unsafe'),
  ('dpmm_cluster(double precision[])', 'window', 'x double precision[]', 'integer', 'stable',
    false, 'safe'),
  ('dpmm_cluster(double precision[],jsonb)', 'window', 'x double precision[], options jsonb',
    'integer', 'stable', false, 'safe'),
  ('dpmm_clusters(bayes_model)', 'function', 'model bayes_model',
    'TABLE(cluster integer, weight double precision, mean double precision[], covariance double '
    'precision[], count bigint)', 'immutable', true, 'safe'),
  ('dpmm_credible_bounds(bayes_query)', 'function', 'query bayes_query',
    'TABLE(id text, cluster integer, upper integer, lower integer, horizontal integer)',
    'volatile', false, 'unsafe'),
  ('dpmm_credible_bounds(bayes_query,jsonb)', 'function', 'query bayes_query, options jsonb',
    'TABLE(id text, cluster integer, upper integer, lower integer, horizontal integer)',
    'volatile', false, 'unsafe'),
  ('dpmm_draws(bayes_model)', 'function', 'model bayes_model',
    'TABLE(chain integer, draw integer, clusters integer, concentration double precision, '
    'log_joint double precision)', 'immutable', true, 'safe'),
  ('dpmm_estimate(bayes_model)', 'function', 'model bayes_model',
    'TABLE(estimate text, clusters integer, expected_loss double precision, optimal boolean, '
    'level double precision, radius double precision, fewest_clusters integer, most_clusters '
    'integer, draws integer, mcse double precision)', 'immutable', true, 'safe'),
  ('dpmm_fit(double precision[])', 'aggregate', 'x double precision[]', 'bayes_model', 'immutable',
    false, 'safe'),
  ('dpmm_fit(double precision[],jsonb)', 'aggregate', 'x double precision[], options jsonb',
    'bayes_model', 'immutable', false, 'safe'),
  ('dpmm_log_density(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision', 'stable', true, 'safe'),
  ('dpmm_log_density_mcse(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision', 'stable', true, 'safe'),
  ('dpmm_predict(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'integer', 'stable', true, 'safe'),
  ('dpmm_probabilities(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision[]', 'stable', true, 'safe'),
  ('dpmm_probabilities_mcse(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision[]', 'stable', true, 'safe'),
  ('dpmm_similarity(bayes_query)', 'function', 'query bayes_query',
    'TABLE(id1 text, id2 text, probability double precision, mcse double precision)', 'volatile',
    false, 'unsafe'),
  ('dpmm_similarity(bayes_query,jsonb)', 'function', 'query bayes_query, options jsonb',
    'TABLE(id1 text, id2 text, probability double precision, mcse double precision)', 'volatile',
    false, 'unsafe'),
  ('ess_bulk(double precision)', 'aggregate', 'value double precision', 'double precision',
    'immutable', false, 'safe'),
  ('ess_bulk(double precision,integer)', 'aggregate', 'value double precision, chain integer',
    'double precision', 'immutable', false, 'safe'),
  ('ess_tail(double precision)', 'aggregate', 'value double precision', 'double precision',
    'immutable', false, 'safe'),
  ('ess_tail(double precision,integer)', 'aggregate', 'value double precision, chain integer',
    'double precision', 'immutable', false, 'safe'),
  ('gmm_cluster(double precision[],integer)', 'window', 'x double precision[], k integer',
    'integer', 'immutable', false, 'safe'),
  ('gmm_cluster(double precision[],integer,jsonb)', 'window',
    'x double precision[], k integer, options jsonb', 'integer', 'immutable', false, 'safe'),
  ('gmm_components(bayes_model)', 'function', 'model bayes_model',
    'TABLE(component integer, weight double precision, mean double precision[], covariance double '
    'precision[], count double precision)', 'immutable', true, 'safe'),
  ('gmm_fit(bayes_query,integer)', 'function', 'query bayes_query, k integer',
    'TABLE(component integer, weight double precision, mean double precision[], covariance double '
    'precision[], count double precision)', 'volatile', false, 'unsafe'),
  ('gmm_fit(bayes_query,integer,jsonb)', 'function', 'query bayes_query, k integer, options jsonb',
    'TABLE(component integer, weight double precision, mean double precision[], covariance double '
    'precision[], count double precision)', 'volatile', false, 'unsafe'),
  ('gmm_fit(double precision[],bayes_model)', 'aggregate',
    'x double precision[], start bayes_model', 'bayes_model', 'immutable', false, 'safe'),
  ('gmm_fit(double precision[],bayes_model,jsonb)', 'aggregate',
    'x double precision[], start bayes_model, options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('gmm_fit(double precision[],bayes_model,jsonb,double precision)', 'aggregate',
    'x double precision[], start bayes_model, options jsonb, weight double precision',
    'bayes_model', 'immutable', false, 'safe'),
  ('gmm_fit(double precision[],integer)', 'aggregate', 'x double precision[], k integer',
    'bayes_model', 'immutable', false, 'safe'),
  ('gmm_fit(double precision[],integer,jsonb)', 'aggregate',
    'x double precision[], k integer, options jsonb', 'bayes_model', 'immutable', false, 'safe'),
  ('gmm_fit(double precision[],integer,jsonb,double precision)', 'aggregate',
    'x double precision[], k integer, options jsonb, weight double precision', 'bayes_model',
    'immutable', false, 'safe'),
  ('gmm_log_density(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision', 'immutable', true, 'safe'),
  ('gmm_log_density_mcse(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision', 'immutable', true, 'safe'),
  ('gmm_posterior(bayes_model)', 'function', 'model bayes_model',
    'TABLE(component integer, alpha double precision, m double precision[], c double precision, s '
    'double precision[], a double precision, b double precision[])', 'immutable', true, 'safe'),
  ('gmm_predict(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'integer', 'immutable', true, 'safe'),
  ('gmm_probabilities(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision[]', 'immutable', true, 'safe'),
  ('gmm_probabilities_mcse(bayes_model,"any")', 'function',
    'model bayes_model, x "any"', 'double precision[]', 'immutable', true, 'safe'),
  ('gmm_sample(bayes_model,integer,bigint)', 'function',
    'model bayes_model, n integer, seed bigint', 'TABLE(component integer, x double precision[])',
    'immutable', true, 'safe'),
  ('gmm_select(bayes_query,integer[])', 'function', 'query bayes_query, ks integer[]',
    'SETOF gmm_selection', 'volatile', false, 'unsafe'),
  ('gmm_select(bayes_query,integer[],jsonb)', 'function',
    'query bayes_query, ks integer[], options jsonb', 'SETOF gmm_selection', 'volatile', false,
    'unsafe'),
  ('gmm_select(double precision[],integer[])', 'aggregate', 'x double precision[], ks integer[]',
    'gmm_selection[]', 'immutable', false, 'safe'),
  ('gmm_select(double precision[],integer[],jsonb)', 'aggregate',
    'x double precision[], ks integer[], options jsonb', 'gmm_selection[]', 'immutable', false,
    'safe'),
  ('gmm_update(double precision[],bayes_model)', 'aggregate',
    'x double precision[], prior bayes_model', 'bayes_model', 'immutable', false, 'safe'),
  ('gmm_update(double precision[],bayes_model,jsonb)', 'aggregate',
    'x double precision[], prior bayes_model, options jsonb', 'bayes_model', 'immutable', false,
    'safe'),
  ('gmm_update(double precision[],bayes_model,jsonb,double precision)', 'aggregate',
    'x double precision[], prior bayes_model, options jsonb, weight double precision',
    'bayes_model', 'immutable', false, 'safe'),
  ('mcse(double precision)', 'aggregate', 'value double precision', 'double precision', 'immutable',
    false, 'safe'),
  ('mcse(double precision,integer)', 'aggregate', 'value double precision, chain integer',
    'double precision', 'immutable', false, 'safe'),
  ('rhat(double precision)', 'aggregate', 'value double precision', 'double precision', 'immutable',
    false, 'safe'),
  ('rhat(double precision,integer)', 'aggregate', 'value double precision, chain integer',
    'double precision', 'immutable', false, 'safe'),
  ('rollup(bayes_model)', 'aggregate', 'model bayes_model', 'bayes_model', 'immutable', false,
    'safe')$$, 'the functions that users call');
SELECT set_eq($$
  SELECT proname, kind, arguments, result, volatility, strict, parallel FROM interface
  WHERE arguments ~ '^x (record|double precision|boolean)(,|$)' AND proname ~ '^[a-z]*mm_'
    AND arguments !~ 'smallint'$$, $$
  SELECT proname, kind,
    regexp_replace(arguments, '^x (anyarray|double precision\[\])', 'x ' || form), result,
    volatility, strict, parallel
  FROM interface, unnest(ARRAY['record', 'double precision', 'boolean']) AS form
  WHERE arguments ~ '^x (anyarray|double precision\[\])' AND proname ~ '^(gmm|bmm|dpmm)_'
    AND NOT (form = 'boolean' AND proname ~ '^gmm')$$,
  'what takes arrays of numbers takes records and single values');
SELECT never($$SELECT signature, NOT 'internal'::regtype = ANY (proargtypes::oid[]) AS wrong
  FROM functions WHERE internal$$,
  'the others take arguments of type internal, which SQL cannot give');
SELECT never($$SELECT signature, (provolatile <> 'i' OR proparallel <> 's') AS wrong FROM functions
  WHERE internal$$, 'and do nothing that hinders a plan');
-- What depends on the order of the rows cannot: parallel workers would change it.
SELECT never($$SELECT signature,
  (proname IN ('dpmm_fit', 'rhat', 'ess_bulk', 'ess_tail', 'mcse')
    OR proname ~ '^(hmm|lda|nmf|pmf)_|_profile$') <> (aggcombinefn = 0)
  OR (aggcombinefn = 0) <> (aggserialfn = 0)
  OR (aggcombinefn = 0) <> (aggdeserialfn = 0) OR aggfinalfn = 0 AS wrong FROM functions f
  JOIN pg_aggregate a ON a.aggfnoid = f.oid$$,
  'every aggregate for which order is nothing can be computed in parallel');
-- The first row of a moving frame is taken away from these.
SELECT never($$SELECT signature,
  (proname = 'linreg_stats'
    OR proname ~ '^(beta_bernoulli|gamma_poisson|normal_inverse_gamma|dirichlet_categorical)_fit$')
  <> (aggminvtransfn <> 0)
  OR aggminvtransfn <> 0 AND (aggmtransfn <> aggtransfn OR aggmfinalfn <> aggfinalfn
    OR aggmtranstype <> aggtranstype OR aggminitval IS DISTINCT FROM agginitval) AS wrong
  FROM functions f JOIN pg_aggregate a ON a.aggfnoid = f.oid$$,
  'sums move along a window, and are what they are elsewhere');
SELECT never($$SELECT signature, a.aggtransspace
  <> CASE WHEN proname ~ '^(rhat|ess_bulk|ess_tail|mcse)$|_profile$' OR
      signature = 'rollup(bayes_model)' THEN 32768
    WHEN proname ~ '^linreg' OR signature = 'rollup(linreg_stats)' THEN 16384
    WHEN proname ~ '^nb_' THEN 65536
    WHEN proname = 'dirichlet_categorical_fit' THEN 8192
    WHEN proname ~ '^(beta|gamma|normal)_' THEN 256
    ELSE 64 * 1024 * 1024 END AS wrong FROM functions f
  JOIN pg_aggregate a ON a.aggfnoid = f.oid$$, 'and tells the planner how large its state is');
-- Documents and cells are sorted once.
SELECT never($$SELECT signature, a.aggfinalmodify <> CASE WHEN proname ~ '^(lda|nmf|pmf)_' THEN 's'
  ELSE 'r' END OR a.aggkind <> 'n' AS wrong FROM functions f
  JOIN pg_aggregate a ON a.aggfnoid = f.oid$$,
  'its final function may run again on a growing state');
-- A query text is code of the caller's: such functions must be volatile, and must not run in a
-- parallel worker.
SELECT never($$SELECT signature, (provolatile <> 'v' OR proparallel <> 'u' OR proisstrict) AS wrong
  FROM functions WHERE 'query' = ANY (proargnames)$$,
  'functions of a query text are volatile and unsafe for parallel plans');
SELECT never($$SELECT signature, prosecdef AS wrong FROM functions$$,
  'no function is SECURITY DEFINER');
SELECT never($$SELECT signature, proleakproof AS wrong FROM functions$$,
  'none claims to be leakproof');
SELECT never($$SELECT signature, lanname NOT IN ('c', 'internal')
  AND NOT coalesce(proconfig::text LIKE '%search_path%', false) AS wrong FROM functions
  JOIN pg_language l ON l.oid = prolang$$, 'none depends on search_path');

-- ---- types, casts ----

SELECT results_eq($$SELECT objid::regtype::text FROM members
  WHERE classid = 'pg_type'::regclass ORDER BY 1$$, $$VALUES ('bayes_model'),
  ('bayes_probability'), ('bayes_profile'), ('bayes_query'), ('bmm_bootstrap_test'),
  ('bmm_selection'), ('bmm_statistics'),
  ('gmm_selection'), ('hmm_selection'), ('linreg_prediction'), ('linreg_stats')$$, 'the types');
SELECT results_eq($$SELECT format('%s %s', attname,
  format_type(atttypid, atttypmod)) COLLATE "default" FROM pg_attribute
WHERE attrelid = 'gmm_selection'::regclass AND attnum > 0 ORDER BY attnum$$,
  $$VALUES ('k integer'), ('covariance text'), ('method text'), ('objective double precision'),
    ('log_likelihood double precision'), ('parameters double precision'), ('bic double precision'),
    ('icl double precision'), ('elbo double precision'), ('converged boolean'),
    ('degenerate boolean'), ('model bayes_model'), ('best boolean'), ('reason text')$$,
  'the columns of gmm_selection');
SELECT results_eq($$SELECT attname FROM pg_attribute
  WHERE attrelid = 'hmm_selection'::regclass AND attnum > 0 ORDER BY attnum$$,
  $$SELECT attname FROM pg_attribute WHERE attrelid = 'bmm_selection'::regclass AND attnum > 0
    AND attname <> 'icl' ORDER BY attnum$$, 'those of hmm_selection, without icl');
SELECT results_eq($$SELECT castsource::regtype::text, casttarget::regtype::text, castcontext::text
  FROM members JOIN pg_cast c ON classid = 'pg_cast'::regclass AND objid = c.oid ORDER BY 1, 2$$,
  $$VALUES ('bayes_model', 'jsonb', 'a'), ('bayes_query', 'text', 'a'),
    ('character', 'bayes_query', 'e'), ('character varying', 'bayes_query', 'e'),
    ('jsonb', 'bayes_model', 'e'), ('jsonb', 'linreg_stats', 'e'), ('linreg_stats', 'jsonb', 'a'),
    ('name', 'bayes_query', 'e'), ('text', 'bayes_query', 'e')$$,
  'the casts: from the types on assignment, to them when asked for');
SELECT results_eq($$SELECT typname::text COLLATE "default", typcategory::text, typispreferred
  FROM pg_type WHERE typname IN ('bayes_model', 'bayes_query') ORDER BY 1$$,
  $$VALUES ('bayes_model', 'U', false), ('bayes_query', 'S', false)$$,
  'a literal is taken for a query, and for nothing else');
SELECT results_eq($$SELECT objid::regoperator::text FROM members
  WHERE classid = 'pg_operator'::regclass ORDER BY objid::regoperator::text COLLATE "C"$$,
  $$SELECT format('%s(%s,%2$s)', name, type) FROM unnest('{<,<=,<>,=,>,>=}'::text[]) AS name,
    unnest('{bayes_model,bayes_query,linreg_stats}'::text[]) AS type
    ORDER BY format('%s(%s,%2$s)', name, type) COLLATE "C"$$, 'the operators');
SELECT results_eq($$SELECT amname::text COLLATE "default", opcdefault FROM members
  JOIN pg_opclass c ON classid = 'pg_opclass'::regclass AND objid = c.oid
  JOIN pg_am a ON a.oid = opcmethod WHERE opcintype = ANY (
    '{bayes_model,bayes_query,linreg_stats}'::regtype[]) ORDER BY 1$$,
  $$VALUES ('btree', true), ('btree', true), ('btree', true), ('hash', true), ('hash', true),
    ('hash', true)$$, 'the operator classes');
SELECT never($$SELECT classid::regclass, objid,
  classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass,
    'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass)
  AND NOT (classid = 'pg_class'::regclass AND objid = 'gmm_selection'::regclass) AS wrong
  FROM members$$, 'nothing else is installed');

-- ---- words for every object ----

SELECT never($$SELECT signature, length(coalesce(obj_description(oid, 'pg_proc'), '')) < 20 AS wrong
  FROM functions$$, 'every function has a comment');
SELECT never($$SELECT objid::regoperator, obj_description(objid, 'pg_operator') IS NULL AS wrong
  FROM members WHERE classid = 'pg_operator'::regclass$$, 'so has every operator');
SELECT never($$SELECT castsource::regtype, casttarget::regtype,
  obj_description(objid, 'pg_cast') IS NULL AS wrong
  FROM members JOIN pg_cast c ON classid = 'pg_cast'::regclass AND objid = c.oid$$,
  'so has every cast');
SELECT never($$SELECT objid::regtype, length(coalesce(obj_description(objid, 'pg_type'), ''))
  < 20 AS wrong FROM members WHERE classid = 'pg_type'::regclass$$, 'every type has a comment');
SELECT never($$SELECT signature, obj_description(oid, 'pg_proc') NOT LIKE 'Internal. %' AS wrong
  FROM functions WHERE internal$$, 'comments on internal functions say so');
SELECT never($$SELECT signature,
  EXISTS (SELECT FROM unnest(proargnames) name WHERE name IS NULL OR name = '') AS wrong
  FROM functions WHERE NOT internal AND proname !~ '^bayes_(model|query)_'$$,
  'arguments have names');
SELECT lives_ok($$SELECT gmm_predict(model => m, x => '{1,2}'),
  gmm_log_density(x => '{1,2}', model => m) FROM (SELECT gmm_fit(x, 1) AS m FROM faithful) AS f$$,
  'which can be used');
SELECT lives_ok($$SELECT *
  FROM gmm_fit(query => 'SELECT x FROM faithful', k => 2, options => '{"seed": 5}')$$,
  'also to say that a text is a query');
SELECT lives_ok($$SELECT *
  FROM dpmm_cluster(query => 'SELECT id, x FROM faithful', options => '{"draws": 4}'),
  dpmm_similarity(options => '{"draws": 4}', query => 'SELECT id, x FROM galaxies'),
  dpmm_credible_bounds(options => '{"draws": 4}', query => 'SELECT id, x FROM galaxies LIMIT 2')$$,
  'of Dirichlet process mixtures too');
SELECT lives_ok($$SELECT dpmm_predict(x => '{1,2}', model => m),
  dpmm_probabilities(model => m, x => '{1,2}'), dpmm_log_density(model => m, x => '{1,2}')
  FROM (SELECT dpmm_fit(x, '{"draws": 4}') AS m FROM faithful) AS f, dpmm_clusters(model => m),
  dpmm_estimate(model => m), dpmm_draws(model => m), bayes_draws(model => m)$$,
  'and of their models');
SELECT lives_ok($$SELECT *
  FROM hmm_decode(query => 'SELECT 1, array_agg(x[1] ORDER BY id) FROM faithful', k => 2,
  options => '{"seed": 5}')$$, 'of hidden Markov models too');
SELECT lives_ok($$SELECT hmm_decode(model => m, sequence => s),
  hmm_probabilities(sequence => s, model => m), hmm_filter(model => m, sequence => s),
  hmm_log_likelihood(model => m, sequence => s)
  FROM (SELECT hmm_fit(s, 2, '{"method": "vi"}') AS m, min(s) AS s
  FROM (SELECT array_agg(x[1] ORDER BY id) AS s FROM faithful) AS g) AS f,
  hmm_paths(model => m, sequence => s, n => 2), hmm_predict(model => m, sequence => s),
  hmm_states(model => m), hmm_transitions(model => m), hmm_emissions(model => m),
  hmm_posterior(model => m), hmm_parameters(level => 0.9, model => m),
  hmm_sample(model => m, n => 2, seed => 1),
  hmm_predict(model => m, sequence => s, horizon => 2, level => 0.9) AS ahead,
  hmm_sample(model => m, sequence => s, horizon => 2, draws => 1, seed => 1) AS after$$,
  'and of theirs');
SELECT lives_ok($$SELECT hmm_decode(model => m, observation => x[1]) OVER w,
  hmm_probabilities(observation => x[1], model => m) OVER w,
  hmm_filter(model => m, observation => x[1]) OVER w FROM faithful,
  (SELECT hmm_fit(s, 2, '{"method": "vi"}') AS m
  FROM (SELECT array_agg(x[1] ORDER BY id) AS s FROM faithful) AS g) AS f
WINDOW w AS (ORDER BY id)$$, 'in windows too');

-- ---- installed elsewhere, by someone else, and removed ----

SELECT is((SELECT extrelocatable FROM pg_extension WHERE extname = 'pg_bayes'), true,
  'the extension is relocatable');
CREATE SCHEMA elsewhere;
ALTER EXTENSION pg_bayes SET SCHEMA elsewhere;
SELECT is((SELECT count(*) FROM functions WHERE pronamespace <> 'elsewhere'::regnamespace),
  0::bigint, 'all of it moves');
SELECT is((SELECT round(sum(c.weight)::numeric, 9)
  FROM (SELECT elsewhere.gmm_fit(x, 2) AS m FROM faithful) AS f, elsewhere.gmm_components(m) AS c),
  1.0, 'and works there');
SELECT is((SELECT array_length(elsewhere.gmm_select(x, '{1,2}'), 1) FROM faithful), 2,
  'types are found wherever they are');
SELECT is((SELECT count(*) FROM elsewhere.gmm_select('SELECT x FROM faithful', '{1,2}')), 2::bigint,
  'by relations too');
SELECT is((SELECT sum(c.count)
  FROM (SELECT elsewhere.dpmm_fit(x, '{"draws": 4}') AS m FROM faithful) AS f,
  elsewhere.dpmm_clusters(m) AS c), 272::numeric, 'Dirichlet process mixtures work there');
SELECT is((SELECT count(*)
  FROM elsewhere.dpmm_cluster('SELECT id, x FROM faithful', '{"draws": 4}')), 272::bigint,
  'in relations');
SELECT is((SELECT count(*)
  FROM elsewhere.hmm_decode('SELECT 1, array_agg(x[1] ORDER BY id) FROM faithful', 2)), 272::bigint,
  'and hidden Markov models');
SELECT is((SELECT elsewhere.lda_predict(m, 'x:1'::tsvector)
  FROM (SELECT elsewhere.lda_fit('x:1 y:2'::tsvector, 1) AS m) AS f), 1, 'topic models too');
SELECT is((SELECT count(*) FROM elsewhere.nmf_factorize('SELECT 1, 2, 3', 1)), 2::bigint,
  'and factorizations');
SELECT is((SELECT count(*) FROM (SELECT elsewhere.pmf_fit(1, 2, 3, 1, '{"draws": 4}') AS m) AS f,
  elsewhere.pmf_predict(m, 1, 1)), 1::bigint, 'of ratings too');
SELECT is((SELECT elsewhere.ess_bulk(value, chain ORDER BY chain, draw) IS NOT NULL
  FROM (SELECT elsewhere.dpmm_fit(x, '{"draws": 60}') AS m FROM faithful) AS f,
  elsewhere.bayes_draws(m) WHERE quantity = 'log_joint'), true, 'and so do diagnostics');
DROP VIEW interface, functions, members;
DROP FUNCTION timeless;
DROP EXTENSION pg_bayes;
SELECT is((SELECT count(*) FROM pg_proc WHERE pronamespace = 'elsewhere'::regnamespace), 0::bigint,
  'DROP EXTENSION leaves nothing');
CREATE EXTENSION pg_bayes SCHEMA elsewhere;
SELECT is((SELECT round(sum(c.weight)::numeric, 9)
  FROM (SELECT elsewhere.gmm_fit(x, 2) AS m FROM faithful) AS f, elsewhere.gmm_components(m) AS c),
  1.0, 'it is made again in a schema of choice');
CREATE TABLE kept AS SELECT elsewhere.gmm_fit(x, 2) AS model FROM faithful;
SELECT throws_ok('DROP EXTENSION pg_bayes', '2BP01', NULL, 'what is in use is not dropped');
DROP EXTENSION pg_bayes CASCADE;
SELECT has_table('kept');
SELECT hasnt_column('kept', 'model', 'unless with CASCADE: the column goes, the table stays');
SELECT * FROM finish();
