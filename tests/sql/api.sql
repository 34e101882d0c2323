-- The interface of the extension, pinned: what is changed here changes for every user.
SELECT plan(58);
\ir ../lib/checks.sql
\ir ../lib/interface.sql
SET client_min_messages = error;

-- ---- functions, aggregates, windows ----

-- tests/lib/interface writes tests/data/interface.txt anew; read what it changes before you commit.
CREATE TABLE pinned (line text);
\copy pinned FROM tests/data/interface.txt
SELECT set_eq('SELECT line FROM interface_lines', 'SELECT line FROM pinned',
  'the functions that users call are those of tests/data/interface.txt');

SELECT never($$SELECT signature, NOT 'internal'::regtype = ANY (proargtypes::oid[]) AS wrong
  FROM functions WHERE internal$$,
  'the others take arguments of type internal, which SQL cannot give');
SELECT never($$SELECT signature, proname !~ '^_' AS wrong FROM functions WHERE internal
    OR signature ~ 'cstring|internal' OR proname ~ '(model|query|stats)_(out|send|eq|cmp|hash)$'$$,
  'what PostgreSQL alone calls begins with an underscore');
SELECT never($$SELECT signature, (provolatile <> 'i' OR proparallel <> 's') AS wrong FROM functions
  WHERE internal$$, 'and do nothing that hinders a plan');
-- What depends on the order of the rows cannot: parallel workers would change it. A state of a type
-- of its own is what Citus sends away; it needs no other form, and is its own result.
SELECT never($$SELECT signature,
  (proname ~ '^(dpmm_fit|bayes_(rhat|ess_bulk|ess_tail|mcse)|_bayes_(keep_rows|make_pass))$'
    OR proname ~ '^(hmm|lda|nmf|pmf)_|_profile$'
)
  <> (aggcombinefn = 0)
  OR (aggcombinefn <> 0 AND aggtranstype = 'internal'::regtype) <> (aggserialfn <> 0)
  OR (aggserialfn = 0) <> (aggdeserialfn = 0)
  OR (aggtranstype = 'internal'::regtype) <> (aggfinalfn <> 0) AS wrong FROM functions f
  JOIN pg_aggregate a ON a.aggfnoid = f.oid$$,
  'every aggregate for which order is nothing can be computed in parallel');
-- The first row of a moving frame is taken away from these.
SELECT never($$SELECT signature,
  (proname = 'linreg_stats' OR proname ~ '^bayes_score'
    OR proname ~ '^(beta_bernoulli|gamma_poisson|normal_inverse_gamma|dirichlet_categorical)_fit$')
  <> (aggminvtransfn <> 0)
  OR aggminvtransfn <> 0 AND (aggmtransfn <> aggtransfn OR aggmfinalfn <> aggfinalfn
    OR aggmtranstype <> aggtranstype OR aggminitval IS DISTINCT FROM agginitval) AS wrong
  FROM functions f JOIN pg_aggregate a ON a.aggfnoid = f.oid$$,
  'sums move along a window, and are what they are elsewhere');
-- A negative size keeps version 19 from making sums below a join whose bits that would change.
SELECT never($$SELECT signature, a.aggtransspace
  * CASE WHEN current_setting('server_version_num')::int >= 190000 AND
      proname ~ '^(linreg|nb)_|^bayes_rollup$' THEN -1 ELSE 1 END
  <> CASE WHEN proname ~ '^bayes_(rhat|ess_bulk|ess_tail|mcse|drift)$|_profile$|_make_pass$' OR
      proname = 'hmm_advance_all' OR
      signature ~ '^bayes_rollup\(bayes_model' THEN 32768
    WHEN proname ~ '^linreg' OR signature ~ '^bayes_rollup\(linreg_stats' THEN 16384
    WHEN proname ~ '^nb_|_answers$' THEN 65536
    WHEN proname = 'dirichlet_categorical_fit' THEN 8192
    WHEN proname ~ '^(beta|gamma|normal)_' THEN 256
    WHEN proname ~ '^bayes_score' THEN 1024
    ELSE 64 * 1024 * 1024 END AS wrong FROM functions f
  JOIN pg_aggregate a ON a.aggfnoid = f.oid$$, 'and tells the planner how large its state is');
