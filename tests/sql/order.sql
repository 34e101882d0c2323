-- Option order: components and states numbered by a rule of the user's.
SELECT plan(29);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE points AS SELECT i, CASE WHEN i % 10 < 5 THEN 3 WHEN i % 10 < 8 THEN -2 ELSE 9 END
    + 0.1 * sin(i * 7.3) * (1 + i % 10) AS a,
  CASE WHEN i % 10 < 5 THEN 1 WHEN i % 10 < 8 THEN 8 ELSE 4 END + 0.5 * cos(i * 1.7) AS b,
  (ARRAY['x', 'y', 'z'])[1 + (i % 10) / 4] AS c
FROM generate_series(1, 200) AS i;
CREATE TABLE methods AS SELECT method, jsonb_build_object('method', method) || CASE WHEN method IN
  ('gibbs', 'collapsed') THEN '{"draws": 60, "chains": 2}' ELSE '{}' END::jsonb AS o
FROM unnest('{em,map,vi,svi,gibbs}'::text[]) AS method;

-- ---- mixtures ----

CREATE TABLE gmms AS SELECT method, rule, gmm_fit(ARRAY[a, b], 3, o || rule) AS m
FROM points, methods, unnest('{"{}","{\"order\": \"weight\"}","{\"order\": \"mean\"}",'
  '"{\"order\": \"variance\"}","{\"order\": 2}"}'::jsonb[]) AS rule GROUP BY method, rule, o;
CREATE FUNCTION rising(key float8[]) RETURNS boolean
  RETURN (SELECT bool_and(x > before) FROM (SELECT x, lag(x) OVER (ORDER BY i) AS before
    FROM unnest(key) WITH ORDINALITY AS u(x, i)) AS q WHERE before IS NOT NULL);
SELECT never($$SELECT method, rule, rising(array_agg(CASE rule ->> 'order' WHEN 'mean' THEN mean[1]
    WHEN 'variance' THEN covariance[1][1] WHEN '2' THEN mean[2] ELSE -weight END
    ORDER BY component)) IS NOT TRUE AS wrong
  FROM gmms, gmm_components(m) GROUP BY method, rule$$, 'components of gmm by each rule');
SELECT never($$SELECT method, a.rule, count(*) <> 3 AS wrong FROM gmms AS a JOIN gmms AS b
    USING (method), gmm_components(a.m) AS x, gmm_components(b.m) AS y
  WHERE b.rule = '{}' AND near(x.weight, y.weight, 1e-6) AND near(x.mean, y.mean, 1e-6)
  GROUP BY method, a.rule$$, 'are the same components');
SELECT never($$SELECT method, rule, rising(array_agg(value ORDER BY component)) IS NOT TRUE AS wrong
  FROM gmms, bayes_parameters(m) WHERE parameter = 'mean' AND element = 2 AND rule ->> 'order' = '2'
  GROUP BY method, rule$$, 'as parameters too');
SELECT is(count(*), 0::bigint, 'rows are labelled by them') FROM gmms, points
WHERE rule ->> 'order' = 'mean' AND gmm_predict(m, ARRAY[a, b]) <>
  CASE WHEN i % 10 < 5 THEN 2 WHEN i % 10 < 8 THEN 1 ELSE 3 END;
SELECT is(i.options -> 'order', rule -> 'order', rule::text) FROM gmms, bayes_info(m) AS i
WHERE gmms.method = 'vi' ORDER BY rule;
SELECT is(timeless(gmm_fit(r, 3, '{"order": "b"}'), 'row_columns'),
  timeless(gmm_fit(ARRAY[r.a, r.b], 3, '{"order": 2}'), 'row_columns'), 'a column by its name')
FROM points AS p, LATERAL (SELECT p.a, p.b) AS r;
CREATE TABLE bmms AS SELECT method, bmm_fit(r, 3, o || '{"order": "b"}') AS m
FROM points AS p, methods, LATERAL (SELECT p.c, p.b, p.a) AS r GROUP BY method, o;
SELECT never($$SELECT method, rising(array_agg(value ORDER BY component)) IS NOT TRUE AS wrong
  FROM bmms, bayes_parameters(m) WHERE parameter = 'mean' AND column_name = 'b'
  GROUP BY method$$, 'bmm with columns of every type');

