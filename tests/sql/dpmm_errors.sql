-- Dirichlet process mixtures: every way to ask for what cannot be, and what is said about it. SQLSTATEs as the manual promises; messages name the culprit.
SELECT plan(296);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- How a statement fails: SQLSTATE and message.
CREATE FUNCTION complaint(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- The families that elements can have, as the extension itself lists them.
SELECT substring(complaint($$SELECT bmm_fit(ARRAY[1], 1, '{"likelihood": "?"}')$$) FROM 'must be one of (.*)$') AS families \gset
-- What it says beside: DETAIL and HINT.
CREATE FUNCTION advice(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE detail text; hint text;
BEGIN
  EXECUTE statement;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', nullif(detail, ''), nullif(hint, ''));
END $$;
CREATE TABLE given AS SELECT dpmm_fit(x, '{"draws": 20}') AS normal, dpmm_fit(x, '{"method": "vi"}') AS vi, gmm_fit(x, 2) AS gmm,
  dpmm_fit(ARRAY[id % 2, id / 200], '{"draws": 20, "likelihood": "bernoulli"}') AS bernoulli, dpmm_fit(ARRAY[id % 5, id / 10], '{"draws": 20, "likelihood": "poisson"}') AS poisson,
  dpmm_fit(ARRAY[id % 3 + 1, 10 * (id % 2)], '{"draws": 20, "likelihood": "categorical"}') AS categorical,
  dpmm_fit(ARRAY[id % 2, id % 5, id % 3, eruptions], '{"draws": 20, "likelihood": ["bernoulli", "poisson", "categorical", "normal"]}') AS mixed FROM faithful;
CREATE TABLE few AS SELECT id, x FROM faithful WHERE id <= 10;

-- ---- options ----

SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM few', options)), said, options) FROM (VALUES
  ('{"concentration": 0}', '22023 option "concentration" is 0, but must be a number greater than 0 and at most 1000000000'),
  ('{"concentration": -1}', '22023 option "concentration" is -1, but must be a number greater than 0 and at most 1000000000'),
  ('{"concentration": 1e10}', '22023 option "concentration" is 10000000000, but must be a number greater than 0 and at most 1000000000'),
  ('{"concentration": "x"}', '22023 option "concentration" is "x", but must be a number greater than 0, or an object with shape and rate'),
  ('{"concentration": "1"}', '22023 option "concentration" is "1", but must be a number greater than 0, or an object with shape and rate'),
  ('{"concentration": true}', '22023 option "concentration" is true, but must be a number greater than 0, or an object with shape and rate'),
  ('{"concentration": []}', '22023 option "concentration" is an empty array, but must be a number greater than 0, or an object with shape and rate'),
  ('{"concentration": [1, 2]}', '22023 option "concentration" is an array of 2 numbers, but must be a number greater than 0, or an object with shape and rate'),
  ('{"concentration": {"shape": 0}}', '22023 option "concentration.shape" is 0, but must be a number greater than 0 and at most 1000000000'),
  ('{"concentration": {"shape": 2, "rate": -1}}', '22023 option "concentration.rate" is -1, but must be a number greater than 0 and at most 1000000000'),
  ('{"concentration": {"shape": "x"}}', '22023 option "concentration.shape" is "x", but must be a number greater than 0 and at most 1000000000'),
  ('{"concentration": {"shap": 1}}', '22023 unknown option "concentration.shap"'),
  ('{"concentration": {"shape": 1, "rate": 1, "mean": 2}}', '22023 unknown option "concentration.mean"'),
  ('{"warmup": 1000}', '22023 option "warmup" is 1000, but must be below option "draws", which is 1000'),
  ('{"draws": 10, "warmup": 11}', '22023 option "warmup" is 11, but must be below option "draws", which is 10'),
  ('{"draws": 1, "warmup": 1}', '22023 option "warmup" is 1, but must be below option "draws", which is 1'),
  ('{"warmup": -1}', '22023 option "warmup" is -1, but must be a whole number from 0 to 100000000'),
  ('{"draws": 0}', '22023 option "draws" is 0, but must be a whole number from 1 to 100000000'),
  ('{"draws": 1.5}', '22023 option "draws" is 1.5, but must be a whole number from 1 to 100000000'),
  ('{"draws": "x"}', '22023 option "draws" is "x", but must be a whole number from 1 to 100000000'),
  ('{"draws": 1000000000}', '22023 option "draws" is 1000000000, but must be a whole number from 1 to 100000000'),
  ('{"draws": 100000000}', '54000 4 chains of 50000000 draws are more than a model can hold'),
  ('{"chains": 1000, "draws": 8002}', '54000 1000 chains of 4001 draws are more than a model can hold'),
  ('{"thin": 0}', '22023 option "thin" is 0, but must be a whole number from 1 to 100000000'),
  ('{"thin": 501}', '22023 option "thin" is 501, but only 500 draws follow the warmup'),
  ('{"draws": 10, "warmup": 9, "thin": 2}', '22023 option "thin" is 2, but only 1 draws follow the warmup'),
  ('{"chains": 0}', '22023 option "chains" is 0, but must be a whole number from 1 to 1000'),
  ('{"chains": 1001}', '22023 option "chains" is 1001, but must be a whole number from 1 to 1000'),
  ('{"chains": 2.5}', '22023 option "chains" is 2.5, but must be a whole number from 1 to 1000'),
  ('{"method": "em"}', '22023 option "method" is "em", but must be one of collapsed, gibbs, slice, vi'),
  ('{"method": "colapsed"}', '22023 option "method" is "colapsed", but must be one of collapsed, gibbs, slice, vi'),
  ('{"method": 1}', '22023 option "method" is 1, but must be one of collapsed, gibbs, slice, vi'),
  ('{"covariance": "tied"}', '22023 option "covariance" is "tied", but must be one of full, diagonal, spherical'),
  ('{"covariance": ["full"]}', '22023 option "covariance" is an array, but must be one of full, diagonal, spherical'),
  ('{"estimate": "bindr"}', '22023 option "estimate" is "bindr", but must be one of binder, vi, bipartition, map'),
  ('{"estimate": 1}', '22023 option "estimate" is 1, but must be one of binder, vi, bipartition, map'),
  ('{"level": 0}', '22023 option "level" is 0, but must be a number greater than 0 and at most 1'),
  ('{"level": 1.5}', '22023 option "level" is 1.5, but must be a number greater than 0 and at most 1'),
  ('{"level": "NaN"}', '22023 option "level" is "NaN", but must be a number greater than 0 and at most 1'),
  ('{"init": "kmeans"}', '22023 option "init" is "kmeans", but must be one of varied, one'),
  ('{"init": [[1, 2]]}', '22023 option "init" is an array of 1 x 2 numbers, but must be one of varied, one'),
  ('{"seed": -1}', '22023 option "seed" is -1, but must be a whole number of at least 0'),
  ('{"seed": 1.5}', '22023 option "seed" is 1.5, but must be a whole number of at least 0'),
  ('{"missing": "marginalize"}', '22023 option "missing" is "marginalize", but must be one of error, skip'),
  ('{"on_error": "nul"}', '22023 option "on_error" is "nul", but must be one of error, null'),
  ('{"max_iter": 10}', '22023 option "max_iter" does not apply to method collapsed'),
  ('{"tol": 1, "method": "gibbs"}', '22023 option "tol" does not apply to method gibbs'),
  ('{"truncation": 10, "method": "slice"}', '22023 option "truncation" does not apply to method slice'),
  ('{"restarts": 10}', '22023 option "restarts" does not apply to method collapsed'),
  ('{"method": "vi", "draws": 10}', '22023 option "draws" does not apply to method vi'),
  ('{"method": "vi", "chains": 10}', '22023 option "chains" does not apply to method vi'),
  ('{"method": "vi", "warmup": 10}', '22023 option "warmup" does not apply to method vi'),
  ('{"method": "vi", "thin": 10}', '22023 option "thin" does not apply to method vi'),
  ('{"method": "vi", "init": "one"}', '22023 option "init" does not apply to method vi'),
  ('{"method": "vi", "estimate": "vi"}', '22023 option "estimate" does not apply to method vi'),
  ('{"method": "vi", "level": 0.5}', '22023 option "level" does not apply to method vi'),
  ('{"method": "vi", "truncation": 1}', '22023 option "truncation" is 1, but must be a whole number from 2 to 10000'),
  ('{"method": "vi", "truncation": 10001}', '22023 option "truncation" is 10001, but must be a whole number from 2 to 10000'),
  ('{"method": "vi", "restarts": 0}', '22023 option "restarts" is 0, but must be a whole number from 1 to 1000'),
  ('{"method": "vi", "max_iter": 0}', '22023 option "max_iter" is 0, but must be a whole number from 1 to 1000000'),
  ('{"method": "vi", "tol": -1}', '22023 option "tol" is -1, but must be a number from 0 to 1000000'),
  ('{"metod": "vi"}', '22023 unknown option "metod"'),
  ('{"draw": 10}', '22023 unknown option "draw"'),
  ('{"max_seconds": 10}', '22023 unknown option "max_seconds"'),
  ('{"k": 3}', '22023 unknown option "k"'),
  ('{"": 1}', '22023 unknown option ""'),
  ('[]', '22023 options must be a JSON object, but are of kind array of numbers'),
  ('"vi"', '22023 options must be a JSON object, but are of kind string'),
  ('17', '22023 options must be a JSON object, but are of kind integer'),
  ('true', '22023 options must be a JSON object, but are of kind boolean'),
  ('{"draws": 1e999}', '22003 number 1000000000000000000000000000000000000000... is too large for double precision')) AS c(options, said);

-- ---- the prior ----

SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM few', options)), said, options) FROM (VALUES
  ('{"prior": 3}', '22023 option "prior" is 3, but must be an object'),
  ('{"prior": {"b": 3}}', '22023 unknown option "prior.b"'),
  ('{"prior": {"alpha": 3}}', '22023 unknown option "prior.alpha"'),
  ('{"prior": {"type": "independent"}}', '22023 unknown option "prior.type"'),
  ('{"prior": {"m": [1, 2, 3]}}', '22023 option "prior.m" has 3 numbers, but the rows have 2'),
  ('{"prior": {"m": 3}}', '22023 option "prior.m" is 3, but must be an array of numbers'),
  ('{"prior": {"c": 0}}', '22023 option "prior.c" is 0, but must be a number greater than 0 and at most 1000000000'),
  ('{"prior": {"a": 1}}', '22023 option "prior.a" is 1.0, but must be above 1'),
  ('{"prior": {"B": [[1, 2], [2, 1]]}}', '22023 option "prior.B" is not positive definite'),
  ('{"prior": {"B": [[1, 2], [1, 5]]}}', '22023 option "prior.B" is not symmetric'),
  ('{"prior": {"B": [1, 2]}}', '22023 option "prior.B" is an array of 2 numbers, but must be a number or an array of 2 x 2 numbers'),
  ('{"prior": {"B": -1}}', '22023 option "prior.B" is not positive definite'),
  ('{"prior": {"B": "one"}}', '22023 option "prior.B" is "one", but must be a number or an array of numbers'),
  ('{"prior": {"B": [[1, 0], [0, 1]]}, "covariance": "diagonal"}', '22023 option "prior.B" is an array of 2 x 2 numbers, but must be a number or an array of 2 numbers'),
  ('{"prior": {"B": [1, 2]}, "covariance": "spherical"}', '22023 option "prior.B" is an array of 2 numbers, but must be a number'),
  ('{"prior": {"a": 1e9}, "method": "vi", "draws": 4}', '22023 option "draws" does not apply to method vi'),
  ('{"prior": {"m": [1e300, 1e300]}, "draws": 4}', '22003 the density of a draw of method collapsed overflowed in sweep 1'),
  ('{"prior": {"B": 1e-300}, "draws": 4}', '22003 the density of a draw of method collapsed overflowed in sweep 1')) AS c(options, said);

