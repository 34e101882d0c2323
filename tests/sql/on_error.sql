-- Failures that stay small: with option on_error = null a group whose rows are refused gives NULL,
-- and all other groups what they give without it. Of 1000 groups, seven in a hundred have a row
-- that is refused, each of another kind; every family is fitted to all of them.
SELECT plan(117);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

CREATE TABLE given AS
SELECT g, i, kind, v,
  CASE bad WHEN 'length' THEN ARRAY[v, 1, 2] ELSE ARRAY[v, cos(g + i)] END AS x,
  CASE bad WHEN 'weight' THEN -1 ELSE 1 END::float8 AS w,
  CASE bad WHEN 'negative' THEN -1 ELSE (g + i) % 3 END AS n,
  CASE bad WHEN 'negative' THEN '{"a": 1, "b": -1}' WHEN 'shape' THEN '[1]'
    ELSE jsonb_build_object('a', i, 'b', g % 7 + 1) END AS doc
FROM (SELECT g, i, kind, CASE i WHEN 5 THEN kind END AS bad,
    CASE WHEN i <> 5 OR kind IS NULL THEN sin(g * i) WHEN kind = 'nan' THEN 'NaN'
      WHEN kind = 'infinity' THEN '-Infinity' WHEN kind = 'large' THEN 1e200 ELSE 0.5 END AS v
  FROM generate_series(1, 1000) AS g, generate_series(1, 6) AS i,
    LATERAL (SELECT ('{nan,infinity,large,weight,length,negative,shape}'::text[])[g % 100])
      AS k(kind)) AS s;
-- Sums depend in their last digits on the order of rows.
CREATE VIEW ordered AS SELECT * FROM given ORDER BY g, i;

-- Fits a family, by this expression, to all groups. They must be NULL for these kinds of rows, and
-- equal those of the good groups alone otherwise. Fits that take milliseconds have fewer groups.
CREATE FUNCTION of_groups(fit text, kinds text, name text, most int DEFAULT 1000)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  of_option text := replace(fit, '$o', '''{"on_error": "null"}''');
BEGIN
  EXECUTE format('CREATE TEMP TABLE fitted AS SELECT g, '
    'coalesce(min(kind) = ANY(%L), false) AS bad, %s AS fit FROM ordered WHERE g <= %s GROUP BY g',
    kinds, of_option, most);
  RETURN NEXT never('SELECT g, (fit IS NULL) <> bad AS wrong FROM fitted',
    name || ': NULL for what is refused');
  RETURN NEXT never(format('SELECT g, f.fit IS DISTINCT FROM a.fit AS wrong FROM fitted AS f JOIN '
    '(SELECT g, %s AS fit FROM ordered WHERE NOT coalesce(kind = ANY(%L), false) AND g < 120 '
    'GROUP BY g) AS a USING (g)', of_option, kinds), name || ': the others are what they are');
  RETURN NEXT is(complaint(format('SELECT %s FROM given WHERE kind = (%L::text[])[1] GROUP BY g',
    replace(fit, '$o', 'NULL'), kinds)) <> 'no error', true,
    name || ': an error without the option');
  DROP TABLE fitted;
END $$;

