-- How surprising a step is after those before it, and questions to models about single steps.
SELECT plan(30);
\ir ../lib/hmm.sql
\ir ../lib/hmm_observed.sql

-- ---- a row for every step ----

CREATE TABLE surprises AS
  SELECT data, method, t, hmm_surprise(model, name) OVER w AS s, name IS NULL AS missing
    FROM fits JOIN observed USING (data) WHERE data IN ('letters', 'words')
    WINDOW w AS (PARTITION BY data, method ORDER BY t)
  UNION ALL SELECT data, method, t, hmm_surprise(model, number) OVER w, number IS NULL
    FROM fits JOIN observed USING (data)
    WHERE data IN ('counts', 'waiting', 'exponential', 'long')
    WINDOW w AS (PARTITION BY data, method ORDER BY t)
  UNION ALL SELECT data, method, t, hmm_surprise(model, ROW(vector[1], vector[2])) OVER w,
      num_nulls(vector[1], vector[2]) = 2
    FROM fits JOIN observed USING (data) WHERE data LIKE 'duo%' OR data = 'mixed'
    WINDOW w AS (PARTITION BY data, method ORDER BY t);
SELECT is((SELECT count(DISTINCT (data, method)) FROM surprises), 55::bigint,
  'eleven kinds of emissions, five methods');
CREATE TABLE likelihoods AS
  SELECT data, method, hmm_log_likelihood(model, x) AS l FROM fits JOIN (SELECT data,
    array_agg(name ORDER BY t) AS x FROM observed GROUP BY 1) AS o USING (data)
    WHERE data IN ('letters', 'words')
  UNION ALL SELECT data, method, hmm_log_likelihood(model, x) FROM fits JOIN (SELECT data,
    array_agg(number ORDER BY t) AS x FROM observed GROUP BY 1) AS o USING (data)
    WHERE data IN ('counts', 'waiting', 'exponential', 'long')
  UNION ALL SELECT data, method, hmm_log_likelihood(model, x) FROM fits JOIN (SELECT data,
    array_agg(vector ORDER BY t) AS x FROM observed WHERE vector IS NOT NULL GROUP BY 1) AS o
    USING (data);
SELECT never($$SELECT data, method, s, l, NOT near(s, -l, 1e-10) AS wrong FROM likelihoods
  FULL JOIN (SELECT data, method, sum(s) AS s FROM surprises GROUP BY 1, 2) AS s
  USING (data, method)$$, 'over a sequence surprises sum to -hmm_log_likelihood');
SELECT never($$SELECT data, method, t, (s IS NULL) <> missing AS wrong FROM surprises$$,
  'NULL for a step of which nothing is known, not for one known in part');
-- By hand, in numbers.
SELECT results_eq($$SELECT round(exp(-hmm_surprise(m, o) OVER (ORDER BY t))::numeric, 12)
    FROM tiny, unnest('{a,b}'::text[]) WITH ORDINALITY AS u(o, t)$$,
  $$VALUES (0.64), (round((0.54 * (0.7 * 0.1 + 0.3 * 0.75) + 0.1 * (0.2 * 0.1 + 0.8 * 0.75))
    / 0.64, 12))$$, 'two steps');
SELECT never($$SELECT t, NOT near(s, hmm_log_likelihood(m, x[:t - 1])
    - hmm_log_likelihood(m, x[:t])) AS wrong
  FROM (SELECT m, t, x, hmm_surprise(m, o) OVER (ORDER BY t) AS s
      FROM tiny, (SELECT '{b,what,a,b,what}'::text[] AS x) AS a, unnest(x) WITH ORDINALITY u(o, t))
    AS q$$, 'an unknown name has the probability that it has in a likelihood');
SELECT never(format($$SELECT t, a IS DISTINCT FROM b AS wrong FROM (SELECT t,
    hmm_surprise(model, waiting) OVER v AS a, hmm_surprise(model, waiting) OVER w AS b
    FROM fits, geyser WHERE data = 'waiting' AND method = 'gibbs'
    WINDOW v AS (ORDER BY t), w AS (ORDER BY t %s)) AS q$$, frame), 'frame: ' || frame)
FROM unnest('{ROWS BETWEEN 5 PRECEDING AND CURRENT ROW,ROWS BETWEEN CURRENT ROW AND UNBOUNDED '
  'FOLLOWING,GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW}'::text[]) AS frame;
SELECT is((SELECT array_agg(s ORDER BY t) FROM (SELECT t, hmm_surprise(NULL, o) OVER (ORDER BY t)
  AS s FROM unnest('{a,b}'::text[]) WITH ORDINALITY AS u(o, t)) AS q), '{NULL,NULL}'::float8[],
  'of a NULL model');
