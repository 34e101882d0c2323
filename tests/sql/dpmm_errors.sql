-- Dirichlet process mixtures: every way to ask for what cannot be, and what is said about it.
-- SQLSTATEs as the manual promises; messages name the culprit.
SELECT plan(176);
\ir ../lib/dpmm_errors.sql

-- ---- rows ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END) FROM few$q$,
    '2202E row 7 has 3 elements, but the first row has 2'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN x[1:1] ELSE x END) FROM few$q$,
    '2202E row 7 has 1 element, but the first row has 2'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN ARRAY[1, NULL] ELSE x END,
    '{"missing": "error"}') FROM few$q$, '22004 element 2 of row 7 is NULL'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{NaN,1}' ELSE x END) FROM few$q$,
    '22023 element 1 of row 7 is NaN'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{1,Infinity}' ELSE x END) FROM few$q$,
    '22023 element 2 of row 7 is Infinity'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{}' ELSE x END) FROM few$q$,
    '2202E row 7 is an empty array'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{{1,2}}' ELSE x END) FROM few$q$,
    '2202E row 7 is an array of 2 dimensions'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{1e200,1}' ELSE x END, '{"missing": "skip"}')
    FROM few$q$, '22003 element 1 of row 7 is 1e+200, too large to compute with'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{1}' ELSE x END, '{"missing": "skip"}') FROM few$q$,
    '2202E row 7 has 1 element, but the first row has 2'),
  ($q$SELECT dpmm_fit(array_fill(1.5::float8, '{1601}'))$q$,
    '54000 row 1 has 1601 elements, but the limit is 1600'),
  ($q$SELECT dpmm_fit(x, CASE WHEN id < 5 THEN '{"seed": 1}' ELSE '{"seed": 2}' END::jsonb)
    FROM few$q$, '22023 options must be the same for all rows of one fit'),
  ($q$SELECT dpmm_fit(x, CASE WHEN id < 5 THEN '{"seed": 1}' END::jsonb) FROM few$q$,
    '22023 options must be the same for all rows of one fit'),
  ($q$SELECT dpmm_cluster(x, CASE WHEN id < 5 THEN '{"seed": 1}' END::jsonb) OVER (ORDER BY id)
    FROM few$q$, '22023 options must be the same for all rows of one fit'),
  ($q$SELECT dpmm_cluster(x, '{"metod": "vi"}') OVER () FROM few$q$,
    '22023 unknown option "metod"'),
  ($q$SELECT dpmm_cluster(CASE WHEN id = 7 THEN ARRAY[NULL, 1] ELSE x END, '{"missing": "error"}')
    OVER (ORDER BY id) FROM few$q$, '22004 element 1 of row 7 is NULL'),
  ($q$SELECT dpmm_cluster(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END) OVER (ORDER BY id)
    FROM few$q$, '2202E row 7 has 3 elements, but the first row has 2'),
  ($q$SELECT dpmm_cluster(x) FROM few$q$, '42809 window function dpmm_cluster requires an OVER '
    'clause'),
  ($q$SELECT dpmm_fit('SELECT * FROM few', 2)$q$,
    '42883 function dpmm_fit(unknown, integer) does not exist')) AS c(statement, said);

-- ---- query texts ----