-- ---- likelihoods ----

SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM (VALUES (''{1,0}''::float8[]), (%L)) v(x)', options, row)), replace(said, '<families>', :'families'), options || ' ' || row) FROM (VALUES
  ('{"likelihood": "gamma"}', '{1,1}', '22023 option "likelihood" is "gamma", but must be one of <families>'),
  ('{"likelihood": "norml"}', '{1,1}', '22023 option "likelihood" is "norml", but must be one of <families>'),
  ('{"likelihood": 3}', '{1,1}', '22023 option "likelihood" is 3, but must be one of <families>'),
  ('{"likelihood": {"a": 1}}', '{1,1}', '22023 option "likelihood" is an object, but must be one of <families>'),
  ('{"likelihood": ["normal", "gauss"]}', '{1,1}', '22023 option "likelihood" is "gauss", but must be one of <families>'),
  ('{"likelihood": ["normal", "poisson", "poisson"]}', '{1,1}', '22023 option "likelihood" names 3 elements, but the rows have 2'),
  ('{"likelihood": "bernoulli"}', '{0,2}', '22023 element 2 of row 2 is 2, but must be 0 or 1'),
  ('{"likelihood": "bernoulli"}', '{0.5,1}', '22023 element 1 of row 2 is 0.5, but must be 0 or 1'),
  ('{"likelihood": "bernoulli"}', '{-1,1}', '22023 element 1 of row 2 is -1, but must be 0 or 1'),
  ('{"likelihood": "poisson"}', '{0,-2}', '22023 element 2 of row 2 is -2, but must be a whole number from 0 to 2^53'),
  ('{"likelihood": "poisson"}', '{2.5,2}', '22023 element 1 of row 2 is 2.5, but must be a whole number from 0 to 2^53'),
  ('{"likelihood": "categorical"}', '{0,1.5}', '22023 element 2 of row 2 is 1.5, but must be a whole number'),
  ('{"likelihood": "categorical"}', '{1e9,1}', '54000 the categories of element 1 reach from 1 to 1000000000, which is too far apart'),
  ('{"likelihood": ["poisson", "bernoulli"]}', '{7,2}', '22023 element 2 of row 2 is 2, but must be 0 or 1'),
  ('{"likelihood": ["bernoulli", "poisson"], "missing": "skip"}', '{0,-1}', '22023 element 2 of row 2 is -1, but must be a whole number from 0 to 2^53'),
  ('{"likelihood": "poisson"}', '{0,NULL}', '22004 element 2 of row 2 is NULL'),
  ('{"likelihood": "categorical"}', '{NaN,0}', '22023 element 1 of row 2 is NaN'),
  ('{"likelihood": "poisson", "covariance": "full"}', '{1,1}', '22023 option "covariance" does not apply to method collapsed with this likelihood'),
  ('{"likelihood": "bernoulli", "method": "vi", "draws": 3}', '{1,1}', '22023 option "draws" does not apply to method vi with this likelihood'),
  ('{"likelihood": "bernoulli", "prior": {"a": 0}}', '{1,1}', '22023 option "prior.a" contains 0.0, but must be greater than 0'),
  ('{"likelihood": "bernoulli", "prior": {"shape": 1}}', '{1,1}', '22023 unknown option "prior.shape"'),
  ('{"likelihood": "poisson", "prior": {"rate": [1, 2, 3]}}', '{1,1}', '22023 option "prior.rate" is an array of 3 numbers, but must be a number or an array of 2 numbers, one for each poisson element'),
  ('{"likelihood": ["bernoulli", "poisson"], "prior": {"poisson": 3}}', '{1,1}', '22023 option "prior.poisson" is 3, but must be an object'),
  ('{"likelihood": ["bernoulli", "poisson"], "prior": {"poisson": {"a": 3}}}', '{1,1}', '22023 unknown option "prior.poisson.a"'),
  ('{"likelihood": "normal", "prior": {"shape": 3}}', '{1,1}', '22023 unknown option "prior.shape"')) AS c(options, row, said);