SELECT of_groups(fit, '{' || kinds || '}', split_part(fit, '(', 1),
  CASE WHEN fit ~ '^(dpmm|hmm|lda|nmf|pmf)' THEN 210 ELSE 1000 END) FROM (VALUES
  ('gmm_fit(x, 1, $o, w)', 'nan,infinity,large,length,weight'),
  ('gmm_select(x, ARRAY[1], $o)', 'nan,infinity,large,length'),
  ('bmm_fit(ARRAY[n, n + 1], 1, ($o::jsonb || ''{"likelihood": "poisson"}''), w)',
    'negative,weight'),
  ('dpmm_fit(x, ($o::jsonb || ''{"draws": 4, "chains": 1}''))', 'nan,infinity,large,length'),
  ('hmm_fit(x, 1, ($o::jsonb || ''{"emission": "normal"}''), w)', 'nan,infinity,large,weight'),
  ('lda_fit(doc, 1, $o)', 'negative,shape'),
  ('lda_fit(i, ''term'' || i % 2, n, 1, $o)', 'negative'),
  ('nmf_fit(ARRAY[abs(v), n, 1], 1, $o)', 'nan,infinity,large,negative'),
  ('nmf_fit(i, i % 3, abs(v), 1, $o)', 'nan,infinity,large'),
  ('pmf_fit(i, i % 2, v, 1, ($o::jsonb || ''{"draws": 4, "chains": 1}''))', 'nan,infinity'),
  ('nb_fit(i % 2, x, $o, w)', 'nan,infinity,large,length,weight'),
  ('nb_fit(i % 2, doc, $o)', 'negative,shape'),
  ('linreg_fit(v, x, $o, w)', 'nan,infinity,large,length,weight'),
  ('linreg_stats(v, x, $o, w)', 'nan,infinity,large,length,weight'),
  ('logreg_fit(i % 2, x, $o, w)', 'nan,infinity,large,length,weight'),
  ('probit_fit(i % 2, x, $o, w)', 'nan,infinity,large,length,weight'),
  ('beta_bernoulli_fit(i % 2 = 1, $o, w)', 'weight'),
  ('gamma_poisson_fit(n, $o, w)', 'negative,weight'),
  ('normal_inverse_gamma_fit(v, $o, w)', 'nan,infinity,large,weight'),
  ('dirichlet_categorical_fit(v, $o, w)', 'nan,weight')) AS f(fit, kinds);

-- Records, whose columns the first one determines: a label among numbers is refused as it comes.
SELECT of_groups(replace(fit, '$r', 'CASE WHEN doc = ''[1]'' THEN ROW(v, ''text''::text) '
  'ELSE ROW(v, cos(g + i)) END'), '{nan,infinity,large,shape}', fit) FROM (VALUES
  ('gmm_fit($r, 1, $o)'), ('linreg_fit(i, $r, $o)'), ('nb_fit(i % 2, $r, $o)'),
  ('logreg_fit(i % 2 = 0, $r, $o)')) AS f(fit);

-- ---- merged models, and statistics ----

CREATE TABLE parts AS SELECT g, i % 2 AS half,
  beta_bernoulli_fit(n = 1, jsonb_build_object('prior', jsonb_build_object('a',
    CASE WHEN g % 100 = 1 THEN i % 2 + 1 ELSE 1 END))) AS model,
  linreg_stats(i, CASE WHEN g % 100 = 1 THEN array_fill(1.0, ARRAY[i % 2 + 1])
    ELSE ARRAY[1.0, i] END) AS stats
FROM (SELECT * FROM given WHERE n >= 0) AS g GROUP BY g, half;
SELECT never(format('SELECT g, (%s IS NULL) <> (g %% 100 = 1) AS wrong FROM parts GROUP BY g',
  what), what) FROM (VALUES ($q$bayes_rollup(model, '{"on_error": "null"}')$q$),
  ($q$bayes_rollup(stats, '{"on_error": "null"}')$q$)) AS w(what);
SELECT is(complaint(format('SELECT %s FROM parts WHERE g = 1', what)), said, what) FROM (VALUES
  ('bayes_rollup(model)', '22023 models with different options cannot be merged'),
  ('bayes_rollup(stats)',
    '2202E statistics of rows with 2 predictors cannot be added to others with 1'),
  ($q$bayes_rollup(model, '{"on_eror": "null"}')$q$, '22023 unknown option "on_eror"'),
  ($q$bayes_rollup(stats, '{"on_error": 1}')$q$,
    '22023 option "on_error" is 1, but must be one of error, null')) AS w(what, said);