SELECT is(complaint(format('SELECT * FROM %s(%L)', f, query)), said, f || ': ' || query)
  FROM unnest('{dpmm_cluster,dpmm_similarity}'::text[]) f, (VALUES
  ('', '22023 query is empty'),
  ('SELEC x FROM few', '42601 syntax error at or near "SELEC"'),
  ('SELECT id, y FROM few', '42703 column "y" does not exist'),
  ('SELECT id, x FROM few; SELECT id, x FROM few', '22023 query has several statements'),
  ('DELETE FROM few RETURNING id, x', '22023 query is not a SELECT'),
  ('WITH gone AS (DELETE FROM few RETURNING id, x) SELECT id, x FROM gone',
    '22023 query changes data'),
  ('SELECT id, x FROM few FOR UPDATE', '22023 query locks rows'),
  ('SELECT FROM few', '22023 query returns no columns'),
  ('SELECT x FROM few', '22023 query returns one column'),
  ('SELECT id FROM few', '22023 query returns one column'),
  ('SELECT x, id, x FROM few', '22023 column "x" is of type double precision[]'),
  ('SELECT id, x, x FROM few', '22023 query returns a column after the array'),
  ('SELECT id, x, 1 FROM few', '22023 query returns a column after the array'),
  ('SELECT id, x, ''a'' FROM few', '22023 query returns a column after the array'),
  ('SELECT id, ARRAY[species] FROM iris', '22023 column "array" of the query is of type text[]'),
  ('SELECT id, NULL FROM few', '22023 column "?column?" is NULL in every row'),
  ('SELECT id, now() FROM few', '22023 column "now" is of type timestamp with time zone'),
  ('SELECT id, 1 / (id - 7) FROM few', '22012 division by zero'),
  ('SELECT 1 / (id - 7), 1 FROM few', '22012 division by zero'),
  ('SELECT id, id, CASE WHEN id = 7 THEN ''-Infinity'' ELSE 1::float8 END FROM few',
    '22023 column "case" of row 7 is -Infinity'),
  ('SELECT id, x[1:1 + id % 2] FROM few ORDER BY id DESC',
    '2202E row 2 has 2 elements, but the first row has 1'),
  ('SELECT $1, x FROM few', '42P02 there is no parameter $1')) AS c(query, said);
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT * FROM dpmm_cluster('SELECT id, CASE WHEN id = 7 THEN NULL ELSE id END, id FROM few',
    '{"missing": "error"}')$q$, '22004 column "f1" of row 7 is NULL'),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, CASE WHEN id = 7 THEN ''NaN'' ELSE 1.0 END, id '
    'FROM few')$q$, '22023 column "case" of row 7 is NaN'),
  ($q$SELECT * FROM dpmm_cluster(NULL)$q$, '22004 query must not be NULL'),
  ($q$SELECT * FROM dpmm_similarity(NULL, '{}')$q$, '22004 query must not be NULL'),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, x FROM few', '{"metod": "vi"}')$q$,
    '22023 unknown option "metod"'),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, 1 / (id - id) FROM few', '{"metod": "vi"}')$q$,
    '22023 unknown option "metod"'),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"method": "vi"}')$q$,
    '22023 similarities need draws, but method vi has none'),
  ($q$SELECT * FROM dpmm_credible_bounds('SELECT id, x FROM few', '{"method": "vi"}')$q$,
    '22023 a credible ball needs draws, but method vi has none'),
  ($q$SELECT * FROM dpmm_credible_bounds('SELECT x FROM few')$q$,
    '22023 query returns one column'),
  ($q$SELECT * FROM dpmm_similarity('SELECT i, i FROM generate_series(1, 5001) i')$q$,
    '54000 similarities of 5001 rows are too many'),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"draws": 0}')$q$,
    '22023 option "draws" is 0, but must be a whole number from 1 to 100000000'),
  ($q$SELECT * FROM dpmm_cluster('SELECT ''a'', 1, 0 UNION ALL SELECT ''b'', 1, 2',
    '{"likelihood": "bernoulli"}')$q$, '22023 column "f2" of row 2 is 2, but must be 0 or 1'),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, ARRAY[1, 1.5] FROM few',
    '{"likelihood": "poisson"}')$q$, '22023 element 2 of row 1 is 1.5, but must be a whole number '
    'from 0 to 2^53')) AS c(statement, said);
-- The limit is met before there is any sampling, which would take minutes.
SET statement_timeout = '5s';
SELECT is(complaint($q$SELECT * FROM dpmm_similarity('SELECT i, sin(i) '
  'FROM generate_series(1, 200000) i', '{"draws": 1000000}')$q$),
  '54000 similarities of 200000 rows are too many', 'too many rows are refused at once');
RESET statement_timeout;

-- ---- a model, and a row ----