-- ---- rows ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END) FROM few$q$, '2202E row 7 has 3 elements, but the first row has 2'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN x[1:1] ELSE x END) FROM few$q$, '2202E row 7 has 1 element, but the first row has 2'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN ARRAY[1, NULL] ELSE x END) FROM few$q$, '22004 element 2 of row 7 is NULL'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{NaN,1}' ELSE x END, '{"missing": "error"}') FROM few$q$, '22023 element 1 of row 7 is NaN'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{1,Infinity}' ELSE x END) FROM few$q$, '22023 element 2 of row 7 is Infinity'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{}' ELSE x END) FROM few$q$, '2202E row 7 is an empty array'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{{1,2}}' ELSE x END) FROM few$q$, '2202E row 7 is an array of 2 dimensions'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{1e200,1}' ELSE x END, '{"missing": "skip"}') FROM few$q$, '22003 element 1 of row 7 is 1e+200, too large to compute with'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{1}' ELSE x END, '{"missing": "skip"}') FROM few$q$, '2202E row 7 has 1 element, but the first row has 2'),
  ($q$SELECT dpmm_fit(array_fill(1.5::float8, '{1601}'))$q$, '54000 row 1 has 1601 elements, but the limit is 1600'),
  ($q$SELECT dpmm_fit(x, CASE WHEN id < 5 THEN '{"seed": 1}' ELSE '{"seed": 2}' END::jsonb) FROM few$q$, '22023 options must be the same for all rows of one fit'),
  ($q$SELECT dpmm_fit(x, CASE WHEN id < 5 THEN '{"seed": 1}' END::jsonb) FROM few$q$, '22023 options must be the same for all rows of one fit'),
  ($q$SELECT dpmm_cluster(x, CASE WHEN id < 5 THEN '{"seed": 1}' END::jsonb) OVER (ORDER BY id) FROM few$q$, '22023 options must be the same for all rows of one fit'),
  ($q$SELECT dpmm_cluster(x, '{"metod": "vi"}') OVER () FROM few$q$, '22023 unknown option "metod"'),
  ($q$SELECT dpmm_cluster(CASE WHEN id = 7 THEN ARRAY[NULL, 1] ELSE x END) OVER (ORDER BY id) FROM few$q$, '22004 element 1 of row 7 is NULL'),
  ($q$SELECT dpmm_cluster(CASE WHEN id = 7 THEN x || 1::float8 ELSE x END) OVER (ORDER BY id) FROM few$q$, '2202E row 7 has 3 elements, but the first row has 2'),
  ($q$SELECT dpmm_cluster(x) FROM few$q$, '42809 window function dpmm_cluster requires an OVER clause'),
  ($q$SELECT dpmm_fit('SELECT x FROM few')$q$, '22P02 malformed array literal: "SELECT x FROM few"')) AS c(statement, said);