-- Documents and cells are sorted once; rows are kept for one fit.
SELECT never($$SELECT signature, a.aggfinalmodify <> CASE
  WHEN proname ~ '^(lda|nmf|pmf)_' THEN 's'
  WHEN proname ~ '^_bayes_(keep_rows|make_pass)$' THEN 'w' ELSE 'r' END
  OR a.aggkind <> CASE proname WHEN '_bayes_make_pass' THEN 'o' ELSE 'n' END AS wrong
  FROM functions f
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
  WHERE classid = 'pg_type'::regclass ORDER BY 1$$, $$VALUES ('bayes_drift'),
  ('bayes_model'), ('bayes_pass'), ('bayes_prediction'), ('bayes_probability'), ('bayes_profile'),
  ('bayes_query'),
  ('bayes_scores'),
  ('bmm_bootstrap_test'),
  ('bmm_selection'), ('bmm_statistics'),
  ('glm_prediction'),
  ('gmm_selection'), ('hmm_selection'), ('hmm_state'),
  ('linreg_prediction'), ('linreg_stats')$$, 'the types');
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
    WHERE name = '=' OR type <> 'bayes_query'
    ORDER BY format('%s(%s,%2$s)', name, type) COLLATE "C"$$, 'the operators');
SELECT results_eq($$SELECT amname::text COLLATE "default", opcdefault FROM members
  JOIN pg_opclass c ON classid = 'pg_opclass'::regclass AND objid = c.oid
  JOIN pg_am a ON a.oid = opcmethod WHERE opcintype = ANY (
    '{bayes_model,bayes_query,linreg_stats}'::regtype[]) ORDER BY 1$$,
  $$VALUES ('btree', true), ('btree', true), ('hash', true), ('hash', true), ('hash', true)$$,
  'the operator classes');
SELECT never($$SELECT classid::regclass, objid,
  classid NOT IN ('pg_proc'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass,
    'pg_operator'::regclass, 'pg_opclass'::regclass, 'pg_opfamily'::regclass)
  AND NOT (classid = 'pg_class'::regclass
    AND objid IN ('gmm_selection'::regclass, 'bayes_progress'::regclass)) AS wrong
  FROM members$$, 'nothing else is installed');
SELECT results_eq($$SELECT attname || ' ' || format_type(atttypid, atttypmod) COLLATE "default"
FROM pg_attribute WHERE attrelid = 'bayes_progress'::regclass AND attnum > 0 ORDER BY attnum$$,
  $$VALUES ('pid integer'), ('datname name'), ('usename name'), ('family text'), ('method text'),
    ('phase text'), ('rows_read bigint'), ('groups_done bigint'), ('restart integer'),
    ('restarts integer'), ('iteration integer'), ('max_iterations integer'), ('chain integer'),
    ('chains integer'), ('draw integer'), ('draws integer'), ('objective double precision'),
    ('change double precision'), ('elapsed interval'), ('budget_left interval')$$,
  'the columns of bayes_progress');

-- ---- words for every object ----

SELECT never($$SELECT attname, length(coalesce(col_description(attrelid, attnum), '')) < 20 AS wrong
  FROM pg_attribute WHERE attrelid = 'bayes_progress'::regclass AND attnum > 0$$,
  'every column of a view has a comment');
SELECT isnt(obj_description('bayes_progress'::regclass, 'pg_class'), NULL, 'so has the view');

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
  FROM functions WHERE NOT internal AND proname !~ '^_'$$,
  'arguments have names');
SELECT lives_ok($$SELECT gmm_predict(model => m, x => '{1,2}'),
  bayes_log_density(x => '{1,2}', model => m) FROM (SELECT gmm_fit(x, 1) AS m FROM faithful) AS f$$,
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
  bayes_probabilities(model => m, x => '{1,2}'), bayes_log_density(model => m, x => '{1,2}')
  FROM (SELECT dpmm_fit(x, '{"draws": 4}') AS m FROM faithful) AS f, dpmm_clusters(model => m),
  dpmm_estimate(model => m), bayes_draws(model => m)$$,
  'and of their models');
SELECT lives_ok($$SELECT *
  FROM hmm_decode(query => 'SELECT 1, array_agg(x[1] ORDER BY id) FROM faithful', k => 2,
  options => '{"seed": 5}')$$, 'of hidden Markov models too');
SELECT lives_ok($$SELECT hmm_decode(model => m, sequence => s),
  hmm_probabilities(sequence => s, model => m), hmm_filter(model => m, sequence => s),
  hmm_log_likelihood(model => m, sequence => s)
  FROM (SELECT hmm_fit(s, 2, '{"method": "vi"}') AS m, min(s) AS s
  FROM (SELECT array_agg(x[1] ORDER BY id) AS s FROM faithful) AS g) AS f,
  hmm_paths(model => m, sequence => s, n => 2),
  hmm_states(model => m), hmm_transitions(model => m), hmm_emissions(model => m),
  hmm_posterior(model => m), bayes_parameters(level => 0.9, model => m),
  hmm_sample(model => m, n => 2, seed => 1),
  hmm_predict(model => m, sequence => s, horizon => 2, level => 0.9) AS ahead,
  hmm_sample(model => m, sequence => s, horizon => 2, draws => 1, seed => 1) AS after$$,
  'and of theirs');