SELECT is(complaint(format('SELECT %s FROM given', call)), said, call) FROM (VALUES
  ('dpmm_predict(gmm, ''{1,2}'')', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_clusters(gmm)', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_estimate(gmm)', '42804 model is of family gmm, expected dpmm'),
  ('gmm_components(normal)', '42804 model is of family dpmm, expected gmm'),
  ('gmm_predict(normal, ''{1,2}'')', '42804 model is of family dpmm, expected gmm'),
  ('bayes_draws(vi)', '22023 model has no posterior draws'),
  ('dpmm_predict(normal, ''{1}'')', '2202E the array has 1 element, but the model has 2'),
  ('bayes_probabilities(normal, ''{1,2,3}'')',
    '2202E the array has 3 elements, but the model has 2'),
  ('bayes_log_density(vi, ''{1}'')', '2202E the array has 1 element, but the model has 2'),
  ('dpmm_predict(normal, ''{}'')', '2202E the array is an empty array'),
  ('dpmm_predict(normal, ''{{1,2}}'')', '2202E the array is an array of 2 dimensions'),
  ('dpmm_predict(strict, ''{1,NULL}'')', '22004 element 2 of the array is NULL'),
  ('bayes_probabilities(strict, ''{NaN,1}'')', '22023 element 1 of the array is NaN'),
  ('bayes_log_density(normal, ''{1,-Infinity}'')', '22023 element 2 of the array is -Infinity'),
  ('bayes_log_density(normal, ''{1,1e200}'')',
    '22003 element 2 of the array is 1e+200, too large to compute with'),
  ('dpmm_predict(bernoulli, ''{1,2}'')', '22023 element 2 is 2, but must be 0 or 1'),
  ('bayes_probabilities(bernoulli, ''{0.5,1}'')', '22023 element 1 is 0.5, but must be 0 or 1'),
  ('bayes_log_density(poisson, ''{1,-1}'')', '22023 element 2 is -1, but must be a whole number '
    'from 0 to 2^53'),
  ('dpmm_predict(poisson, ''{1.5,1}'')', '22023 element 1 is 1.5, but must be a whole number from '
    '0 to 2^53'),
  ('dpmm_predict(categorical, ''{4,10}'')', '22023 element 1 is 4, but must be one of the '
    'categories 1, 2, 3'),
  ('dpmm_predict(categorical, ''{0,0}'')', '22023 element 1 is 0, but must be one of the '
    'categories 1, 2, 3'),
  ('dpmm_predict(categorical, ''{1,1.5}'')', '22023 element 2 is 1.5, but must be one of the '
    'categories 0, 10'),
  ('dpmm_predict(categorical, ''{1,5}'')', '22023 element 2 is 5, but must be one of the '
    'categories 0, 10'),
  ('bayes_log_density(mixed, ''{1,3,2,NaN}'')', '22023 element 4 of the array is NaN'),
  ('bayes_log_density(mixed, ''{3,3,2,1}'')', '22023 element 1 is 3, but must be 0 or 1'),
  ('bayes_log_density(mixed, ''{1,3,3,1}'')', '22023 element 3 is 3, but must be a whole number '
    'from 0 to 2')) AS c(call, said);

-- ---- details and hints ----

SELECT is(advice(statement), said, statement) FROM (VALUES
  ($q$SELECT dpmm_fit(x, '{"metod": "vi"}') FROM few$q$, 'Did you mean "method"?'),
  ($q$SELECT dpmm_fit(x, '{"warm_up": 5}') FROM few$q$, 'Did you mean "warmup"?'),
  ($q$SELECT dpmm_fit(x, '{"draw": 5}') FROM few$q$, 'Did you mean "draws"?'),
  ($q$SELECT dpmm_fit(x, '{"method": "colapsed"}') FROM few$q$, 'Did you mean "collapsed"?'),
  ($q$SELECT dpmm_fit(x, '{"estimate": "bindr"}') FROM few$q$, 'Did you mean "binder"?'),
  ($q$SELECT dpmm_fit(x, '{"likelihood": "norml"}') FROM few$q$, 'Did you mean "normal"?'),
  ($q$SELECT dpmm_fit(x, '{"concentration": {"Shape": 1}}') FROM few$q$,
    'Did you mean "concentration.shape"?'),
  ($q$SELECT dpmm_fit(x, '{"concentration": {"mean": 1}}') FROM few$q$,
    'The options are concentration.rate, concentration.shape.'),
  ($q$SELECT dpmm_fit(x, '{"concentration": "x"}') FROM few$q$,
    'Write {"concentration": 1} for a fixed one, or {"concentration": {"shape": 2, "rate": 4}} for '
    'a gamma prior.'),
  ($q$SELECT dpmm_fit(x, '{"prior": {"b": 3}}') FROM few$q$, 'Did you mean "prior.B"?'),
  ($q$SELECT dpmm_fit(x, '{"prior": {"alpha": 3}}') FROM few$q$,
    'The options are prior.B, prior.a, prior.c, prior.m.'),
  ($q$SELECT dpmm_fit(x, '{"colour": "red"}') FROM few$q$,
    'The options are chains, concentration, covariance, draws, estimate, init, level, likelihood, '
    'max_seconds, method, missing, on_error, order, prior, resumable, seed, stored_draws, thin, '
    'warmup.'),
  ($q$SELECT dpmm_fit(x, '{"method": "vi", "draws": 3}') FROM few$q$,
    'The options are concentration, covariance, likelihood, linear_response, max_iter, '
    'max_seconds, method, missing, on_error, order, prior, restarts, resumable, seed, tol, '
    'truncation.'),
  ($q$SELECT dpmm_fit(x, '[]') FROM few$q$, 'Write options as ''{"method": "slice", "draws": '
    '2000}''.'),
  ($q$SELECT dpmm_fit(x, '{"draws": 10, "warmup": 10}') FROM few$q$,
    'Option draws is the length of a chain, the warmup included, which is discarded.'),
  ($q$SELECT dpmm_fit(x, '{"draws": 10, "thin": 6}') FROM few$q$,
    'Every thin-th of them is kept, which leaves none. | Lower thin.'),
  ($q$SELECT dpmm_fit(x, '{"draws": 100000000}') FROM few$q$,
    'The limit is 4 million draws. | Ask for fewer chains or draws, or raise thin.'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN ARRAY[1, NULL] ELSE x END,
    '{"missing": "error"}') FROM few$q$,
    'Use option missing = marginalize (if the model has it) or missing = skip.'),
  ($q$SELECT dpmm_clusters(gmm) FROM given$q$, 'bayes_info(model) shows the family of a model.'),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"method": "vi"}')$q$,
    'Use method collapsed, gibbs or slice.'),
  ($q$SELECT * FROM dpmm_similarity('SELECT i, i FROM generate_series(1, 5001) i')$q$,
    'Every pair of rows has one: 12502500 numbers. The limit is 5000 rows. | Use a sample of the '
    'rows, or dpmm_cluster, which needs no pairs.')) AS c(statement, said);