SELECT never($$SELECT a.method, t, s IS DISTINCT FROM alone AS wrong FROM surprises AS a JOIN
  (SELECT method, t, hmm_surprise(model, name) OVER (ORDER BY t) AS alone FROM fits
    JOIN observed USING (data) WHERE data = 'letters' AND method = 'vi') AS b USING (method, t)
  WHERE data = 'letters'$$, 'each partition has its own model');
-- A letter that no state has, of a chain that cannot go back.
SELECT results_eq($$SELECT o, s = 'Infinity', s IS NULL FROM (SELECT t, o,
    hmm_surprise(m, o) OVER (ORDER BY t) AS s FROM (SELECT hmm_fit(x, 2, '{"method": "em",
      "emission": "normal"}') AS m FROM (VALUES ('{0,0.1,0.2,3,3.1,3.2}'::float8[])) AS v(x)) AS f,
    (VALUES (1, 0.1), (2, 1e99), (3, 3), (4, NULL)) AS u(t, o)) AS q ORDER BY t$$,
  $$VALUES (0.1, false, false), (1e99, false, false), (3, false, false), (NULL, NULL, true)$$,
  'what is far away is very surprising, what is NULL not at all');
-- Records, with labels.
CREATE TYPE reading AS (load float8, alarm boolean, mode text);
CREATE TABLE log AS SELECT t, ROW(CASE WHEN t % 9 <> 4 THEN 3 * (t / 20 % 2) + sin(t) END,
  t / 20 % 2 = 1 AND t % 3 > 0, CASE WHEN t % 13 <> 5 THEN (ARRAY['idle', 'run', 'off'])
    [1 + t / 20 % 2 + (t % 7 = 0)::int] END)::reading AS r FROM generate_series(1, 120) AS t;
CREATE TABLE logs AS SELECT method, hmm_fit(x, 2, options_of(method)) AS model FROM methods,
  (SELECT array_agg(r ORDER BY t) AS x FROM log) AS l GROUP BY method;
SELECT never($$SELECT method, sum(s), NOT near(sum(s), -hmm_log_likelihood(model, array_agg(r
    ORDER BY t)), 1e-10) AS wrong FROM (SELECT method, model, t, r, hmm_surprise(model, r)
    OVER (PARTITION BY method ORDER BY t) AS s FROM logs, (SELECT t, CASE t WHEN 3
      THEN ROW(1, true, 'new')::reading WHEN 5 THEN NULL ELSE r END AS r FROM log) AS l) AS q
  GROUP BY method, model$$, 'records, of which one has a new label and one is NULL');

-- ---- a step as a row ----

CREATE VIEW shares AS SELECT data, method, model, state, visits / sum(visits)
  OVER (PARTITION BY data, method) AS share FROM fits, hmm_states(model);
SELECT never($$SELECT data, method, symbol, NOT near(bayes_log_density(model, symbol), ln(p), 1e-10)
    AS wrong FROM (SELECT data, method, s.model, symbol, sum(share * probability) AS p
    FROM shares AS s, LATERAL (SELECT * FROM hmm_emissions(model) AS e WHERE e.state = s.state)
      AS e WHERE data IN ('letters', 'words') AND method <> 'gibbs' GROUP BY 1, 2, 3, 4) AS q$$,
  'states have their shares of the steps of the fit');
SELECT never($$SELECT method, x, NOT near(bayes_log_density(model, x), ln(p), 1e-10)
    OR bayes_log_density(model, ARRAY[x]) <> bayes_log_density(model, x) AS wrong
  FROM (SELECT method, s.model, x, sum(share * exp(-((x - mean[1]) ^ 2) / (2 * covariance[1][1]))
      / sqrt(2 * pi() * covariance[1][1])) AS p
    FROM shares AS s, LATERAL (SELECT * FROM hmm_emissions(model) AS e WHERE e.state = s.state)
      AS e, unnest('{40,60.5,90}'::float8[]) AS x WHERE data = 'waiting' AND method IN ('em', 'map')
    GROUP BY 1, 2, 3) AS q$$, 'of numbers, alone or in an array');
SELECT never($$SELECT data, method, NOT near(total, 1, 1e-9) AS wrong FROM (SELECT data, method,
    sum(exp(bayes_log_density(model, symbol))) AS total FROM fits,
    LATERAL (SELECT DISTINCT symbol FROM hmm_emissions(model)) AS e
    WHERE data IN ('letters', 'words') GROUP BY 1, 2) AS q$$, 'probabilities of names sum to 1');
SELECT never($$SELECT data, method, NOT near(bayes_log_density(model, v),
    bayes_log_density(model, g) + bayes_log_density(model, r, g), 1e-10) AS wrong FROM fits,
  (SELECT '{60,3}'::float8[] AS v, '{60,NULL}'::float8[] AS g, '{NULL,3}'::float8[] AS r) AS x
  WHERE data LIKE 'duo%'$$, 'of vectors, some elements given others');
SELECT never($$SELECT data, method, c.*, NOT (lower < value AND value < upper
    AND near((bayes_impute(model, '{60,NULL}'::float8[]))[2], value)) AS wrong
  FROM fits, bayes_conditional(model, '{60,NULL}'::float8[]) AS c WHERE data LIKE 'duo%'$$,
  'what is missing, given the rest');
SELECT never($$SELECT method, c.*, NOT (CASE column_name WHEN 'load' THEN value
    BETWEEN lower AND upper WHEN 'mode' THEN probability BETWEEN 0 AND 1 END) AS wrong
  FROM logs, (SELECT true AS alarm, NULL::float8 AS load, NULL::text AS mode) AS r,
    bayes_conditional(model, r) AS c$$, 'of records by name');
SELECT never($$SELECT method, NOT (i.r).load BETWEEN 1 AND 5 OR (i.r).mode <> 'run' AS wrong
  FROM logs, LATERAL (SELECT bayes_impute(model, ROW(NULL, true, NULL)::reading) AS r) AS i$$,
  'a record is filled in');
SELECT never($$SELECT data, method, p, NOT coalesce(p BETWEEN 0 AND 1, false) AS wrong FROM fits,
    LATERAL (SELECT bayes_anomaly(model, '{60,3}'::float8[]) AS p UNION ALL
      SELECT bayes_similarity(model, '{60,3}'::float8[], '{50,NULL}'::float8[]) UNION ALL
      SELECT bayes_probability(model, '{60,1}'::float8[], '{70,3}'::float8[])) AS q
  WHERE data LIKE 'duo%'$$, 'strangeness, likeness, boxes');
SELECT never($$SELECT data, method, NOT near(bayes_probability(model, b, n)
    + bayes_probability(model, n, b), 1, 1e-9) AS wrong
  FROM fits, (SELECT '{60,NULL}'::float8[] AS b, '{NULL,NULL}'::float8[] AS n) AS r
  WHERE data LIKE 'duo%'$$, 'two halves are a whole');
SELECT never($$SELECT method, s.*, NOT (surprise > 0 AND tail BETWEEN 0 AND 1
    AND (expected IN ('0', '1', 'true', 'false')) = (element = 2 OR element IS NULL)) AS wrong
  FROM fits, bayes_surprise(model, '{200,1}'::float8[]) AS s WHERE data = 'mixed'$$,
  'why a step is strange');
SELECT never($$SELECT method, i.*, CASE WHEN element1 = element2
    THEN (nats IS NULL) <> (column1 = 'load') ELSE nats < 0.1 OR (mcse > 0) END AS wrong
  FROM logs, bayes_mutual_information(model, '{"seed": 2}') AS i$$, 'what goes with what');
SELECT results_eq($$SELECT method, count(*), count(DISTINCT component) FROM logs,
    bayes_sample(model, 100, 1) GROUP BY method ORDER BY method$$,
  $$SELECT method, 100::bigint, 2::bigint FROM logs ORDER BY method$$, 'steps drawn, and states');
SELECT never($$SELECT method, s.x[2] <> 1 AS wrong FROM logs, (SELECT true AS alarm) AS g,
    bayes_sample(model, 20, 1, g) AS s$$, 'and those that are given something');
SELECT results_eq($$SELECT label, round(probability::numeric, 12) FROM fits,
    (SELECT NULL::text AS symbol) AS r,
    bayes_conditional(model, r) WHERE data = 'words' AND method = 'em' AND label = '3'$$,
  $$SELECT '3', round(exp(bayes_log_density(model, 3))::numeric, 12) FROM fits
    WHERE data = 'words' AND method = 'em'$$,
  'a record of a name; a value that is a number is a name by its text');
SELECT is(bayes_impute(model, r), r, 'a name that is there stays') FROM fits,
  (SELECT 'e'::text AS symbol) AS r WHERE data = 'letters' AND method = 'vi';
SELECT throws_ok($$SELECT bayes_log_density(model, 'NaN'::float8) FROM fits
  WHERE data = 'words' AND method = 'em'$$, '22023', NULL, 'NaN is no name');
SELECT throws_ok($$SELECT bayes_log_density(model, '{1,2,3}'::float8[]) FROM fits
  WHERE data = 'duo full' AND method = 'em'$$, '2202E', NULL, 'a step of another length');
SELECT throws_ok($$SELECT bayes_predict(model, 1) FROM fits WHERE data = 'waiting'
  AND method = 'em'$$, '42804', 'a model of family hmm takes sequences, not rows of columns',
  'states of steps depend on other steps');
SELECT * FROM finish();