-- ---- query texts ----

SELECT is(complaint(format('SELECT * FROM %s(%L)', f, query)), said, f || ': ' || query) FROM unnest('{dpmm_cluster,dpmm_similarity}'::text[]) f, (VALUES
  ('', '22023 query is empty'),
  ('SELEC x FROM few', '42601 syntax error at or near "SELEC"'),
  ('SELECT id, y FROM few', '42703 column "y" does not exist'),
  ('SELECT id, x FROM few; SELECT id, x FROM few', '22023 query has several statements'),
  ('DELETE FROM few RETURNING id, x', '22023 query is not a SELECT'),
  ('WITH gone AS (DELETE FROM few RETURNING id, x) SELECT id, x FROM gone', '22023 query changes data'),
  ('SELECT id, x FROM few FOR UPDATE', '22023 query locks rows'),
  ('SELECT FROM few', '22023 query returns no columns'),
  ('SELECT x FROM few', '22023 query returns one column'),
  ('SELECT id FROM few', '22023 query returns one column'),
  ('SELECT x, id, x FROM few', '22023 column "x" of the query is of type double precision[]'),
  ('SELECT id, x, x FROM few', '22023 column "x" of the query is of type double precision[]'),
  ('SELECT id, x, 1 FROM few', '22023 query returns a column after the array'),
  ('SELECT id, x, ''a'' FROM few', '22023 column "?column?" of the query is of type text'),
  ('SELECT id, species FROM iris', '22023 column "species" of the query is of type text'),
  ('SELECT id, ARRAY[species] FROM iris', '22023 column "array" of the query is of type text[]'),
  ('SELECT id, NULL FROM few', '22023 column "?column?" of the query is of type text'),
  ('SELECT id, now() FROM few', '22023 column "now" of the query is of type timestamp with time zone'),
  ('SELECT id, 1 / (id - 7) FROM few', '22012 division by zero'),
  ('SELECT 1 / (id - 7), 1 FROM few', '22012 division by zero'),
  ('SELECT id, CASE WHEN id = 7 THEN NULL ELSE id END, id FROM few', '22004 element 1 of row 7 is NULL'),
  ('SELECT id, id, CASE WHEN id = 7 THEN ''NaN'' ELSE 1::float8 END FROM few', '22023 element 2 of row 7 is NaN'),
  ('SELECT id, x[1:1 + id % 2] FROM few ORDER BY id DESC', '2202E row 2 has 2 elements, but the first row has 1'),
  ('SELECT $1, x FROM few', '42P02 there is no parameter $1')) AS c(query, said);
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT * FROM dpmm_cluster(NULL)$q$, '22004 query must not be NULL'),
  ($q$SELECT * FROM dpmm_similarity(NULL, '{}')$q$, '22004 query must not be NULL'),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, x FROM few', '{"metod": "vi"}')$q$, '22023 unknown option "metod"'),
  ($q$SELECT * FROM dpmm_cluster('SELECT nothing', '{"metod": "vi"}')$q$, '22023 unknown option "metod"'),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"method": "vi"}')$q$, '22023 similarities need draws, but method vi has none'),
  ($q$SELECT * FROM dpmm_similarity('SELECT i, i FROM generate_series(1, 5001) i')$q$, '54000 similarities of 5001 rows are too many'),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"draws": 0}')$q$, '22023 option "draws" is 0, but must be a whole number from 1 to 100000000'),
  ($q$SELECT * FROM dpmm_cluster('SELECT ''a'', 1, 0 UNION ALL SELECT ''b'', 1, 2', '{"likelihood": "bernoulli"}')$q$, '22023 element 2 of row 2 is 2, but must be 0 or 1'),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, ARRAY[1, 1.5] FROM few', '{"likelihood": "poisson"}')$q$, '22023 element 2 of row 1 is 1.5, but must be a whole number from 0 to 2^53')) AS c(statement, said);