SELECT is(advice(format('SELECT * FROM dpmm_cluster(%L)', query)),
  concat_ws(' | ', said, 'Select a name for the row and then the row: columns (SELECT id, a, '
  'b, c FROM ...), or one array of numbers (SELECT id, x FROM ...).'), query) FROM (VALUES
  ('', 'It must be one SELECT.'),
  ('SELECT 1, 2; SELECT 3, 4', 'It must be one SELECT.'),
  ('COPY few TO STDOUT', 'It must be one SELECT that returns rows.'),
  ('DELETE FROM few', 'It must be one SELECT that returns rows.'),
  ('WITH gone AS (DELETE FROM few RETURNING id, x) SELECT id, x FROM gone',
    'A query that gives rows to a fit is run read-only.'),
  ('SELECT id, x FROM few FOR SHARE', 'A query that gives rows to a fit is run read-only, without '
    'FOR UPDATE or FOR SHARE.'),
  ('SELECT FROM few', 'There is nothing to fit.'),
  ('SELECT x FROM few', 'The first column is the name of the row; the row itself must follow.'),
  ('SELECT id, x, 1 FROM few', 'There can be no weights.'),
  (NULL, NULL)) AS c(query, said);

-- ---- rows that do not fit into memory ----

SET maintenance_work_mem = '1MB';
CREATE TABLE many AS SELECT i AS id, ARRAY(SELECT sin(i * j) FROM generate_series(1, 8) j) AS x
  FROM generate_series(1, 30000) i;
SELECT is(complaint(format('SELECT dpmm_fit(x, ''{"method": "%s", "draws": 4}'') FROM many',
  method)), format('54000 the rows do not fit into memory, but method %s visits them one at a time',
  method), method || ' needs its rows in memory') FROM unnest('{collapsed,gibbs}'::text[]) method;
SELECT is(advice($q$SELECT * FROM dpmm_cluster('SELECT id, x FROM many')$q$),
  '30000 rows of 8 elements take more than maintenance_work_mem. | Raise maintenance_work_mem, or '
  'use method slice or vi, which read the rows in order.', 'it says what to do');
SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM many', options)), 'no error', options)
  FROM unnest(ARRAY['{"method": "slice", "draws": 4}',
  '{"method": "vi", "max_iter": 3, "restarts": 1, "tol": 1e6}']) options;
RESET maintenance_work_mem;

-- ---- NULL instead of an error ----