-- By this column no exchange of two clusters leads from their order by weight to that by its mean.
CREATE TABLE clustered AS SELECT i, a, c, CASE WHEN i % 10 < 5 THEN 5 WHEN i % 10 < 8 THEN 8 ELSE 1
    END + 0.5 * cos(i * 1.7) AS d FROM points;
CREATE TABLE dpmms AS SELECT method, of, rule, CASE WHEN of = 'numbers'
    THEN dpmm_fit(ARRAY[CASE WHEN i % 17 > 0 THEN p.a END, p.d], o || rule)
    ELSE dpmm_fit(r, o || rule) END AS m
FROM clustered AS p, LATERAL (SELECT p.c, p.d, p.a) AS r, unnest('{numbers,columns}'::text[]) AS of,
  unnest('{vi,collapsed,slice}'::text[]) AS method, LATERAL (SELECT jsonb_build_object('method',
    method) || CASE method WHEN 'vi' THEN '{}' ELSE '{"draws": 60}' END::jsonb AS o) AS o,
  unnest('{"{}","{\"order\": 2}","{\"order\": \"weight\"}"}'::jsonb[]) AS rule
GROUP BY method, of, rule, o;
SELECT never($$SELECT method, of, rule, rising(array_agg(CASE WHEN rule ->> 'order' = '2' THEN value
    ELSE -count END ORDER BY component)) IS NOT TRUE OR count(*) < 3 AS wrong
  FROM dpmms, LATERAL (SELECT component, value FROM bayes_parameters(m) WHERE parameter = 'mean'
    AND element = 2) AS p JOIN LATERAL dpmm_clusters(m) AS c ON c.cluster = p.component
  GROUP BY method, of, rule$$, 'clusters');
SELECT never($$SELECT method, of, a.rule, count(*) <> count(DISTINCT x.cluster) AS wrong
  FROM dpmms AS a JOIN dpmms AS b USING (method, of), dpmm_clusters(a.m) AS x
    LEFT JOIN LATERAL (SELECT * FROM dpmm_clusters(b.m) AS y WHERE x.count = y.count) AS y ON true
  WHERE b.rule = '{}' GROUP BY method, of, a.rule$$, 'are the same clusters');
SELECT never($$SELECT method, of, a.rule, NOT near(bayes_log_density(a.m, r),
    bayes_log_density(b.m, r), 1e-9) AS wrong
  FROM dpmms AS a JOIN dpmms AS b USING (method, of), (SELECT a, c, d FROM clustered) AS r
  WHERE b.rule = '{}' AND of = 'columns'$$, 'and give the same densities');

-- ---- refits ----

-- From a start model whose order is another, and from one that has the rule.
SELECT never($$SELECT method, rising(array_agg(mean[1] ORDER BY component)) IS NOT TRUE AS wrong
  FROM (SELECT method, gmm_fit(ARRAY[a, b], m, '{"order": "mean"}') AS n
    FROM gmms, points WHERE rule = '{}' GROUP BY method) AS f, gmm_components(n)
  GROUP BY method$$, 'a refit by a rule');
SELECT never($$SELECT method, rising(array_agg(mean[1] ORDER BY component)) IS NOT TRUE AS wrong
  FROM (SELECT method, gmm_fit(ARRAY[CASE WHEN i % 10 < 8 THEN 1 - a ELSE a END, b], m) AS n
    FROM gmms, points WHERE rule ->> 'order' = 'mean' GROUP BY method) AS f, gmm_components(n)
  GROUP BY method$$, 'the rule is kept, though two components have exchanged places');
SELECT never($$SELECT method, rising(array_agg(mean[2] ORDER BY cluster)) IS NOT TRUE
    OR sum(count) <> 200 AS wrong
  FROM (SELECT method, dpmm_fit(ARRAY[a, 10 - d], m, '{}') AS n FROM dpmms, clustered
    WHERE of = 'numbers' AND rule ->> 'order' = '2' GROUP BY method) AS f, dpmm_clusters(n)
  GROUP BY method$$, 'and in a refit of clusters');
SELECT never($$SELECT method, cluster, abs(k.mean[2] - p.own) > 0.3 AS wrong
  FROM dpmms, dpmm_clusters(m) AS k, LATERAL (SELECT avg(d) AS own FROM clustered
    WHERE dpmm_predict(m, ARRAY[a, d]) = k.cluster) AS p
  WHERE of = 'numbers' AND rule ->> 'order' = '2'$$, 'rows are labelled by them');