-- The limit is met before there is any sampling, which would take minutes.
SET statement_timeout = '5s';
SELECT is(complaint($q$SELECT * FROM dpmm_similarity('SELECT i, sin(i) FROM generate_series(1, 200000) i', '{"draws": 1000000}')$q$), '54000 similarities of 200000 rows are too many', 'too many rows are refused at once');
RESET statement_timeout;

-- ---- a model, and a row ----

SELECT is(complaint(format('SELECT %s FROM given', call)), said, call) FROM (VALUES
  ('dpmm_predict(gmm, ''{1,2}'')', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_probabilities(gmm, ''{1,2}'')', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_log_density(gmm, ''{1,2}'')', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_clusters(gmm)', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_estimate(gmm)', '42804 model is of family gmm, expected dpmm'),
  ('dpmm_draws(gmm)', '42804 model is of family gmm, expected dpmm'),
  ('gmm_components(normal)', '42804 model is of family dpmm, expected gmm'),
  ('gmm_predict(normal, ''{1,2}'')', '42804 model is of family dpmm, expected gmm'),
  ('dpmm_draws(vi)', '22023 this model has no draws: it was fitted by method vi'),
  ('bayes_draws(vi)', '22023 model has no posterior draws'),
  ('dpmm_predict(normal, ''{1}'')', '2202E the array has 1 element, but the model has 2'),
  ('dpmm_probabilities(normal, ''{1,2,3}'')', '2202E the array has 3 elements, but the model has 2'),
  ('dpmm_log_density(vi, ''{1}'')', '2202E the array has 1 element, but the model has 2'),
  ('dpmm_predict(normal, ''{}'')', '2202E the array is an empty array'),
  ('dpmm_predict(normal, ''{{1,2}}'')', '2202E the array is an array of 2 dimensions'),
  ('dpmm_predict(normal, ''{1,NULL}'')', '22004 element 2 of the array is NULL'),
  ('dpmm_probabilities(normal, ''{NaN,1}'')', '22023 element 1 of the array is NaN'),
  ('dpmm_log_density(normal, ''{1,-Infinity}'')', '22023 element 2 of the array is -Infinity'),
  ('dpmm_log_density(normal, ''{1,1e200}'')', '22003 element 2 of the array is 1e+200, too large to compute with'),
  ('dpmm_predict(bernoulli, ''{1,2}'')', '22023 element 2 is 2, but must be 0 or 1'),
  ('dpmm_probabilities(bernoulli, ''{0.5,1}'')', '22023 element 1 is 0.5, but must be 0 or 1'),
  ('dpmm_log_density(poisson, ''{1,-1}'')', '22023 element 2 is -1, but must be a whole number from 0 to 2^53'),
  ('dpmm_predict(poisson, ''{1.5,1}'')', '22023 element 1 is 1.5, but must be a whole number from 0 to 2^53'),
  ('dpmm_predict(categorical, ''{4,10}'')', '22023 element 1 is 4, but must be one of the categories 1, 2, 3'),
  ('dpmm_predict(categorical, ''{0,0}'')', '22023 element 1 is 0, but must be one of the categories 1, 2, 3'),
  ('dpmm_predict(categorical, ''{1,1.5}'')', '22023 element 2 is 1.5, but must be one of the categories 0, 10'),
  ('dpmm_predict(categorical, ''{1,5}'')', '22023 element 2 is 5, but must be one of the categories 0, 10'),
  ('dpmm_log_density(mixed, ''{1,3,2,NaN}'')', '22023 element 4 of the array is NaN'),
  ('dpmm_log_density(mixed, ''{3,3,2,1}'')', '22023 element 1 is 3, but must be 0 or 1'),
  ('dpmm_log_density(mixed, ''{1,3,3,1}'')', '22023 element 3 is 3, but must be a whole number from 0 to 2')) AS c(call, said);