SELECT same(bayes_rollup(model, '{"on_error": "null"}'), bayes_rollup(model), 'the same model')
FROM parts WHERE g = 2;
SELECT is((SELECT string_agg(coalesce((model IS NULL)::text, '-'), ' ' ORDER BY n) FROM (SELECT n,
    bayes_rollup(model, '{"on_error": "null"}') OVER (ORDER BY n ROWS 1 PRECEDING) AS model
    FROM (SELECT n, beta_bernoulli_fit(n > 0, jsonb_build_object('prior', jsonb_build_object('a',
      CASE n WHEN 3 THEN 2 ELSE 1 END))) AS model FROM generate_series(1, 5) AS n GROUP BY n) AS m)
  AS w), 'false false true true false', 'over a window: NULL where two do not go together');

-- ---- windows and queries ----

CREATE TABLE few AS SELECT * FROM given WHERE g % 100 IN (1, 50) AND g < 300;
SELECT never(format('SELECT g, (c IS NULL) <> (kind IS NOT NULL) AS wrong FROM (SELECT g, kind, '
  '%s OVER (PARTITION BY g) AS c FROM few) AS s', call), call) FROM (VALUES
  ($q$gmm_cluster(x, 1, '{"on_error": "null"}')$q$),
  ($q$bmm_cluster(ARRAY[v], 1, '{"on_error": "null", "likelihood": "normal"}')$q$),
  ($q$dpmm_cluster(x, '{"on_error": "null", "draws": 4}')$q$)) AS c(call);

SELECT is_empty(format('SELECT * FROM %s', call), call) FROM (VALUES
  ($q$gmm_fit('SELECT x FROM few', 1, '{"on_error": "null"}')$q$),
  ($q$gmm_select('SELECT x FROM few', '{1,2}', '{"on_error": "null"}')$q$),
  ($q$hmm_fit('SELECT g, array_agg(v) FROM few GROUP BY g', 1, '{"on_error": "null"}')$q$),
  ($q$lda_topics('SELECT ''[1]''::jsonb', 1, '{"on_error": "null"}')$q$),
  ($q$lda_select('SELECT ''[1]''::jsonb', '{1}', '{"on_error": "null"}')$q$),
  ($q$nmf_select('SELECT x FROM few', '{1}', '{"on_error": "null"}')$q$),
  ($q$linreg_fit('SELECT v, i FROM few', '{"on_error": "null"}'::jsonb)$q$),
  ($q$logreg_fit('SELECT i % 2 = 0, v FROM few', '{"on_error": "null"}'::jsonb)$q$),
  ($q$nb_fit('SELECT i % 2, x FROM few', '{"on_error": "null"}'::jsonb)$q$),
  ($q$dpmm_similarity('SELECT i, x FROM few', '{"on_error": "null", "draws": 4}')$q$)) AS c(call);
SELECT never(format('SELECT %s IS NOT NULL AS wrong', call), call) FROM (VALUES
  ($q$gmm_model('SELECT x FROM few', 1, '{"on_error": "null"}')$q$),
  ($q$nb_model('SELECT i % 2, x FROM few', '{"on_error": "null"}')$q$),
  ($q$linreg_model('SELECT v, i FROM few', '{"on_error": "null"}')$q$),
  ($q$pmf_model('SELECT g, i, v FROM few', 1, '{"on_error": "null"}')$q$)) AS c(call);
SELECT results_eq($$SELECT count(*), count(cluster) FROM
  dpmm_cluster('SELECT i, x FROM few', '{"on_error": "null", "draws": 4}')$$,
  'SELECT count(*), 0::bigint FROM few', 'rows have names, and no cluster');
SELECT results_eq(format($$SELECT count(*), count(state) FROM hmm_decode('%s', 1,
  '{"on_error": "null"}')$$, query), 'SELECT count(*), 0::bigint FROM few', query) FROM (VALUES
  ('SELECT g, array_agg(v ORDER BY i) FROM few GROUP BY g'),
  ('SELECT g, v, i FROM few ORDER BY g, i')) AS q(query);

