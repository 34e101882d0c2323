-- bayes_model, the type: text, JSON and stored forms are exact, and what is no model is refused.
SELECT plan(68);
\ir ../lib/checks.sql
\ir ../lib/errors.sql

-- One model of every kind: methods, covariances, priors; skipped rows, weights, one column, one
-- component.
CREATE TABLE models (name text PRIMARY KEY, model bayes_model);
INSERT INTO models SELECT 'em ' || c,
  gmm_fit(x, 2, jsonb_build_object('method', 'em', 'covariance', c)) FROM faithful,
  unnest('{full,diagonal,spherical,tied}'::text[]) c GROUP BY c;
INSERT INTO models SELECT m || ' ' || c,
  gmm_fit(x, 3, jsonb_build_object('method', m, 'covariance', c, 'tol', 1e-2)) FROM iris,
  unnest('{full,diagonal,spherical,tied}'::text[]) c, unnest('{map,vi,svi}'::text[]) m GROUP BY c,
  m;
INSERT INTO models SELECT 'independent', gmm_fit(x, 2, '{"prior": {"type": "independent"}}')
  FROM faithful;
INSERT INTO models SELECT 'kmeans', gmm_fit(x, 3, '{"method": "kmeans"}') FROM iris;
INSERT INTO models SELECT 'one column', gmm_fit(x, 3) FROM galaxies;
INSERT INTO models SELECT 'one component', gmm_fit(x, 1) FROM wine;
INSERT INTO models SELECT 'one row', gmm_fit('{1,2}'::float8[], 1);
INSERT INTO models SELECT 'weights', gmm_fit(x, 2, '{}', 1.0 / id) FROM faithful;
INSERT INTO models SELECT 'skipped',
  gmm_fit(CASE WHEN id % 3 > 0 THEN ARRAY[CASE WHEN id % 5 > 0 THEN waiting END] END, 2,
  '{"missing": "skip", "max_seconds": 3600}') FROM faithful;
INSERT INTO models SELECT 'given means',
  gmm_fit(x, 2, '{"method": "em", "init": [[2, 50], [4.5, 80]], "max_iter": 2, "tol": 100}')
  FROM faithful;
INSERT INTO models SELECT 'prior',
  gmm_fit(x, 2, '{"prior": {"B": [[1, 0.25], [0.25, 100]], "a": 5.5, "m": [-0.0, 1e-300],
  "c": 1e-7}}') FROM faithful;
INSERT INTO models SELECT 'large', gmm_fit(x, 10, '{"restarts": 1, "tol": 1}') FROM digits;
SELECT cmp_ok((SELECT count(*) FROM models WHERE model IS NOT NULL), '=', 26::bigint,
  'all models were fitted');

-- ---- equality ----

SELECT never($$SELECT a.name, b.name, (a.model = b.model) <> (a.name = b.name)
  OR (a.model <> b.model) = (a.name = b.name)
  OR (a.model IS DISTINCT FROM b.model) = (a.name = b.name) AS wrong FROM models a, models b$$,
  'a model equals itself alone');
SELECT never($$SELECT a.name, b.name, (a.model < b.model)::int + (a.model = b.model)::int
  + (a.model > b.model)::int <> 1 OR (a.model <= b.model) = (a.model > b.model)
  OR (a.model >= b.model) = (a.model < b.model) AS wrong FROM models a, models b$$,
  'of two models one is less, or they are equal');
SELECT results_eq($$SELECT count(DISTINCT model) FROM (SELECT model FROM models UNION ALL
  SELECT model::text::bayes_model FROM models) AS twice$$, $$VALUES (26::bigint)$$,
  'DISTINCT finds copies');
SELECT results_eq($$SELECT count(*) FROM (SELECT model FROM models UNION
  SELECT model::text::bayes_model FROM models) AS once$$, $$VALUES (26::bigint)$$, 'so does UNION');
SELECT results_eq($$SELECT count, count(*) FROM (SELECT count(*) FROM models, generate_series(1, 3)
  GROUP BY model) AS groups GROUP BY count$$, $$VALUES (3::bigint, 26::bigint)$$,
  'and GROUP BY');