SELECT lives_ok($$SELECT hmm_decode(model => m, observation => x[1]) OVER w,
  hmm_probabilities(observation => x[1], model => m) OVER w,
  hmm_filter(model => m, observation => x[1]) OVER w,
  hmm_surprise(model => m, observation => x[1]) OVER w,
  hmm_advance_all(m, NULL, x[1]) OVER w,
  hmm_current(state => hmm_advance(observation => x[1], state => NULL, model => m)) FROM faithful,
  (SELECT hmm_fit(s, 2, '{"method": "vi"}') AS m
  FROM (SELECT array_agg(x[1] ORDER BY id) AS s FROM faithful) AS g) AS f
WINDOW w AS (ORDER BY id)$$, 'in windows too');

SELECT lives_ok($$SELECT lda_proportions(model => m, document => '{a}'::text[]),
  lda_predict(model => m, document => 'a'::tsvector), q.term FROM (SELECT lda_fit('{a,b}'::text[],
  2) AS m) AS f,
  lda_topics(model => m, top => 2), lda_relevance(lambda => 0.5, model => m, top => 2),
  lda_topic_weights(model => m), lda_posterior(model => m), lda_topics(k => 2,
  query => 'SELECT ARRAY[species] FROM iris', options => '{"seed": 5}') AS q,
  lda_top_topics(document => '{}'::jsonb, model => m, top => 1),
  lda_typical_documents(query => 'SELECT 1, ARRAY[species] FROM iris', model => m, top => 2),
  lda_coherence(query => 'SELECT ARRAY[species] FROM iris', model => m, top => 2),
  bayes_score(query => 'SELECT ARRAY[species] FROM iris', model => m),
  bayes_score_difference(query => 'SELECT ARRAY[species] FROM iris', a => m, b => m),
  lda_select(query => 'SELECT ARRAY[species] FROM iris', ks => '{1}')$$,
  'those of topic models');
SELECT lives_ok($$SELECT q.key, p.mean, nmf_transform(cells => '{"2": 1}'::jsonb, model => m),
  nmf_transform(cells => '{1,1}'::float8[], model => m),
  nmf_transform_sd(model => m, cells => '{}'::jsonb),
  nmf_transform(side => 'column', cells => '{"2": 1}'::jsonb, model => m),
  nmf_transform_sd(side => 'row', cells => '{1,1}'::float8[], model => m)
  FROM (SELECT nmf_fit(ARRAY[i, 2.5], 1) AS m FROM generate_series(1, 3) AS i) AS f,
  nmf_factors(model => m), nmf_error(model => m),
  nmf_predict(column_key => '2', row_key => 3,
  model => m) AS p, nmf_select(ks => '{1}', query => 'SELECT i, 1, i FROM generate_series(1, 20)
  AS i'), nmf_factorize(k => 1, query => 'SELECT 1, 2, 3', options => '{}') AS q$$,
  'of factorizations');
SELECT lives_ok($$SELECT p.mean, p.sd, r.key, s.similarity
  FROM (SELECT pmf_fit(i, i % 3, i, 1, '{"draws": 4}') AS m FROM generate_series(1, 9) AS i) AS f,
  pmf_predict(column_key => '2', row_key => 3, model => m) AS p,
  pmf_recommend(rated => true, n => 1, row_key => 3, model => m) AS r,
  pmf_similar(side => 'row', n => 1, key => 3, model => m) AS s$$,
  'of ratings');
SELECT lives_ok($$SELECT p.mean, c.term, n.sd, i.rows
  FROM (SELECT linreg_fit(i * i, i, NULL, 1) AS m,
      linreg_stats(i, i) AS s FROM generate_series(1, 9) AS i) AS f,
    linreg_predict(level => 0.5, x => 3, model => m) AS p,
    bayes_coefficients(level => 0.5, model => linreg_fit(options => NULL, stats => s)) AS c,
    bayes_parameters(level => 0.5, model => m) AS n, linreg_stats_info(stats => s) AS i$$,
  'of linear regressions');
SELECT lives_ok($$SELECT s.statistic FROM (SELECT glm_model(query => 'SELECT i, i % 3 AS a FROM
  generate_series(1, 9) AS i', options => '{"response": "poisson"}') AS m) AS f,
  glm_fit_statistics(draws => 4, level => 0.5, model => m,
  query => 'SELECT i, i % 3 AS a FROM generate_series(1, 9) AS i') AS s$$,
  'and of generalized linear models');

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
SELECT is((SELECT elsewhere.bayes_ess_bulk(value, chain ORDER BY chain, draw) IS NOT NULL
  FROM (SELECT elsewhere.dpmm_fit(x, '{"draws": 60}') AS m FROM faithful) AS f,
  elsewhere.bayes_draws(m) WHERE quantity = 'log_joint'), true, 'and so do diagnostics');
DROP VIEW interface_lines, interface, functions, members;
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
