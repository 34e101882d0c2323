-- Bayes classifiers: what cannot be, and what is said about it.
SELECT plan(88);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE rows_of AS SELECT i, (i % 2)::text AS label, i * 1.5 AS a, i % 3 AS n, i % 2 = 0 AS b,
  'l' || i % 4 AS t, NULL::int AS none FROM generate_series(1, 12) AS i;
CREATE TABLE given AS SELECT nb_fit(label, r) AS columns, nb_fit(label, ARRAY[a, n]) AS arrays,
  nb_fit(label, jsonb_build_object('n', n, 'b', b, 't', t)) AS words,
  nb_fit(label, ARRAY[a, n], '{"missing": "error"}') AS strict,
  nb_fit(label, ARRAY[a, n], '{"missing": "skip"}') AS skipping,
  nb_fit(label, jsonb_build_object('n', n, 't', t), '{"missing": "error"}') AS strict_words,
  nb_fit(label, ARRAY[a, n], '{"prior": {"alpha": 2}}') AS other_prior,
  nb_fit(label, ARRAY[a, n], '{"covariance": "full"}') AS full_covariance,
  nb_fit(label, ARRAY[n, n], '{"likelihood": "poisson"}') AS counts
FROM (SELECT label, s.a, s.n, s.b, s.t, r FROM rows_of AS s, 
  LATERAL (SELECT a, n, b, t) AS r) AS q;
CREATE TABLE other AS SELECT gmm_fit(x, 2) AS gmm FROM faithful;

-- ---- options ----

CREATE FUNCTION fit(options text) RETURNS text LANGUAGE sql RETURN complaint(format(
  'SELECT nb_fit(label, r, %L) FROM rows_of, LATERAL (SELECT a, n, b, t) AS r', options));
SELECT is(fit(options), said, options) FROM (VALUES
  ('{"likelihoods": "poisson"}', '22023 unknown option "likelihoods"'),
  ('{"likelihood": {"a": "gaussian"}}', '22023 option "likelihood.a" is "gaussian", but must be '
    'one of ' || column_families()),
  ('[]', '22023 options must be a JSON object, but are of kind array of numbers'),
  ('{"method": "vi"}', '22023 option "method" is "vi", but must be one of exact'),
  ('{"covariance": "tied"}',
    '22023 option "covariance" is "tied", but must be one of diagonal, full'),
  ('{"likelihood": "poison"}', '22023 option "likelihood" is "poison", but must be one of '
    || column_families()),
  ('{"likelihood": {"c": "normal"}}',
    '22023 option "likelihood" names a column "c", which the rows do not have'),
  ('{"likelihood": {"t": "normal"}}',
    '22023 option "likelihood" is "normal" for column "t", which has labels'),
  ('{"likelihood": ["normal", "normal"]}',
    '22023 option "likelihood" has 2 entries, but the rows have 4 elements'),
  ('{"likelihood": {"a": "poisson"}}',
    '22023 column "a" of row 1 is 1.5, but must be a whole number from 0 to 2^53'),
  ('{"likelihood": {"n": "bernoulli"}}', '22023 column "n" of row 2 is 2, but must be 0 or 1'),
  ('{"likelihood": {"a": "categorical"}}',
    '22023 column "a" of row 1 is 1.5, but must be a whole number'),
  ('{"prior": {"alpha": 0}}', '22023 option "prior.alpha" is 0, but must be a number greater than '
    '0 and at most 1000000000'),
  ('{"prior": {"shape": 1}}', '22023 unknown option "prior.shape"'),
  ('{"prior": {"poisson": {"shape": 1}}}',
    '22023 option "prior.poisson" does not apply: no column is poisson'),
  ('{"prior": {"normal": {"B": -1}}}',
    '22023 option "prior.normal.B" contains -1.0, but must be greater than 0'),
  ('{"prior": {"normal": {"B": [1, 2, 3]}}}', '22023 option "prior.normal.B" is an array of 3 '
    'numbers, but must be a number or an array of 2 numbers, one for each normal element'),
  ('{"covariance": "full", "prior": {"normal": {"a": 0.5}}}',
    '22023 option "prior.normal.a" is 0.5, but must be above 1'),
  ('{"covariance": "full", "prior": {"normal": {"m": [1, 2, 3]}}}',
    '22023 option "prior.normal.m" has 3 numbers, but the rows have 2'),
  ('{"covariance": "full", "prior": {"normal": {"B": [[1, 2], [2, 1]]}}}',
    '22023 option "prior.normal.B" is not positive definite'),
  ('{"covariance": "full", "prior": {"normal": {"B": [[1]]}}}', '22023 option "prior.normal.B" is '
    'an array of 1 x 1 numbers, but must be a number or an array of 2 x 2 numbers'),
  ('{"missing": "zero"}',
    '22023 option "missing" is "zero", but must be one of marginalize, skip, error'),
  ('{"absent": "one"}', '22023 option "absent" is "one", but must be one of missing, zero')
) AS v(options, said);