-- ---- details and hints ----

SELECT is(advice(statement), said, statement) FROM (VALUES
  ($q$SELECT dpmm_fit(x, '{"metod": "vi"}') FROM few$q$, 'Did you mean "method"?'),
  ($q$SELECT dpmm_fit(x, '{"warm_up": 5}') FROM few$q$, 'Did you mean "warmup"?'),
  ($q$SELECT dpmm_fit(x, '{"draw": 5}') FROM few$q$, 'Did you mean "draws"?'),
  ($q$SELECT dpmm_fit(x, '{"method": "colapsed"}') FROM few$q$, 'Did you mean "collapsed"?'),
  ($q$SELECT dpmm_fit(x, '{"estimate": "bindr"}') FROM few$q$, 'Did you mean "binder"?'),
  ($q$SELECT dpmm_fit(x, '{"likelihood": "norml"}') FROM few$q$, 'Did you mean "normal"?'),
  ($q$SELECT dpmm_fit(x, '{"concentration": {"Shape": 1}}') FROM few$q$, 'Did you mean "concentration.shape"?'),
  ($q$SELECT dpmm_fit(x, '{"concentration": {"mean": 1}}') FROM few$q$, 'The options are concentration.rate, concentration.shape.'),
  ($q$SELECT dpmm_fit(x, '{"concentration": "x"}') FROM few$q$, 'Write {"concentration": 1} for a fixed one, or {"concentration": {"shape": 2, "rate": 4}} for a gamma prior.'),
  ($q$SELECT dpmm_fit(x, '{"prior": {"b": 3}}') FROM few$q$, 'Did you mean "prior.B"?'),
  ($q$SELECT dpmm_fit(x, '{"prior": {"alpha": 3}}') FROM few$q$, 'The options are prior.B, prior.a, prior.c, prior.m.'),
  ($q$SELECT dpmm_fit(x, '{"colour": "red"}') FROM few$q$, 'The options are chains, concentration, covariance, draws, estimate, init, level, likelihood, method, missing, on_error, prior, seed, thin, warmup.'),
  ($q$SELECT dpmm_fit(x, '{"method": "vi", "draws": 3}') FROM few$q$, 'The options are concentration, covariance, likelihood, max_iter, method, missing, on_error, prior, restarts, seed, tol, truncation.'),
  ($q$SELECT dpmm_fit(x, '[]') FROM few$q$, 'Write options as ''{"method": "slice", "draws": 2000}''.'),
  ($q$SELECT dpmm_fit(x, '{"draws": 10, "warmup": 10}') FROM few$q$, 'A chain makes as many sweeps as draws says, and forgets the first ones of them, the warmup.'),
  ($q$SELECT dpmm_fit(x, '{"draws": 10, "thin": 6}') FROM few$q$, 'Every thin-th of them is kept, which leaves none. | Lower thin.'),
  ($q$SELECT dpmm_fit(x, '{"draws": 100000000}') FROM few$q$, 'The limit is 4 million draws. | Ask for fewer chains or draws, or raise thin.'),
  ($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN ARRAY[1, NULL] ELSE x END) FROM few$q$, 'Leave such rows out with WHERE or FILTER; a function with options takes {"missing": "skip"}.'),
  ($q$SELECT dpmm_draws(vi) FROM given$q$, 'Fit with option method "collapsed", "gibbs" or "slice".'),
  ($q$SELECT dpmm_clusters(gmm) FROM given$q$, 'bayes_info(model) shows the family of a model.'),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"method": "vi"}')$q$, 'Use method collapsed, gibbs or slice.'),
  ($q$SELECT * FROM dpmm_similarity('SELECT i, i FROM generate_series(1, 5001) i')$q$, 'Every pair of rows has one: 12502500 numbers. The limit is 5000 rows. | Use a sample of the rows, or dpmm_cluster, which needs no pairs.')) AS c(statement, said);