-- ---- what stays an error ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT gmm_fit('{NaN}'::float8[], 1, '{"on_error": "null", "tol": -1}')$q$,
    '22023 option "tol" is -1, but must be a number from 0 to 1000000'),
  ($q$SELECT gmm_fit(ROW('NaN'::float8, 1), 1, '{"on_error": "null", "tol": -1}')$q$,
    '22023 option "tol" is -1, but must be a number from 0 to 1000000'),
  ($q$SELECT bmm_fit(ROW('NaN'::float8, 1), 1,
    '{"on_error": "null", "likelihood": {"z": "poisson"}}')$q$,
    '22023 option "likelihood" names a column "z", which the rows do not have'),
  ($q$SELECT hmm_fit('{NaN}'::float8[], 1, '{"on_error": "null", "tol": -1}')$q$,
    '22023 option "tol" is -1, but must be a number from 0 to 1000000'),
  ($q$SELECT nb_fit(1, ROW('NaN'::float8),
    '{"on_error": "null", "likelihood": {"z": "poisson"}}')$q$,
    '22023 option "likelihood" names a column "z", which the rows do not have'),
  ($q$SELECT normal_inverse_gamma_fit('NaN', '{"on_error": "null", "pior": {}}')$q$,
    '22023 unknown option "pior"'),
  ($q$SELECT normal_inverse_gamma_fit(1, '{"on_error": "nul"}')$q$,
    '22023 option "on_error" is "nul", but must be one of error, null'),
  ($q$SELECT gmm_fit(x, i, '{"on_error": "null"}') FROM few$q$,
    '22023 k must be the same for all rows of one fit'),
  ($q$SELECT beta_bernoulli_fit(true, jsonb_build_object('on_error', 'null', 'prior',
    jsonb_build_object('a', i))) FROM few$q$,
    '22023 options must be the same for all rows of one fit'),
  ($q$SELECT gmm_fit(ARRAY[1 / (i - 6)], 1, '{"on_error": "null"}') FROM few$q$,
    '22012 division by zero'),
  ($q$SELECT gmm_fit('SELECT x, 1 / (i - 6) FROM few', 1, '{"on_error": "null"}')$q$,
    '22012 division by zero')) AS s(statement, said);

-- ---- moving frames: a row that is refused matters while it is in the frame ----

CREATE TABLE series AS SELECT t, CASE WHEN t % 17 = 0 THEN 'NaN' ELSE sin(t) END AS v,
  CASE WHEN t % 17 = 0 THEN -1 ELSE t % 4 END AS n,
  CASE WHEN t % 23 = 0 THEN -1 ELSE 1 END::float8 AS w,
  CASE WHEN t % 19 < 2 THEN ARRAY[cos(t)] ELSE ARRAY[cos(t), sin(t * t)] END AS x
FROM generate_series(1, 120) AS t;
-- Compares a moving aggregate with that of each frame alone, by what is shown of both.
CREATE FUNCTION of_frames(call text, shown text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN never(format('SELECT t, (SELECT %2$s FROM (SELECT f.m) AS a) IS DISTINCT FROM '
    '(SELECT %2$s FROM (SELECT %1$s AS m FROM series WHERE t BETWEEN f.t - 4 AND f.t) AS b) '
    'AS wrong FROM (SELECT t, %1$s OVER (ORDER BY t ROWS 4 PRECEDING) AS m FROM series) AS f',
    call, shown), call);
END $$;
SELECT of_frames(call, 'm') FROM (VALUES
  ($q$normal_inverse_gamma_fit(v, '{"on_error": "null"}', w)$q$),
  ($q$gamma_poisson_fit(n, '{"on_error": "null"}', abs(w))$q$),
  ($q$dirichlet_categorical_fit(v, '{"on_error": "null"}', w)$q$),
  ($q$beta_bernoulli_fit(v > 0, '{"on_error": "null"}', w)$q$)) AS c(call);
SELECT of_frames(call, '(SELECT i::text FROM linreg_stats_info(m) AS i)') FROM (VALUES
  ($q$linreg_stats(v, x, '{"on_error": "null"}', w)$q$),
  ($q$linreg_stats(n, CASE t % 29 WHEN 0 THEN ROW(1.0, 'a'::text)
    WHEN 1 THEN ROW('b'::text, 2.0) ELSE ROW(sin(t), cos(t)) END, '{"on_error": "null"}', 1)$q$))
  AS c(call);

SELECT * FROM finish();