-- ---- rows ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT nb_fit(label, ARRAY[t]) FROM rows_of', '42804 features are an array of texts'),
  ('SELECT nb_fit(label, ARRAY[b], ''{"covariance": "full", "likelihood": "bernoulli"}'')
    FROM rows_of', '22023 option "covariance" is "full", but no column is normal'),
  ('SELECT nb_fit(1, ''{1,2}''::float8[]), nb_fit(i, CASE i WHEN 1 THEN ''{1}'' ELSE ''{1,2}'' END
    ::float8[]) FROM generate_series(1, 2) AS i',
    '2202E row 2 has 2 elements, but the first row has 1'),
  ('SELECT nb_fit(label, ARRAY[a, ''NaN''], ''{"missing": "error"}'') FROM rows_of',
    '22023 element 2 of row 1 is NaN'),
  ('SELECT nb_fit(label, ARRAY[a, NULL], ''{"missing": "error"}'') FROM rows_of',
    '22004 element 2 of row 1 is NULL'),
  ('SELECT nb_fit(label, ARRAY[a, ''Infinity'']::float8[]) FROM rows_of',
    '22023 element 2 of row 1 is Infinity'),
  ('SELECT nb_fit(label, ARRAY[1e151]::float8[]) FROM rows_of',
    '22003 element 1 of row 1 is 1e+151, too large to compute with'),
  ('SELECT nb_fit(label, ARRAY[1e150 * sin(i)]) FROM rows_of',
    '22003 the posterior of element 1 is beyond double precision'),
  ('SELECT nb_fit(CASE i WHEN 3 THEN ''NaN''::float8 ELSE 1 END, a) FROM rows_of',
    '22023 the label of row 3 is NaN'),
  ('SELECT nb_fit(label, ''{}''::float8[]) FROM rows_of', '2202E row 1 is an empty array'),
  ('SELECT nb_fit(label, a, NULL, -1) FROM rows_of', '22023 weight of row 1 is -1'),
  ('SELECT nb_fit(label, a, NULL, 0) FROM rows_of', '22023 all weights are zero'),
  ('SELECT nb_fit(label, a, jsonb_build_object(''prior'', jsonb_build_object(''alpha'', i)))
    FROM rows_of', '22023 options must be the same for all rows of one fit'),
  ('SELECT nb_fit(i, 1) FROM generate_series(1, 10001) AS i',
    '54000 rows have more than 10000 classes'),
  ('SELECT nb_fit(repeat(''x'', 10001), 1)',
    '54000 the label of a class is 10001 bytes long, but the limit is 10000'),
  ('SELECT nb_fit(1, r) FROM (SELECT i::text AS t FROM generate_series(1, 100000) AS i) AS r',
    '54000 column "t" has more than 10000 different labels'),
  ('SELECT nb_fit(i % 600, array_fill(1.0, ARRAY[5000])) FROM generate_series(1, 600) AS i',
    '54000 501 classes with 5000 features have more than 10000000 statistics'),
  ('SELECT nb_fit(1, r) FROM (SELECT now() AS t) AS r',
    '22023 column "t" is of type timestamp with time zone'),
  ('SELECT nb_fit(label, r, ''{"absent": "missing"}'') FROM rows_of, LATERAL (SELECT a, n) AS r',
    '22023 option "absent" does not apply: rows have columns'),
  ('SELECT nb_fit(label, jsonb_build_object(''n'', n), ''{"covariance": "full"}'') FROM rows_of',
    '22023 option "covariance" is "full", but rows are objects of names'),
  ('SELECT nb_fit(label, to_tsvector(t), ''{"covariance": "full"}'') FROM rows_of',
    '22023 option "covariance" is "full", but rows are objects of names')
) AS v(statement, said);

-- ---- objects ----

SELECT is(complaint(format('SELECT nb_fit(1, o) FROM unnest(%L::jsonb[]) AS o', objects)), said,
  objects) FROM (VALUES
  ('{"[1]"}', '22023 row 1 is an array'),
  ('{"{}", 3}', '22023 row 2 is a single value'),
  ('{"{}"}', '22023 rows have no features'),
  ('{"{\"a\": [1]}"}', '22023 feature "a" of row 1 is an array'),
  ('{"{\"a\": {\"b\": 1}}"}', '22023 feature "a" of row 1 is an object'),
  ('{"{\"a\": 1}","{\"a\": \"x\"}"}',
    '22023 feature "a" of row 2 is a string, but was a number in the rows before'),
  ('{"{\"a\": true}","{\"a\": 1}"}',
    '22023 feature "a" of row 2 is a number, but was a boolean in the rows before'),
  ('{"{\"a\": 1.5}"}',
    '22023 feature "a" of row 1 is 1.5, but must be a whole number from 0 to 2^53'),
  ('{"{\"a\": -1}"}',
    '22023 feature "a" of row 1 is -1, but must be a whole number from 0 to 2^53'),
  ('{"{\"a\": 1e151}"}', '22003 feature "a" of row 1 is 1e+151, too large to compute with'),
  ('{"{\"\": 1}"}', '22023 feature "" of row 1 has an empty name')
) AS v(objects, said);
SELECT is(complaint($$SELECT nb_fit(1, jsonb_build_object(repeat('k', 1000000), 1))$$),
  '54000 the name of a feature is 1000000 bytes long, but the limit is 10000', 'a key of 1 MB');