SELECT is(advice(format('SELECT * FROM dpmm_cluster(%L)', query)), concat_ws(' | ', said, 'Select a name for the row and then the row: one array of numbers (SELECT id, x FROM ...), or numeric columns (SELECT id, a, b, c FROM ...).'), query) FROM (VALUES
  ('', 'It must be one SELECT.'),
  ('SELECT 1, 2; SELECT 3, 4', 'It must be one SELECT.'),
  ('COPY few TO STDOUT', 'It must be one SELECT that returns rows.'),
  ('DELETE FROM few', 'It must be one SELECT that returns rows.'),
  ('WITH gone AS (DELETE FROM few RETURNING id, x) SELECT id, x FROM gone', 'A query that gives rows to a fit is run read-only.'),
  ('SELECT id, x FROM few FOR SHARE', 'A query that gives rows to a fit is run read-only, without FOR UPDATE or FOR SHARE.'),
  ('SELECT FROM few', 'There is nothing to fit.'),
  ('SELECT x FROM few', 'The first column is the name of the row; the row itself must follow.'),
  ('SELECT id, x, x FROM few', 'An array of numbers must be the second and last column.'),
  ('SELECT id, x, 1 FROM few', 'There can be no weights.'),
  ('SELECT id, species FROM iris', 'A row is made of numbers.'),
  (NULL, NULL)) AS c(query, said);

-- ---- rows that do not fit into memory ----

SET maintenance_work_mem = '1MB';
CREATE TABLE many AS SELECT i AS id, ARRAY(SELECT sin(i * j) FROM generate_series(1, 8) j) AS x FROM generate_series(1, 30000) i;
SELECT is(complaint(format('SELECT dpmm_fit(x, ''{"method": "%s", "draws": 4}'') FROM many', method)), format('54000 the rows do not fit into memory, but method %s visits them one at a time', method), method || ' needs its rows in memory') FROM unnest('{collapsed,gibbs}'::text[]) method;
SELECT is(advice($q$SELECT * FROM dpmm_cluster('SELECT id, x FROM many')$q$), '30000 rows of 8 elements take more than maintenance_work_mem. | Raise maintenance_work_mem, or use method slice or vi, which read the rows in order.', 'it says what to do');
SELECT is(complaint(format('SELECT dpmm_fit(x, %L) FROM many', options)), 'no error', options) FROM unnest(ARRAY['{"method": "slice", "draws": 4}', '{"method": "vi", "max_iter": 3, "restarts": 1, "tol": 1e6}']) options;
RESET maintenance_work_mem;