CREATE FUNCTION joined(setting text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  PERFORM set_config('enable_' || other, (other = setting)::text, true)
    FROM unnest('{hashjoin,mergejoin,nestloop}'::text[]) AS other;
  -- planned anew, under these settings
  EXECUTE 'SELECT count(*) FROM models AS a JOIN models AS b ON a.model = b.model' INTO n;
  RETURN n;
END $$;
SELECT results_eq($$SELECT joined(method) FROM unnest('{hashjoin,mergejoin,nestloop}'::text[])
  AS method$$, $$VALUES (26::bigint), (26), (26)$$, 'every kind of join compares alike');
SELECT results_eq($$SELECT count(DISTINCT hashed) FROM (SELECT _bayes_model_hash_extended(model, 1)
  AS hashed FROM models UNION ALL SELECT _bayes_model_hash_extended(model, 2) FROM models) AS h$$,
  $$VALUES (52::bigint)$$, 'hashes depend on the model and on the seed');

-- ---- round trips ----

SELECT never($$SELECT name, _bayes_model_send(model::text::bayes_model)
  <> _bayes_model_send(model) AS wrong FROM models$$, 'text and back: the same bytes');
SELECT never($$SELECT name, model::text::bayes_model::text <> model::text AS wrong FROM models$$,
  'text and back: the same text');
SELECT never($$SELECT name, _bayes_model_send(model::jsonb::bayes_model)
  <> _bayes_model_send(model) AS wrong FROM models$$, 'jsonb and back: the same bytes');
SELECT never($$SELECT name, model::jsonb <> model::text::jsonb AS wrong FROM models$$,
  'the cast to jsonb and the text say the same');
SELECT never($$SELECT name, model::text::json IS NULL AS wrong FROM models$$, 'the text is JSON');
SELECT never($$SELECT name, _bayes_model_send(jsonb_pretty(model::jsonb)::bayes_model)
  <> _bayes_model_send(model) AS wrong FROM models$$,
  'white space and the order of members do not matter');
SET extra_float_digits = 0;
SELECT never($$SELECT name, _bayes_model_send(model::text::bayes_model)
  <> _bayes_model_send(model) AS wrong FROM models$$,
  'text is exact whatever extra_float_digits says');
SET extra_float_digits = -15;
SELECT never($$SELECT name, _bayes_model_send(model::jsonb::bayes_model)
  <> _bayes_model_send(model) AS wrong FROM models$$, 'so is jsonb');
RESET extra_float_digits;

-- Doubles that are hard on a printer: every one comes back.
CREATE TABLE hard (bits text, value float8);
INSERT INTO hard VALUES ('denormal', 5e-324), ('least normal', 2.2250738585072014e-308),
  ('below it', 2.2250738585072009e-308), ('largest', 1.7976931348623157e308),
  ('2^53', 9007199254740993), ('tenth', 0.1), ('negative zero', '-0'), ('third', 1::float8 / 3),
    ('many digits', 5.0000000000000009), ('1e22', 1e22), ('1e23', 1e23);
CREATE TEMP TABLE template AS SELECT model::jsonb AS m FROM models WHERE name = 'em full';
SELECT never($$SELECT bits, value,
  float8send((SELECT mean[1] FROM gmm_components(model::text::bayes_model) WHERE component = 1))
  <> float8send(value)
     OR float8send((SELECT mean[1] FROM gmm_components(model::jsonb::bayes_model)
       WHERE component = 1)) <> float8send(value) AS wrong FROM hard, template,
    LATERAL (SELECT jsonb_set(m, '{means,0,0}', CASE WHEN value::text = '-0' THEN '"-0"'
      ELSE to_jsonb(value) END)::bayes_model AS model) AS made$$,
  'hard numbers survive text and jsonb bit for bit');

-- The stored form behind every other way to make one.
SELECT never($$SELECT name, substr(_bayes_model_send(model), 1, 4) <> 'PGBM' AS wrong FROM models$$,
  'the bytes begin with their magic');
SELECT never($$SELECT name, length(_bayes_model_send(model)) + 4 < pg_column_size(model) AS wrong
  FROM models$$, 'a stored value is not larger than its bytes');

-- ---- storage ----

SELECT results_eq($$SELECT typlen::int, typstorage::text, typalign::text, typtype::text, typbyval
  FROM pg_type WHERE oid = 'bayes_model'::regtype$$,
  $$VALUES (-1, 'x', 'i', 'b', false)$$, 'a base type of variable length that can be toasted');
CREATE TABLE stored (form text, model bayes_model);
ALTER TABLE stored ALTER model SET STORAGE external;
INSERT INTO stored SELECT 'out of line', model::text::bayes_model FROM models WHERE name = 'large';
ALTER TABLE stored ALTER model SET STORAGE extended;
INSERT INTO stored SELECT 'out of line, compressed', model::text::bayes_model FROM models
  WHERE name = 'large';
ALTER TABLE stored ALTER model SET STORAGE main;
INSERT INTO stored SELECT 'compressed',
  gmm_fit(array_fill(a::float8, '{64}'), 2, '{"covariance": "diagonal", "method": "em"}')
  FROM generate_series(1, 40) a;
ALTER TABLE stored ALTER model SET STORAGE plain;
INSERT INTO stored SELECT 'plain', model::text::bayes_model FROM models WHERE name = 'em full';
SELECT never($$SELECT form, _bayes_model_send(model)
  <> _bayes_model_send(model::text::bayes_model) AS wrong FROM stored$$,
  'every stored form reads back exactly');
SELECT cmp_ok((SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE oid = 'stored'::regclass),
  '>', 100000::bigint, 'large models really lie out of line');
SELECT isnt((SELECT pg_column_compression(model) FROM stored WHERE form = 'compressed'), NULL,
  'and another is really compressed');
SELECT is((SELECT count(*) FROM digits, stored WHERE stored.form LIKE 'out of line%' AND digits.id
  <= 20 AND gmm_predict(stored.model, digits.x) = (SELECT gmm_predict(models.model, digits.x)
  FROM models WHERE name = 'large')),
  40::bigint, 'toasted models predict as the original does');
ALTER TABLE stored ALTER model SET STORAGE extended;
UPDATE stored SET model = model::text::bayes_model;
SELECT is((SELECT count(*) FROM stored), 4::bigint, 'and can be updated');

-- ---- what every model tells ----

SELECT results_eq($$SELECT pg_typeof(family)::text, pg_typeof(method)::text, pg_typeof(rows)::text,
  pg_typeof(skipped)::text, pg_typeof(dimension)::text, pg_typeof(components)::text,
    pg_typeof(iterations)::text, pg_typeof(converged)::text,
    pg_typeof(degenerate)::text, pg_typeof(objective)::text,
      pg_typeof(log_likelihood)::text, pg_typeof(seed)::text, pg_typeof(seconds)::text,
    pg_typeof(version)::text, pg_typeof(options)::text FROM models, bayes_info(model)
      WHERE name = 'em full'$$,
  $$VALUES ('text', 'text', 'bigint', 'bigint', 'integer', 'integer', 'integer', 'boolean',
    'integer[]', 'double precision', 'double precision', 'bigint', 'double precision',
    'text', 'jsonb')$$,
  'types of bayes_info');
SELECT results_eq($$SELECT DISTINCT pg_typeof(restart)::text, pg_typeof(iteration)::text,
  pg_typeof(objective)::text FROM models, bayes_trace(model) WHERE name = 'em full'$$,
  $$VALUES ('integer', 'integer', 'double precision')$$, 'types of bayes_trace');
SELECT same_rows($$SELECT family, method, rows, skipped, dimension, components, converged, seed
  FROM models, bayes_info(model) WHERE name = 'skipped'$$,
  $$SELECT 'gmm', 'vi', count(*) FILTER (WHERE good), count(*) FILTER (WHERE NOT good), 1, 2, true,
    1::bigint FROM (SELECT id % 3 > 0 AND id % 5 > 0 AS good FROM faithful) AS f$$,
  'rows used and rows skipped are counted');
SELECT never($$SELECT name, (i.version, i.family) IS DISTINCT
  FROM ((SELECT extversion FROM pg_extension WHERE extname = 'pg_bayes'), 'gmm') AS wrong
  FROM models, bayes_info(model) i$$, 'version and family');
SELECT never($$SELECT name, i.method <> i.options->>'method' OR i.method
  <> coalesce(substring(name FROM '^(em|map|vi|svi|kmeans)'), i.method) AS wrong FROM models,
  bayes_info(model) i$$, 'the method asked for');
SELECT never($$SELECT name, i.seconds < 0 OR i.iterations < 0 OR i.rows < 1 OR i.seed <> 1 AS wrong
  FROM models, bayes_info(model) i$$, 'numbers of bayes_info in their ranges');
SELECT never($$SELECT name,
  NOT EXISTS (SELECT FROM bayes_trace(model) t WHERE t.objective = i.objective) AS wrong
  FROM models, bayes_info(model) i WHERE i.method <> 'svi'$$, 'the objective is one of the trace');
SELECT never($$SELECT name, i.objective < (SELECT max(objective) FROM bayes_trace(model)) - 1e-9
  * abs(i.objective) AS wrong FROM models, bayes_info(model) i
  WHERE i.method IN ('em', 'map', 'vi', 'kmeans')$$, 'and the best of it');
SELECT never($$SELECT name, (SELECT count(DISTINCT restart) FROM bayes_trace(model))
  <> least(coalesce((i.options->>'restarts')::int, 1), 10) AS wrong
  FROM models, bayes_info(model) i$$, 'every restart has its trace, of many the ten best');
SELECT is((SELECT (log_likelihood, bic)::text
    FROM bayes_info((SELECT normal_inverse_gamma_fit(1.0)))), '(,)',
  'no log-likelihood where there is no estimate');
SELECT is((SELECT count(*) FROM bayes_info(NULL)) + (SELECT count(*) FROM bayes_trace(NULL)),
  0::bigint, 'a NULL model gives no rows');
SELECT is(NULL::bayes_model::text, NULL, 'NULL is NULL');

-- ---- text that is no model ----

-- The two models that between them have every member, and what stands at every path.
CREATE TEMP TABLE sound AS SELECT name, model::jsonb AS m FROM models
  WHERE name IN ('em full', 'independent', 'vi diagonal');
CREATE TEMP TABLE paths AS
  WITH RECURSIVE walk(name, path, value) AS (
    SELECT name, ARRAY[]::text[], m FROM sound
    UNION ALL
    SELECT name, path || key, item FROM walk, LATERAL (
      SELECT key, value AS item
        FROM jsonb_each(CASE jsonb_typeof(walk.value) WHEN 'object' THEN walk.value ELSE '{}' END)
      UNION ALL SELECT '0', walk.value->0 WHERE jsonb_typeof(walk.value) = 'array'
        AND walk.value->0 IS NOT NULL) AS inside)
  SELECT * FROM walk WHERE path <> '{}' AND path[1] NOT IN ('options', 'given_prior');
SELECT cmp_ok((SELECT count(*) FROM paths), '>', 60::bigint, 'there are many members to break');

SELECT never($$SELECT name, path, said, said NOT LIKE '22P02 invalid bayes_model: member %'
  AND NOT (said = 'no error' AND (path[1:2] = '{trace,0}' OR path IN ('{incomplete}',
    '{row_reference}', '{row_reference,log_density}', '{row_reference,columns}'))) AS wrong
  FROM (SELECT name, path, complaint(format('SELECT %L::bayes_model', m #- path)) AS said FROM paths
  JOIN sound USING (name)) AS tried$$, 'without any member or element: 22P02 that names it');
SELECT never($$SELECT name, path, said, said NOT LIKE '22P02 invalid bayes_model: %'
  AND NOT (said = 'no error' AND path IN ('{method}', '{pg_bayes,version}')) AS wrong
  FROM (SELECT name, path,
  complaint(format('SELECT %L::bayes_model', jsonb_set(m, path, '"hostile"'))) AS said FROM paths
  JOIN sound USING (name)) AS tried$$, 'a string instead: 22P02');
SELECT never($$SELECT name, path, other, said, said NOT LIKE '22P02 invalid bayes_model: %'
  AND NOT (said = 'no error' AND (path[1] = 'trace' OR path = '{converged}')) AS wrong
  FROM (SELECT name, path, other,
  complaint(format('SELECT %L::bayes_model', jsonb_set(m, path, other))) AS said
    FROM paths JOIN sound USING (name),
      jsonb_array_elements(
      '[null, true, {}, [], [[]], "", [1], [[1]], ["a"]]') AS other) AS tried$$,
      'a member of another type: 22P02');
SELECT never($$SELECT name, path, other, said, said <> 'no error'
  AND said NOT LIKE '22P02 invalid bayes_model: %'
  AND NOT (path = '{pg_bayes,format}' AND said LIKE '22P02 unsupported bayes_model: %') AS wrong
  FROM (SELECT name, path, other,
  complaint(format('SELECT %L::bayes_model', jsonb_set(m, path, other))) AS said
    FROM paths JOIN sound USING (name),
      jsonb_array_elements(
      '["NaN", "Infinity", "-Infinity", -1, 1e300, -1e300, 0.5, 9223372036854775807,
      1e19]') AS other) AS tried$$, 'numbers that cannot be: 22P02 or harmless');
SELECT never($$SELECT path, other,
  complaint(format('SELECT %L::bayes_model', jsonb_set(m, path, other))) = 'no error' AS wrong
  FROM paths
  JOIN sound USING (name), jsonb_array_elements('["NaN", "Infinity"]') AS other
  WHERE path[1] IN ('weights', 'means', 'covariances', 'counts', 'weight', 'rows', 'dimension',
  'components', 'posterior')$$, 'NaN and Infinity nowhere among the parameters');
SELECT throws_ok(format('SELECT %L::bayes_model', jsonb_set(m, '{weights}', '[0.5, 0.4]')), '22P02',
  'invalid bayes_model: member "weights" must not be negative and must sum to 1',
  'weights that do not sum to 1') FROM template;
SELECT throws_ok(format('SELECT %L::bayes_model', jsonb_set(m, '{weights}', '[1.5, -0.5]')),
  '22P02', 'invalid bayes_model: member "weights" must not be negative and must sum to 1',
  'a negative weight') FROM template;
SELECT throws_ok(
  format('SELECT %L::bayes_model', jsonb_set(m, '{covariances,1}', '[[1, 2], [2, 1]]')), '22P02',
  'invalid bayes_model: member "covariances" must be positive definite; number 2 is not',
  'an indefinite covariance') FROM template;
SELECT throws_ok(
  format('SELECT %L::bayes_model', jsonb_set(m, '{covariances,0}', '[[1, 0.5], [0.25, 1]]')),
  '22P02', 'invalid bayes_model: member "covariances" must hold symmetric matrices; number 1 is '
  'not', 'a covariance that is not symmetric') FROM template;
SELECT throws_ok(
  format('SELECT %L::bayes_model', jsonb_set(m, '{covariances,0}', '[[0, 0], [0, 0]]')), '22P02',
  'invalid bayes_model: member "covariances" must be positive definite; number 1 is not',
  'a covariance of zeros') FROM template;
SELECT throws_ok(format('SELECT %L::bayes_model', jsonb_set(m, '{family}', '"hmm2"')), '22P02',
  'invalid bayes_model: unknown family "hmm2"', 'an unknown family') FROM template;
SELECT throws_ok(format('SELECT %L::bayes_model', jsonb_set(m, '{pg_bayes,format}', '2')), '22P02',
  'unsupported bayes_model: its format is 2, but this version of pg_bayes reads formats up to 1',
  'a newer format') FROM template;
SELECT throws_ok(format('SELECT %L::bayes_model', jsonb_set(m, '{colour}', '1')), '22P02',
  'invalid bayes_model: unknown member "colour"', 'a member that no model has') FROM template;
SELECT throws_ok(format('SELECT (%L::jsonb)::bayes_model', m - 'means'), '22P02',
  'invalid bayes_model: member "means" is missing', 'the cast from jsonb checks as the text does')
FROM template;

-- No JSON at all, or JSON that PostgreSQL itself would take.
SELECT never($$SELECT text, said, said NOT LIKE '22P02 %' AS wrong
  FROM (SELECT text, complaint(format('SELECT %L::bayes_model', text)) AS said FROM (
    VALUES (''), (' '), ('model'), ('{'), ('{}'), ('[]'), ('[[]]'), ('null'), ('true'), ('1'),
      ('"a"'), ('{"pg_bayes": 1}'), ('{"pg_bayes": {"format": 1}}'), ('{"a": 1, "a": 1}'),
      ('{"a": NaN}'), ('{"rows": 99999999999999999999999}'), (repeat('[', 100000)),
        (repeat('[', 40) || repeat(']', 40)), (repeat('{"a":', 40) || '1' || repeat('}', 40)),
        ('{"a": "' || repeat('x', 100000) || '"}')) AS hostile(text)) AS tried$$,
        'text that is no model: 22P02') ;
SELECT throws_ok($$SELECT '{"a": "\u0000"}'::bayes_model$$, '22P05', NULL,
  'a NUL character: as for jsonb');
-- Arrays of every kind keep their elements, whichever of them make them no array of numbers.
SELECT never($$SELECT value, kept, kept IS DISTINCT FROM value AS wrong
  FROM template, jsonb_array_elements('[[], [1], [1, 2.5, -3e300], ["NaN", 1, "-0"], [1, "x"],
    [1, 2.5, "-0", "NaN", "Infinity", "-Infinity", 9007199254740993, null, 1], [[1, 2], [3, 4]],
    [[1, 2], [3]], [[1], 2], [1, [2]], [[1], [2], "x"], [[[1], [2]], [[3], [4]]], [[[1]], [[2, 3]]],
    [[1, 2], {"b": [1]}, 3], [true, 1], [1, true], ["x", 1, [1]], [{}, 1], [[], 1],
    [["NaN"], ["x"]], [[[1, 2], [3]], [[4, 5], [6]]], [9007199254740993, "x"],
    [[1, 2], null, [3, 4]]]') AS value,
    LATERAL (SELECT jsonb_set(m, '{options}', jsonb_build_object('a', value))::text::bayes_model
      ::jsonb #> '{options,a}' AS kept) AS k$$, 'arrays of all kinds are kept as they are');
SELECT lives_ok(format('SELECT %L::bayes_model', jsonb_set(m, '{options,many}', ('[[2'
  || repeat(', 1', 1000000) || ']]')::jsonb)), 'a million numbers are no large text') FROM template;
SELECT throws_ok(format('SELECT %L::bayes_model', replace(m::text, '"options": {',
  '"options": {"many": [' || start || repeat(', ' || element, 1000000) || last || '], ')), '22P02',
  'JSON has more than 1000000 values', 'a million values of another kind are too many: ' || element)
FROM template, (VALUES ('1', '"x"', ''), ('[]', '1', ''), ('1', '1', ', "x"'),
  ('[1]', '[1]', ', "x"'), ('{}', '[]', '')) AS v(start, element, last);
SELECT throws_ok($$SELECT '{"a": 1e999}'::bayes_model$$, '22003',
  'number 1e999 is too large for double precision', 'a number out of range: as for float8');
SELECT never($$SELECT said, said NOT LIKE '22P02 %' AS wrong
  FROM (SELECT complaint(format('SELECT %L::bayes_model', left(m::text, n))) AS said FROM template,
  generate_series(0, length(m::text) - 1, 7) AS n) AS tried$$,
  'text cut short anywhere: 22P02');
SELECT is((SELECT count(*) FROM models, gmm_components(model) WHERE name = 'em full'), 2::bigint,
  'the session goes on');

-- ---- stored bytes that are no model: damage to the disk, or the hand of a superuser ----

CREATE CAST (bytea AS bayes_model) WITHOUT FUNCTION;
CREATE TEMP TABLE sound_bytes AS SELECT _bayes_model_send(model) AS b FROM models
  WHERE name = 'vi full';
SELECT lives_ok('SELECT gmm_components(b::bayes_model) FROM sound_bytes',
  'untouched bytes are a model');
SELECT never($$SELECT at, said, said NOT LIKE 'XX001 stored bayes_model is corrupted: %' AS wrong
  FROM (SELECT at,
  complaint(format('SELECT gmm_components(set_byte(%L::bytea, %s, get_byte(%1$L::bytea, %2$s) # '
  '16)::bayes_model)', b, at)) AS said
    FROM sound_bytes, generate_series(0, length(b) - 9, 5) AS at) AS tried$$,
      'one bit flipped anywhere: data corrupted');
SELECT never($$SELECT n, said, said NOT LIKE 'XX001 stored bayes_model is corrupted: %' AS wrong
  FROM (SELECT n,
  complaint(format('SELECT gmm_components(substr(%L::bytea, 1, %s)::bayes_model)', b,
  n)) AS said FROM sound_bytes, generate_series(0, length(b) - 1, 9) AS n) AS tried$$,
  'cut short anywhere: data corrupted');
SELECT never($$SELECT call, said, said NOT LIKE 'XX001 stored bayes_model is corrupted: %' AS wrong
  FROM (SELECT call, complaint(format('SELECT ' || call, '\x50474d42'::bytea)) AS said
  FROM unnest(ARRAY['_bayes_model_out(%L::bytea::bayes_model)',
  '_bayes_model_send(%L::bytea::bayes_model)', '%L::bytea::bayes_model::jsonb',
    'bayes_info(%L::bytea::bayes_model)', 'bayes_trace(%L::bytea::bayes_model)',
      'gmm_posterior(%L::bytea::bayes_model)', 'bayes_sample(%L::bytea::bayes_model, 1, 1)',
      'gmm_predict(%L::bytea::bayes_model, ''{1}'')',
    'bayes_probabilities(%L::bytea::bayes_model, ''{1}'')',
      'bayes_log_density(%L::bytea::bayes_model, ''{1}'')',
      'gmm_fit(''{1}''::float8[], %L::bytea::bayes_model)',
      'gmm_update(''{1}''::float8[], %L::bytea::bayes_model)']) AS call) AS tried$$,
      'every function that reads a model says so');
DROP CAST (bytea AS bayes_model);

SELECT * FROM finish();