SELECT never($$SELECT rising(array_agg(mean[2] ORDER BY component)) IS NOT TRUE AS wrong
  FROM (SELECT gmm_update(ARRAY[a, b], m) AS n FROM gmms, points
    WHERE rule ->> 'order' = '2' AND method = 'vi') AS f, gmm_components(n)$$, 'in an update');

-- ---- states ----

CREATE TABLE series AS SELECT array_agg(a ORDER BY i) AS x, array_agg(ARRAY[a, b] ORDER BY i) AS xs,
  array_agg(c ORDER BY i) AS names FROM (SELECT *, CASE WHEN i / 20 % 2 = 0 THEN 3 ELSE -2 END
    + sin(i * 7.3) * CASE WHEN i / 20 % 2 = 0 THEN 0.2 ELSE 1.5 END AS a FROM
    (SELECT i, b, c FROM points WHERE i > 30) AS p) AS q;
CREATE TABLE hmms AS SELECT method, rule, hmm_fit(x, 2, o || rule || CASE WHEN method = 'gibbs'
    THEN '{}' ELSE '{"restarts": 3}' END::jsonb) AS m
FROM series, methods, unnest('{"{}","{\"order\": \"mean\"}","{\"order\": \"variance\"}"}'::jsonb[])
  AS rule WHERE method <> 'svi' GROUP BY method, rule, o;
SELECT never($$SELECT method, rule, rising(array_agg(CASE rule ->> 'order' WHEN 'mean' THEN mean[1]
    ELSE covariance[1][1] END ORDER BY state)) IS NOT TRUE AS wrong
  FROM hmms, hmm_emissions(m) WHERE rule <> '{}' GROUP BY method, rule$$, 'states by each rule');
SELECT never($$SELECT method, a.rule, count(*) <> 2 AS wrong FROM hmms AS a JOIN hmms AS b
    USING (method), hmm_states(a.m) AS x, hmm_states(b.m) AS y
  WHERE b.rule = '{}' AND near(x.visits, y.visits, 1e-6) AND near(x.initial, y.initial, 1e-6)
  GROUP BY method, a.rule$$, 'are the same states');
SELECT never($$SELECT method, rule, NOT near(hmm_log_likelihood(m, x), hmm_log_likelihood(
    (SELECT b.m FROM hmms AS b WHERE b.method = a.method AND rule = '{}'), x), 1e-6) AS wrong
  FROM hmms AS a, series$$, 'transitions go with them');
SELECT never($$SELECT method, rising(array_agg(mean[1] ORDER BY state)) IS NOT TRUE AS wrong
  FROM (SELECT method, hmm_fit(x, m) AS n FROM hmms, series WHERE rule ->> 'order' = 'mean'
    GROUP BY method) AS f, hmm_emissions(n) GROUP BY method$$, 'kept in a refit');
SELECT never($$SELECT rising(array_agg(mean[1] ORDER BY state)) IS NOT TRUE AS wrong
  FROM (SELECT hmm_update(x, m, '{"order": "mean"}') AS n FROM hmms, series WHERE rule = '{}'
    AND method = 'vi') AS f, hmm_emissions(n)$$, 'given to an update');
SELECT never($$SELECT rising(array_agg(mean[1] ORDER BY state)) AS wrong
  FROM (SELECT hmm_fit(x, 2, '{"init": {"means": [3, -2]}, "order": "mean"}') AS n FROM series)
    AS f, hmm_emissions(n)$$, 'means that are given number the states');

-- ---- errors ----

SELECT throws_ok(format('SELECT %s', call), '22023', said, call)
FROM (VALUES ('gmm_fit(ARRAY[a, b], 2, ''{"order": "b"}'') FROM points', 'option "order" is "b", '
    'but must be "weight", "mean", "variance", the name of a column, or the number of an element'),
  ('gmm_fit(ARRAY[a, b], 2, ''{"order": 3}'') FROM points',
    'option "order" is 3, but the number of elements is 2'),
  ('bmm_fit(r, 2, ''{"order": "c"}'') FROM points AS r', 'option "order" asks for the mean of '
    'element 4, whose values are categories'),
  ('hmm_fit(names, 2, ''{"order": "mean"}'') FROM series', 'option "order" asks for the mean of '
    'element 1, whose values are categories')) AS v(call, said);
SELECT * FROM finish();