SELECT is((SELECT nb_predict(words, jsonb_build_object(repeat('k', 1000000), 1, 'n', 1))
  FROM given) IS NOT NULL, true, 'which no model knows');

-- ---- models ----

SELECT is(complaint(statement || ' FROM given, other'), said, statement) FROM (VALUES
  ('SELECT nb_predict(gmm, 1)', '42804 model is of family gmm, expected nb'),
  ('SELECT gmm_predict(arrays, ''{1,2}''::float8[])', '42804 model is of family nb, expected gmm'),
  ('SELECT nb_predict(arrays, ''{1}''::float8[])',
    '2202E the array has 1 element, but the model has 2'),
  ('SELECT nb_predict(arrays, ''{"a": 1}''::jsonb)',
    '22023 the row is an object of names, but the model was fitted to rows with columns'),
  ('SELECT nb_predict(words, 1)',
    '22023 the row has columns, but the model was fitted to objects of names'),
  ('SELECT nb_predict(words, ''{"n": "x"}''::jsonb)',
    '22023 feature "n" is a string, but was a number when the model was fitted'),
  ('SELECT nb_predict(words, ''{"n": -1}''::jsonb)',
    '22023 feature "n" is -1, but must be a whole number from 0 to 2^53'),
  ('SELECT nb_predict(counts, ''{1,0.5}''::float8[])',
    '22023 element 2 is 0.5, but must be a whole number from 0 to 2^53'),
  ('SELECT nb_predict(strict, ''{1,NULL}''::float8[])', '22004 element 2 of the array is NULL'),
  ('SELECT nb_predict(strict_words, ''{"n": null}''::jsonb)', '22004 feature "n" is NULL'),
  ('SELECT nb_predict(strict_words, ''{"t": "new"}''::jsonb)',
    '22023 feature "t" has label "new", which the model does not know')
) AS v(statement, said);
SELECT is((SELECT nb_predict(skipping, '{1,NULL}'::float8[]) IS NULL FROM given), true,
  'what option missing skips has no label');
SELECT is(complaint(statement || ' FROM given'), said, statement) FROM (VALUES
  ('SELECT nb_predict(columns, (SELECT r FROM (SELECT 1 AS other) AS r))',
    '22023 rows have no column "a"'),
  ('SELECT nb_probability(arrays, ''{1,2}''::float8[], ''2'')',
    '22023 the model has no class "2"'),
  ('SELECT nb_predict(words, ARRAY[''n''])', '42804 features are an array of texts'),
  ('SELECT nb_fit(1, ARRAY[''n''])', '42804 features are an array of texts'),
  ('SELECT nb_predict(words, ''{"n":1}'')',
    '22023 the row has columns, but the model was fitted to objects of names'),
  ('SELECT nb_features(arrays, 1)', '22023 level is 1, but must be between 0 and 1')
) AS v(statement, said);
SELECT is(complaint(format('SELECT bayes_rollup(m) FROM given, unnest(ARRAY[%s]) AS m', models)),
  said, models) FROM (VALUES
  ('arrays, other_prior', '22023 models with different options or priors cannot be merged'),
  ('arrays, full_covariance', '22023 models with different options or priors cannot be merged'),
  ('arrays, words', '22023 features are objects of names in some rows, and columns in others'),
  ('arrays, columns', '22023 some rows are arrays, others are records'),
  ('arrays, counts', '22023 element 1 is normal and poisson')
) AS v(models, said);
SELECT is(advice(format('SELECT bayes_rollup(m) FROM given, unnest(ARRAY[%s]) AS m', models)),
  said || ' | Merge models that were fitted with the same options.', 'what differs: ' || models)
FROM (VALUES
  ('arrays, other_prior', 'One has prior null, the other {"alpha": 2}.'),
  ('arrays, full_covariance', 'They differ in option covariance.'),
  ('words, (SELECT nb_fit(1, ''{"n": 1}''::jsonb, ''{"absent": "missing"}''))',
    'They differ in option absent.')
) AS v(models, said);
SELECT is(complaint(format('SELECT nb_update(l, x, %s) FROM given, (VALUES (1, %s)) AS v(l, x)',
    arguments, x)), said, arguments || ' ' || x) FROM (VALUES
  ('arrays', '''{1}''::float8[]', '2202E row 1 has 1 element, but the model has 2'),
  ('words', '''{1,2}''::float8[]',
    '22023 rows have columns, but the model was fitted to objects of names'),
  ('arrays, ''{"covariance": "full"}''', '''{1,2}''::float8[]', '22023 option "covariance" does '
    'not apply to an update, which uses that of the model')
) AS v(arguments, x, said);
SELECT is((SELECT nb_fit(1, 'Infinity'::float8, '{"on_error": "null", "missing": "skip"}')), NULL,
  'what is left out is no error');
SELECT is((SELECT nb_fit(label, ARRAY[1e150 * sin(i)], '{"on_error": "null"}') FROM rows_of), NULL,
  'with on_error = null there is no model');

SELECT * FROM finish();