-- ---- NULL instead of an error ----

SELECT is(complaint(statement), 'no error', statement) FROM (VALUES
  ($q$SELECT dpmm_fit(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}') FROM few$q$),
  ($q$SELECT dpmm_cluster(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}') OVER () FROM few$q$),
  ($q$SELECT * FROM dpmm_cluster('SELECT id, x FROM few', '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$q$),
  ($q$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$q$)) AS c(statement);
SELECT ok((SELECT dpmm_fit(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}') FROM few) IS NULL, 'a fit that cannot be is NULL');
SELECT never($$SELECT id, c IS NOT NULL AS wrong FROM (SELECT id, dpmm_cluster(x, '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}') OVER () AS c FROM few) AS s$$, 'so are the labels of a partition');
SELECT same_rows($$SELECT id, cluster, probability FROM dpmm_cluster('SELECT id, x FROM few ORDER BY id', '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$$, $$SELECT i::text, NULL::int, NULL::float8 FROM generate_series(1, 10) i$$, 'a relation has its rows without clusters');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT id, x FROM few', '{"on_error": "null", "draws": 4, "prior": {"B": 1e-300}}')$$, 'and no similarities');
SELECT is_empty($$SELECT * FROM dpmm_similarity('SELECT i, i FROM generate_series(1, 6000) i', '{"on_error": "null"}')$$, 'nor if rows are too many');
SELECT results_eq($$SELECT g, dpmm_fit(ARRAY[CASE WHEN g = 2 THEN -1 ELSE i END], '{"on_error": "null", "draws": 4, "likelihood": "poisson"}') IS NULL FROM generate_series(1, 3) g, generate_series(1, 5) i GROUP BY 1 ORDER BY 1$$, $$VALUES (1, false), (2, true), (3, false)$$, 'one bad group does not stop the others');
SELECT is(complaint($q$SELECT dpmm_fit(x, '{"on_error": "null", "draws": 0}') FROM few$q$), '22023 option "draws" is 0, but must be a whole number from 1 to 100000000', 'a bad option is an error all the same');
SELECT is(complaint($q$SELECT dpmm_fit(x, '{"on_error": "null", "prior": {"b": 1}}') FROM few$q$), '22023 unknown option "prior.b"', 'in the prior too');
SELECT is(complaint($q$SELECT dpmm_fit(CASE WHEN id = 7 THEN '{NaN,1}' ELSE x END, '{"on_error": "null"}') FROM few$q$), '22023 element 1 of row 7 is NaN', 'so are rows that are no rows');

-- ---- a forged model ----

SELECT is(complaint(format('SELECT dpmm_predict(%L, ''{1,2}'')', replace(normal::text, '"family": "dpmm"', '"family": "gmm"'))) ~ '^22P02 ', true, 'a model cannot be passed off as one of another family') FROM given;
SELECT is(complaint(format('SELECT %L::bayes_model', jsonb_set(normal::jsonb, path::text[], value::jsonb))) ~ '^22P02 invalid bayes_model: ', true, format('%s = %s is refused', path, value))
  FROM given, (VALUES ('{concentration}', '-1'), ('{concentration}', '"x"'), ('{counts}', '[1, 2]'), ('{counts,0}', '-1'), ('{counts,0}', '1.5'), ('{estimate}', '3'), ('{estimate,loss}', '1'), ('{estimate,draws}', '0'), ('{likelihood}', '"full "'), ('{likelihood}', '"product"'), ('{base}', '{}'), ('{clusters}', '{}'),
    ('{components_of_draws,sizes,0}', '0'), ('{components_of_draws,sizes,0}', '1e9'), ('{components_of_draws,sizes}', '[]'), ('{components_of_draws,rest,0}', '0.9'), ('{components_of_draws,weights,0}', '2'), ('{components_of_draws,shares,0,0}', '-1'), ('{components_of_draws,shares}', '[]'), ('{components}', '0'), ('{components}', '1000000')) c(path, value);

-- ---- the session goes on ----

BEGIN;
SAVEPOINT before;
DO $$ BEGIN PERFORM * FROM dpmm_cluster('SELECT id, CASE WHEN id < 5 THEN x END FROM few', '{"prior": {"B": 1e-300}}'); EXCEPTION WHEN numeric_value_out_of_range THEN NULL; END $$;
SELECT is((SELECT count(*) FROM dpmm_cluster('SELECT id, x FROM few', '{"draws": 4}')), 10::bigint, 'in the transaction of the error');
ROLLBACK TO before;
SELECT is((SELECT count(*) FROM dpmm_similarity('SELECT id, x FROM few', '{"draws": 4}')), 45::bigint, 'after a rollback to a savepoint');
COMMIT;

SELECT * FROM finish();