SELECT is(complaint(statement), 'no error', statement) FROM (VALUES
  ($q$SELECT dpmm_fit(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}') FROM few$q$),
  ($q$SELECT dpmm_cluster(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}') OVER ()
    FROM few$q$),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, x FROM few',
    '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$q$),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few',
    '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$q$)) AS c(statement);
SELECT ok((SELECT dpmm_fit(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')
  FROM few) IS NULL, 'a fit that cannot be is NULL');
SELECT never($$SELECT id, c IS NOT NULL AS wrong
  FROM (SELECT id, dpmm_cluster(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')
  OVER () AS c FROM few) AS s$$, 'so are the labels of a partition');
SELECT same_rows($$SELECT id, cluster, probability
  FROM dpmm_cluster('SELECT id, x FROM few ORDER BY id',
  '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$$,
  $$SELECT i::text, NULL::int, NULL::float8 FROM generate_series(1, 10) i$$,
  'a relation has its rows without clusters');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT id, x FROM few',
  '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$$, 'and no similarities');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT i, i FROM generate_series(1, 6000) i',
  '{"on_error": "null"}')$$, 'nor if rows are too many');
SELECT results_eq($$SELECT g, dpmm_fit(ARRAY[CASE WHEN g = 2 THEN -1 ELSE i END],
  '{"on_error": "null", "draws": 4, "likelihood": "poisson"}') IS NULL FROM generate_series(1, 3) g,
  generate_series(1, 5) i GROUP BY 1 ORDER BY 1$$, $$VALUES (1, false), (2, true), (3, false)$$,
  'one bad group does not stop the others');
SELECT is(complaint($q$SELECT dpmm_fit(x, '{"on_error": "null", "draws": 0}') FROM few$q$),
  '22023 option "draws" is 0, but must be a whole number from 1 to 100000000',
  'a bad option is an error all the same');
SELECT is(complaint($q$SELECT dpmm_fit(x, '{"on_error": "null", "prior": {"b": 1}}') FROM few$q$),
  '22023 unknown option "prior.b"', 'in the prior too');
SELECT is(complaint($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{NaN,1}' ELSE x END,
  '{"on_error": "null", "missing": "error"}') FROM few$q$), 'no error',
  'rows that are no rows are none');

-- ---- a forged model ----

SELECT is(complaint(format('SELECT dpmm_predict(%L, ''{1,2}'')',
  replace(normal::text, '"family": "dpmm"', '"family": "gmm"'))) ~ '^22P02 ', true,
  'a model cannot be passed off as one of another family') FROM given;
SELECT is(complaint(format('SELECT %L::bayes_model', jsonb_set(normal::jsonb, path::text[],
  value::jsonb))) ~ '^22P02 invalid bayes_model: ', true, format('%s = %s is refused', path, value))
  FROM given, (VALUES ('{concentration}', '-1'), ('{concentration}', '"x"'), ('{counts}', '[1, 2]'),
    ('{counts,0}', '-1'), ('{counts,0}', '1.5'), ('{estimate}', '3'), ('{estimate,loss}', '1'),
    ('{estimate,draws}', '0'), ('{likelihood}', '"full "'), ('{likelihood}', '"product"'),
    ('{base}', '{}'), ('{clusters}', '{}'), ('{draws,quantities,1}', '"other"'),
    ('{components_of_draws,sizes,0}', '0'), ('{components_of_draws,sizes,0}', '1e9'),
      ('{components_of_draws,sizes}', '[]'), ('{components_of_draws,rest,0}', '0.9'),
      ('{components_of_draws,weights,0}', '2'), ('{components_of_draws,shares,0,0}', '-1'),
      ('{components_of_draws,shares}', '[]'), ('{components}', '0'), ('{components}', '1000000'))
      c(path, value);

-- ---- the session goes on ----

BEGIN;
SAVEPOINT before;
DO $$ BEGIN PERFORM * FROM dpmm_cluster('SELECT id, CASE WHEN id < 5 THEN x END FROM few',
  '{"prior": {"B": 1e-300}}'); EXCEPTION WHEN numeric_value_out_of_range THEN NULL; END $$;
SELECT is((SELECT count(*) FROM dpmm_cluster('SELECT id, x FROM few', '{"draws": 4}')), 10::bigint,
  'in the transaction of the error');
ROLLBACK TO before;
SELECT is((SELECT count(*) FROM dpmm_similarity('SELECT id, x FROM few', '{"draws": 4}')),
  45::bigint, 'after a rollback to a savepoint');
COMMIT;

SELECT * FROM finish();
