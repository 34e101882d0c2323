-- Pictures of models: what their marks stand for, against the functions that tell the same in
-- numbers; all kinds of all families in all three forms; texts that try to break pages.
-- tests/charts (make test-charts) compiles and draws the specifications.
SELECT plan(111);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE models (name text, model bayes_model);
INSERT INTO models SELECT 'gmm', gmm_fit(x, 2, '{"method": "em"}')
  FROM faithful;
INSERT INTO models SELECT 'gmm vi', gmm_fit(x, 2, '{"method": "vi"}') FROM faithful;
INSERT INTO models SELECT 'one t', gmm_fit(x, 1, '{"method": "vi"}') FROM faithful WHERE id < 8;
INSERT INTO models SELECT 'gmm gibbs', gmm_fit(x, 2, '{"method": "gibbs", "draws": 60}')
  FROM faithful;
INSERT INTO models SELECT 'dpmm', dpmm_fit(x, '{"draws": 60}') FROM faithful;
INSERT INTO models SELECT 'bmm', bmm_fit(r, 2,
    '{"method": "vi", "likelihood": {"ftv": "poisson"}}')
  FROM (SELECT age, ftv, smoke = 1 AS smoker, race::text AS race FROM birthwt) AS r;
INSERT INTO models SELECT 'nb', nb_fit(species, x) FROM iris;
INSERT INTO models SELECT 'hmm', hmm_fit(s, 2)
  FROM (SELECT array_agg(duration ORDER BY t) AS s FROM geyser) AS g;
INSERT INTO models SELECT 'lda', lda_fit(ARRAY[species, id::text, (id % 3)::text], 2) FROM iris;
INSERT INTO models SELECT 'nmf', nmf_fit(x, 3) FROM iris;
INSERT INTO models SELECT 'pmf', pmf_fit(student, lecturer, rating, 2, '{"draws": 20}')
  FROM lectures WHERE student < 60;
INSERT INTO models SELECT 'linreg', linreg_fit(progression, x) FROM diabetes;
INSERT INTO models SELECT 'bmi', linreg_fit(progression, bmi) FROM diabetes;
INSERT INTO models SELECT 'logreg', logreg_fit(low = 1, x) FROM birthwt;
INSERT INTO models SELECT 'beta', beta_bernoulli_fit(low = 1) FROM birthwt;
INSERT INTO models SELECT 'conditional', bayes_condition(model, '{NULL,70}'::float8[])
  FROM models WHERE name = 'gmm';
INSERT INTO models SELECT 'dpmm vi', dpmm_fit(x, '{"method": "vi"}') FROM faithful;
INSERT INTO models SELECT 'counts', bmm_fit(r, 2, '{"likelihood": "poisson"}')
  FROM (SELECT age::int, ftv FROM birthwt) AS r;
INSERT INTO models SELECT 'vectors', hmm_fit(s, 2)
  FROM (SELECT array_agg(ARRAY[duration, waiting] ORDER BY t) AS s FROM geyser) AS g;
INSERT INTO models SELECT 'symbols', hmm_fit(string_to_array('a b b a c a c c b a', ' '), 2);
INSERT INTO models SELECT 'long', nb_fit(repeat(species || E'\n', 90), x) FROM iris;
INSERT INTO models SELECT 'other', beta_bernoulli_fit(smoke = 1) FROM birthwt;
CREATE TABLE selected AS SELECT array_agg(model) AS models, array_agg(s) AS rows
FROM gmm_select('SELECT x FROM faithful', '{1,2,3}', 
  '{"covariance": ["full", "diagonal"], "models": true}') AS s;
CREATE TABLE geyser_sequence AS SELECT array_agg(duration ORDER BY t) AS s FROM geyser;
CREATE FUNCTION of(text) RETURNS bayes_model RETURN (SELECT model FROM models WHERE name = $1);

-- ---- distributions over rows ----

SELECT never($$SELECT series, path, (count(*) <> 49 OR NOT bool_and(near(
    (x - m[1])^2 * c[2][2] - 2 * (x - m[1]) * (y - m[2]) * c[1][2] + (y - m[2])^2 * c[1][1],
    -2 * ln(CASE path WHEN 1 THEN .5 ELSE .1 END) * (c[1][1] * c[2][2] - c[1][2]^2), 1e-8)))
    AS wrong
  FROM bayes_chart_data(of('gmm')) JOIN gmm_components(of('gmm')) AS k
    ON k.component = series::int, LATERAL (SELECT k.mean AS m, k.covariance AS c) AS l
  WHERE mark = 'line' GROUP BY series, path$$,
  'ellipses of normals have the Mahalanobis distance of their probability');
-- 3 standard deviations of the share of 20,000 draws; the seed is fixed.
SELECT never($$SELECT path, NOT abs(share - level) < 3 * sqrt(level * (1 - level) / 20000) AS wrong
  FROM (SELECT path, CASE path WHEN 1 THEN .5 ELSE .9 END AS level,
      polygon('(' || string_agg(format('(%s,%s)', x, y), ',') || ')') AS outline
    FROM bayes_chart_data(of('one t')) WHERE mark = 'line' GROUP BY path) AS e,
  LATERAL (SELECT avg((outline @> point(s.x[1], s.x[2]))::int)::float8 + 1e-3 AS share
    FROM bayes_sample(of('one t'), 20000, 1) AS s) AS l$$,
  'and those of a Student t have their share of draws');
SELECT never($$SELECT x, y, NOT near(value,
    exp(bayes_log_density(of('gmm vi'), ARRAY[c.x, c.y])), 1e-10) AS wrong
  FROM bayes_chart_data(of('gmm vi'), 'density') AS c$$, 'density is that of the model');
SELECT never($$SELECT panel, NOT abs(sum(y * step) - 1) < 0.01 AS wrong
  FROM (SELECT panel, y, x - lag(x) OVER (PARTITION BY panel, series, path ORDER BY x) AS step
    FROM bayes_chart_data(of('gmm vi'), 'columns')) AS c GROUP BY panel$$,
  'the densities of the components of a column have all of its probability');
SELECT never($$SELECT x, NOT near(sum(y), exp(bayes_log_density(of('gmm'), ARRAY[NULL, c.x])), 1e-3)
    AS wrong
  FROM bayes_chart_data(of('gmm'), 'columns', '{"columns": 2}') AS c GROUP BY x$$,
  'and add up to that of the column');
SELECT never($$SELECT x, x_label, NOT near(sum(y), (SELECT exp(bayes_log_density(of('bmm'), r))
    FROM (SELECT NULL::float8 AS age, x::int AS ftv,
      NULL::boolean AS smoker, NULL::text AS race) AS r), 1e-9) AS wrong
  FROM bayes_chart_data(of('bmm'), 'columns', '{"columns": ["ftv"]}') AS c GROUP BY x, x_label$$,
  'at counts there are probabilities');
SELECT set_eq($$SELECT series::int, x_label, round(y::numeric, 10)
    FROM bayes_chart_data(of('bmm'), 'columns', '{"columns": ["race"]}')$$,
  $$SELECT component, label, round(value::numeric, 10) FROM bayes_parameters(of('bmm'))
    WHERE column_name = 'race'$$,
  'those of labels are shares within a component');
SELECT results_eq($$SELECT DISTINCT title FROM bayes_chart_data(of('bmm'), 'columns',
    '{"columns": ["smoker", 1]}') ORDER BY 1$$, $$VALUES ('age'), ('smoker')$$,
  'columns are chosen by name or number');
SELECT is_empty($$SELECT * FROM bayes_chart_data(of('nb'), 'columns') WHERE title = 'x[5]'$$,
  'the class is no column of its own');
SELECT set_eq($$SELECT series FROM bayes_chart_data(of('nb'), 'columns')$$,
  $$SELECT DISTINCT species FROM iris$$, 'series of a classifier are its classes');

-- ---- parameters ----

SELECT set_eq($$SELECT x, lower, upper FROM bayes_chart_data(of('gmm gibbs'), 'weights')
    WHERE mark = 'interval'$$,
  $$SELECT value, lower, upper FROM bayes_parameters(of('gmm gibbs')) WHERE parameter = 'weight'$$,
  'weights are the parameters with their intervals');
SELECT set_eq($$SELECT x, lower, upper, y_label
    FROM bayes_chart_data(of('linreg'), 'coefficients', '{"level": 0.5}')
    WHERE mark = 'interval' AND y_label <> 'noise_variance'$$,
  $$SELECT value, lower, upper, label FROM bayes_parameters(of('linreg'), 0.5)
    WHERE label <> '(intercept)'$$, 'coefficients too, at a level, but for the intercept');
SELECT set_eq($$SELECT y_label, x_label, value FROM bayes_chart_data(of('hmm'))$$,
  $$SELECT from_state::text, to_state::text, probability FROM hmm_transitions(of('hmm'))$$,
  'cells of transitions');
SELECT never($$SELECT x, NOT near(y, exp((a - 1) * ln(x) + (b - 1) * ln(1 - x)) / (
      SELECT sum(exp((a - 1) * ln(t / 2000.0) + (b - 1) * ln(1 - t / 2000.0))) / 2000
      FROM generate_series(1, 1999) AS t), 0.02) AS wrong
  FROM bayes_chart_data(of('beta')), (SELECT 1 + count(*) FILTER (WHERE low = 1) AS a,
    1 + count(*) FILTER (WHERE low = 0) AS b FROM birthwt) AS n WHERE mark = 'line'$$,
  'the posterior of a probability has the density of its beta distribution');
SELECT ok(abs(1 - beta_cdf(p, n.a, n.b) / 0.975) < 0.01, 'of which 95 % are shaded')
FROM (SELECT max(x) AS p FROM bayes_chart_data(of('beta')) WHERE mark = 'area') AS d,
  (SELECT 1 + count(*) FILTER (WHERE low = 1) AS a, 1 + count(*) FILTER (WHERE low = 0) AS b
    FROM birthwt) AS n;

-- ---- topics and factors ----

SELECT set_eq($$SELECT title, y_label, x
    FROM bayes_chart_data(of('lda'), 'terms', '{"terms": 3}')$$,
  $$SELECT 'topic ' || component, label, value FROM (SELECT *, row_number() OVER (PARTITION BY
      component ORDER BY value DESC, label) AS n FROM bayes_parameters(of('lda'))
      WHERE label IS NOT NULL) AS p WHERE n <= 3$$, 'terms are the most probable of each topic');
SELECT is(count(*), 12::bigint, 'parts are all cells of a small table')
FROM bayes_chart_data(of('nmf'), 'parts');
SELECT never($$SELECT a.series, b.series, NOT near((a.x - b.x)^2 + (a.y - b.y)^2,
    (SELECT sum((sqrt(p.value) - sqrt(q.value))^2) FROM bayes_chart_data(of('nmf'), 'parts') AS p
      JOIN bayes_chart_data(of('nmf'), 'parts') AS q USING (y_label)
      WHERE p.x_label = a.series AND q.x_label = b.series)) AS wrong
  FROM bayes_chart_data(of('nmf'), 'map') AS a, bayes_chart_data(of('nmf'), 'map') AS b
  WHERE a.series < b.series$$, 'a map of three components has their Hellinger distances');

-- ---- fits and draws ----

SELECT set_eq($$SELECT x::int, y FROM bayes_chart_data(of('gmm'), 'trace')$$,
  $$SELECT iteration, objective FROM bayes_trace(of('gmm'))$$,
  'a trace of the objective');
SELECT set_eq($$SELECT y FROM bayes_chart_data(of('dpmm'), 'trace') WHERE panel = 1$$,
  $$SELECT value FROM bayes_draws(of('dpmm')) WHERE quantity = (SELECT quantity
    FROM bayes_draws(of('dpmm')) LIMIT 1)$$, 'or of the draws');
SELECT set_eq($$SELECT x_label::int, y FROM bayes_chart_data(of('dpmm'), 'clusters')$$,
  $$SELECT value::int, count(*) / sum(count(*)) OVER ()::float8
    FROM bayes_draws(of('dpmm')) WHERE quantity = 'clusters' GROUP BY value$$,
  'the probabilities of numbers of clusters');
SELECT set_eq($$SELECT DISTINCT title FROM bayes_chart_data(of('dpmm'), 'trace')$$,
  $$SELECT format('%s: R-hat %s', quantity, round(bayes_rhat(value, chain)::numeric, 2)::float8)
    FROM bayes_draws(of('dpmm')) GROUP BY quantity$$, 'panels of draws have their R-hat');
SELECT is(bayes_chart(m, 'trace') #>> '{title,subtitle}', CASE WHEN converged
  THEN 'chains agree: each R-hat is near 1' ELSE 'chains disagree: raise draws, and with it warmup'
  END, 'and say whether chains agree') FROM (SELECT of('dpmm') AS m) AS o, bayes_info(m);
SELECT is(c #> '{encoding,x,scale,domain}', c #> '{encoding,y,scale,domain}',
  'distances of a map mean the same both ways')
FROM (SELECT bayes_chart(of('lda'), 'map') #> '{layer,0}' AS c) AS m;
SELECT never($$SELECT panel, series, NOT near(sum(y), 30) AS wrong
  FROM bayes_chart_data(of('dpmm'), 'ranks') GROUP BY panel, series$$,
  'the ranks of each chain are those of its draws');
SELECT never($$SELECT series, x, NOT near(y, (SELECT count(*)::float8
    / greatest(4, least(20, count(*) / 20)) FROM bayes_draws(of('gmm gibbs'))
    WHERE chain = series::int AND quantity = 'clusters')) AS wrong
  FROM bayes_chart_data(of('gmm gibbs'), 'ranks') WHERE panel = (SELECT number
    FROM (SELECT DISTINCT quantity, dense_rank() OVER (ORDER BY first) AS number
      FROM (SELECT quantity, min(n) OVER (PARTITION BY quantity) AS first
        FROM bayes_draws(of('gmm gibbs')) WITH ORDINALITY AS d(chain, draw, quantity, value, n))
        AS o) AS q WHERE quantity = 'clusters')$$, 'draws that are equal share their ranks');
SELECT never($$SELECT x, NOT near(y, (SELECT bayes_ess_bulk(value, chain)
    FROM bayes_draws(of('dpmm')) WHERE quantity = 'log_joint')) AS wrong
  FROM bayes_chart_data(of('dpmm'), 'ess') WHERE panel = 1 AND series = 'bulk' AND x = 30$$,
  'the effective size of all draws is that of bayes_ess_bulk');

-- ---- rows under a model ----

SELECT set_eq($$SELECT x, y, series::int FROM bayes_chart_data('SELECT x FROM faithful', of('gmm'))
    WHERE mark = 'point'$$,
  $$SELECT x[1] AS a, x[2] AS b, gmm_predict(of('gmm'), x) FROM faithful$$,
  'points are the rows, in the colours of their components');
SELECT is(count(*), 100::bigint, 'or a sample of them')
FROM bayes_chart_data('SELECT x FROM faithful', of('gmm'), NULL, '{"rows": 100}')
WHERE mark = 'point';
SELECT is(bayes_chart('SELECT x FROM faithful', of('gmm'), NULL, '{"rows": 100}'),
  bayes_chart('SELECT x FROM faithful', of('gmm'), NULL, '{"rows": 100}'), 'the same every time');
SELECT isnt(bayes_chart('SELECT x FROM faithful', of('gmm'), NULL, '{"rows": 100}'),
  bayes_chart('SELECT x FROM faithful', of('gmm'), NULL, '{"rows": 100, "seed": 2}'),
  'and another with another seed');
SELECT never($$SELECT panel, NOT near(sum(upper) * (max(x) - min(x)) / count(*), 1, 0.02)
    AS wrong
  FROM bayes_chart_data('SELECT x FROM faithful', of('gmm'), 'columns') WHERE mark = 'area'
  GROUP BY panel$$, 'columns have a histogram, of nearly all rows');
SELECT set_eq($$SELECT x::int, y_label::int, value
    FROM bayes_chart_data('SELECT duration FROM geyser ORDER BY t', of('hmm'))
    WHERE mark = 'cell'$$,
  $$SELECT t, k, (p)[k] FROM (SELECT row_number() OVER (ORDER BY t)::int AS t,
      hmm_probabilities(of('hmm'), duration) OVER (ORDER BY t) AS p FROM geyser) AS g,
    generate_series(1, 2) AS k$$, 'states are the smoothed probabilities');
SELECT set_eq($$SELECT x::int - 299, lower, upper
    FROM bayes_chart_data('SELECT duration FROM geyser ORDER BY t', of('hmm'), 'forecast',
      '{"steps": 5, "level": 0.8}') WHERE mark = 'area'$$,
  $$SELECT step, lower, upper FROM geyser_sequence,
    hmm_predict(of('hmm'), s, 5, 0.8) WHERE element IS NOT NULL$$,
  'a forecast has the intervals of hmm_predict');
SELECT set_eq($$SELECT x::int, y FROM bayes_chart_data('SELECT duration FROM geyser ORDER BY t',
    of('hmm'), 'forecast', '{"rows": 60, "steps": 20}') WHERE x <= 299 AND mark = 'line'$$,
  $$SELECT t, duration FROM geyser WHERE t > 239$$, 'after the last of the steps');
SELECT never($$SELECT l.x, NOT (near(l.y, exp(bayes_log_density(of('gmm gibbs'), ARRAY[l.x, NULL])),
    1e-2) AND a.lower < a.upper AND (l.y < 0.05 OR a.lower < l.y AND l.y < a.upper)) AS wrong
  FROM bayes_chart_data(of('gmm gibbs'), 'band', '{"columns": 1}') AS l
    JOIN bayes_chart_data(of('gmm gibbs'), 'band', '{"columns": 1}') AS a USING (x)
  WHERE l.mark = 'line' AND a.mark = 'area'$$, 'a band of draws is around the density');
-- The median over draws, which need not integrate to 1 as every draw does; evidence that makes
-- draws unequal must not change its scale.
SELECT never($$SELECT g, NOT abs(sum(upper * step) - 1) < 0.1 AS wrong
  FROM (SELECT g, upper, x - lag(x) OVER (PARTITION BY g ORDER BY x) AS step
    FROM unnest('{80,110,130}'::float8[]) AS g, LATERAL bayes_chart_data(
      bayes_condition(of('gmm gibbs'), ARRAY[NULL, g]), 'band', '{"level": 0.0001}')
    WHERE mark = 'area') AS b GROUP BY g$$, 'also given a column');
SELECT set_eq($$SELECT x, y FROM bayes_chart_data('SELECT progression, x FROM diabetes',
    of('linreg')) WHERE mark = 'point'$$,
  $$SELECT (bayes_predict(of('linreg'), x)).value, progression FROM diabetes$$,
  'predictions beside what was observed');
SELECT set_eq($$SELECT x, lower, upper
  FROM bayes_chart_data('SELECT progression, bmi FROM diabetes', of('bmi'),
    'predictions', '{"level": 0.8}') WHERE mark = 'area'$$,
  $$SELECT bmi, (p).lower, (p).upper FROM (SELECT bmi, bayes_predict(of('bmi'), bmi, 0.8) AS p
    FROM diabetes) AS d$$, 'over the only predictor, with the band of new responses');
SELECT set_eq($$SELECT x, y FROM bayes_chart_data('SELECT progression, x FROM diabetes',
    of('linreg'), 'residuals')$$,
  $$SELECT (p).value, (progression - (p).value) / (p).sd FROM (SELECT progression,
    bayes_predict(of('linreg'), x) AS p FROM diabetes) AS d$$, 'standardized residuals');
SELECT never($$SELECT NOT (count(*) = 10
    AND near(avg(y), (SELECT avg(low) FROM birthwt), 0.01)
    AND near(avg(x), (SELECT avg((bayes_probabilities(of('logreg'), x))[2]) FROM birthwt), 0.01)
    AND near(min(x), (SELECT avg(p) FROM (SELECT (bayes_probabilities(of('logreg'), x))[2] AS p
      FROM birthwt ORDER BY p LIMIT 18) AS lowest))) AS wrong
  FROM bayes_chart_data('SELECT low = 1, x FROM birthwt', of('logreg')) WHERE mark = 'point'$$,
  'calibration has ten groups of all rows');
SELECT set_eq($$SELECT y_label, x_label, value FROM
    bayes_chart_data('SELECT species, x FROM iris', of('nb')) WHERE value > 0$$,
  $$SELECT species, nb_predict(of('nb'), x), count(*)::float8 FROM iris GROUP BY 1, 2$$,
  'confusion counts rows');
SELECT throws_ok($$SELECT bayes_chart('SELECT x FROM no_such_table', of('gmm'))$$, '42P01', NULL,
  'the query is run as any query');
SELECT throws_ok($$SELECT bayes_chart(NULL::bayes_query, of('gmm'))$$, '22004', NULL,
  'and must not be NULL');
SELECT throws_ok($$SELECT bayes_chart('SELECT ARRAY[1, 2, 3]', of('gmm'))$$, '2202E', NULL,
  'rows have the columns of the model');
SELECT throws_ok($$SELECT bayes_chart('SELECT x FROM faithful', of('gmm'), 'trace')$$, '22023',
  NULL, 'a chart without rows takes no query');

-- ---- all kinds of all families ----

CREATE FUNCTION kinds(model bayes_model) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  PERFORM bayes_chart(model, 'no such kind');
EXCEPTION WHEN invalid_parameter_value THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT regexp_split_to_table(
    substring(hint FROM '^Charts of this model are: (.*)\.$'), ', ');
END $$;
CREATE TABLE charts AS SELECT name, kind, bayes_chart(model, kind) AS chart,
  bayes_plot(model, kind, width => 60) AS plot,
  (SELECT count(*) FROM bayes_chart_data(model, kind)) AS items
FROM models, kinds(model) AS kind;
SELECT results_eq($$SELECT name, array_agg(kind ORDER BY ctid) FROM charts
  WHERE name IN ('gmm', 'dpmm', 'bmm', 'nb', 'hmm', 'lda', 'nmf', 'pmf', 'linreg', 'logreg',
    'beta', 'conditional')
  GROUP BY name ORDER BY name$$,
  $$VALUES ('beta', '{posterior,parameters}'::text[]),
    ('bmm', '{parameters,ellipses,columns,density,weights,trace}'),
    ('conditional', '{columns,parameters,weights,trace}'),
    ('dpmm', '{ellipses,columns,density,band,parameters,weights,clusters,trace,ranks,ess}'),
    ('gmm', '{ellipses,columns,density,parameters,weights,trace}'),
    ('hmm', '{transitions,columns,parameters,trace}'), ('lda', '{terms,parts,map,weights,trace}'),
    ('linreg', '{coefficients}'), ('logreg', '{coefficients,ratios,trace}'),
    ('nb', '{columns,ellipses,density,parameters}'), ('nmf', '{parts,terms,map,weights,trace}'),
    ('pmf', '{trace,ranks,ess}')$$, 'kinds of charts, the default one first');
SELECT never($$SELECT name, kind, chart->>'$schema'
    <> 'https://vega.github.io/schema/vega-lite/v6.json' OR items = 0
    OR length(chart::text) > 260000 AS wrong FROM charts$$, 'all have marks, and not too many');
SELECT never($$SELECT name, kind, line, length(line) > 60 AS wrong
  FROM charts, string_to_table(plot, E'\n') AS line$$, 'plots are as wide as they may be');
SELECT never($$SELECT name, bayes_chart(model) <> chart
    OR bayes_plot(model, width => 60) <> plot AS wrong
  FROM models JOIN (SELECT DISTINCT ON (name) * FROM charts ORDER BY name, ctid) AS c
    USING (name)$$, 'the first kind is the default');
SELECT ok(bayes_plot(of('hmm'), width => 30) LIKE E'Transitions between 2 states\n%',
  'a plot begins with its title');

-- ---- rows, columns and sizes that are not usual ----

SELECT never($$SELECT name, (SELECT count(*) FROM bayes_chart_data(outliers, of(name))
      WHERE mark = 'point' AND series = 'other') <> 1
    OR bayes_chart(outliers, of(name)) IS NULL OR bayes_plot(outliers, of(name)) IS NULL AS wrong
  FROM (VALUES ('dpmm'), ('dpmm vi')) AS d(name), (SELECT
    'SELECT ARRAY[1000, 1000]::float8[] AS x UNION ALL SELECT x FROM faithful'::bayes_query) AS o
    (outliers)$$, 'a row that would be a new cluster is another one');
SELECT never($$SELECT panel, NOT (count(*) FILTER (WHERE x <> round(x) OR y <> round(y)) = 0
    AND near(sum(value), 1, 0.05)) AS wrong
  FROM bayes_chart_data(of('counts'), 'density') GROUP BY panel$$,
  'the density of counts is the probability of whole numbers');
SELECT is((SELECT count(DISTINCT v->'x') FROM jsonb_path_query(bayes_chart(
    'SELECT 1700000000 + i * 0.01 AS t, i % 7 AS y FROM generate_series(1, 500) AS i',
    (SELECT gmm_fit(r, 1) FROM (SELECT 1700000000 + i * 0.01 AS t, i % 7 AS y
      FROM generate_series(1, 500) AS i) AS r)), '$.layer[0].data.values[*]') AS v), 500::bigint,
  'numbers that are close to each other remain different');
SELECT ok(bayes_chart('SELECT dax, smi, cac, ftse FROM eustockmarkets ORDER BY day', model) IS NOT
    NULL, 'the default chart of a long sequence has its size')
FROM (SELECT hmm_fit(s, 3) AS model FROM (SELECT array_agg(ARRAY[dax, smi, cac, ftse] ORDER BY day)
  AS s FROM eustockmarkets) AS e) AS m;
SELECT set_eq($$SELECT x, y, series::int
    FROM bayes_chart_data('SELECT duration, waiting FROM geyser ORDER BY t', of('vectors'),
      'ellipses') WHERE mark = 'point'$$,
  $$SELECT duration, waiting, CASE WHEN (p)[1] > (p)[2] THEN 1 ELSE 2 END FROM (SELECT duration,
      waiting, hmm_probabilities(of('vectors'), ROW(duration, waiting)) OVER (ORDER BY t) AS p
    FROM geyser) AS g$$, 'steps have the colour of their most probable state');
SELECT set_eq($$SELECT x::int, y_label FROM bayes_chart_data(
    'SELECT unnest(ARRAY[''a'', ''c'', ''b''])', of('symbols')) WHERE mark = 'point'$$,
  $$VALUES (1, 'a'), (2, 'c'), (3, 'b')$$, 'steps that are names are shown by name');
SELECT throws_ok($$SELECT bayes_chart('SELECT ''x'', to_tsvector(''a'')', (SELECT nb_fit(species,
    to_tsvector(species)) FROM iris))$$, '42804', NULL, 'a classifier of words shows no rows');
SELECT throws_ok($$SELECT bayes_chart('SELECT 1, x FROM iris', of('nb'))$$, '22023',
  'the model knows none of the labels of the rows', 'labels that are all unknown');
SELECT is(bayes_chart('SELECT CASE id WHEN 1 THEN ''new'' ELSE species END, x FROM iris', of('nb'))
  #>> '{title,subtitle}', '1 row of other labels left out', 'or some');
SELECT is(count(DISTINCT panel), 4::bigint, 'columns that are asked for are shown')
FROM bayes_chart_data((SELECT gmm_fit(x, 10, '{"max_iter": 3}') FROM iris), 'columns',
  '{"columns": [1, 2, 3, 4]}');
SELECT never($$SELECT width, name, kind, length(line) > width AS wrong
  FROM unnest('{30,40}'::int[]) AS width, models, kinds(model) AS kind,
    string_to_table(bayes_plot(model, kind, width => width), E'\n') AS line
  WHERE name IN ('bmm', 'nb', 'dpmm', 'hmm', 'long', 'counts')$$, 'narrow plots are narrow');

-- ---- several models ----

SELECT set_eq($$SELECT x::int, y, series FROM selected, bayes_chart_data(models)
    WHERE mark = 'point' AND panel = 1$$,
  $$SELECT k, bic, covariance || ', ' || method FROM selected, unnest(rows)$$,
  'criteria of a selection');
SELECT set_eq($$SELECT series FROM bayes_chart_data(ARRAY[of('beta'), NULL, of('other')])$$,
  $$VALUES ('A'), ('B')$$, 'posteriors of two models');
SELECT set_eq($$SELECT DISTINCT panel, series FROM bayes_chart_data(ARRAY[
    (SELECT dirichlet_categorical_fit(race::text) FROM birthwt),
    (SELECT dirichlet_categorical_fit(race::text) FROM birthwt WHERE race > 1)])$$,
  $$VALUES (1, 'A'), (2, 'A'), (3, 'A'), (2, 'B'), (3, 'B')$$, 'label by label');
SELECT throws_ok($$SELECT bayes_chart(ARRAY[m, m]) FROM (SELECT normal_inverse_gamma_fit(bwt) AS m
  FROM birthwt WHERE id = 1) AS q$$, '22003', NULL, 'if they are proper');
SELECT throws_ok($$SELECT bayes_chart(ARRAY[of('beta')], NULL, '{"names": ["A", "B"]}')$$, '22023',
  NULL, 'names are of models');
SELECT ok(bayes_chart(ARRAY[of('beta'), of('other')], NULL, '{"names": ["new", "old"]}')
    #>> '{title,subtitle}' = 'P(new > old) = '
    || round(bayes_greater(of('beta'), of('other'))::numeric, 4),
  'with the probability that the first is greater');
SELECT ok(bayes_plot('{}'::bayes_model[]) IS NULL AND bayes_plot(NULL::bayes_model[]) IS NULL,
  'without models there is nothing to see');
SELECT throws_ok($$SELECT bayes_chart(ARRAY[of('gmm'), of('bmm')])$$, '42804',
  'the models are of gmm and of bmm', 'models of two families');
SELECT throws_ok($$SELECT bayes_chart(ARRAY[of('gmm')], 'trace')$$, '42804', NULL,
  'another kind');
SELECT throws_ok($$SELECT bayes_chart(ARRAY[of('beta')], NULL, '{"names": "A"}')$$,
  '22023', NULL, 'names are an array');

-- ---- errors ----

SELECT ok(bayes_chart(NULL::bayes_model) IS NULL AND bayes_plot(NULL::bayes_model) IS NULL
  AND bayes_chart('SELECT 1', NULL::bayes_model) IS NULL, 'a NULL model has no picture');
SELECT throws_ok($$SELECT bayes_chart(of('linreg'), 'ellipses')$$, '42804',
  'a model of linreg has no chart "ellipses"', 'a kind that the family lacks');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"column": 1}')$$, '22023', NULL,
  'an unknown option');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"columns": ["x[1]", "no"]}')$$, '22023',
  'the model has no column "no"', 'an unknown column');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"columns": [1, 1]}')$$, '22023', NULL,
  'ellipses need two columns');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"columns": [null]}')$$, '22023', NULL,
  'and names of them');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"level": 1}')$$, '22023', NULL,
  'a level is below 1');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), 'trace', '{"columns": [1]}')$$, '22023',
  'option "columns" does not apply to chart "trace"', 'options belong to kinds');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"rows": 10}')$$, '22023',
  'option "rows" does not apply to chart "ellipses"', 'and some to rows');
SELECT throws_ok($$SELECT bayes_chart(ARRAY[of('gmm')], NULL, '{"level": 0.5}')$$, '22023',
  'option "level" does not apply to chart "criteria"', 'or to several models');
SELECT throws_ok($$SELECT bayes_plot(of('gmm'), width => 29)$$, '22023', NULL,
  'a plot has some width');
CREATE FUNCTION hint_of(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  EXECUTE sql;
  RETURN NULL;
EXCEPTION WHEN program_limit_exceeded THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN hint;
END $$;
SELECT is(hint_of($$SELECT bayes_chart('SELECT progression, x FROM diabetes,
    generate_series(1, 20)', of('linreg'), 'predictions', '{"rows": 5000}')$$),
  'Option rows makes it smaller.', 'what is too large tells the options of the kind');
SELECT is(hint_of($$SELECT bayes_chart('SELECT x[1] + i * 1e-5, x[2] + i * 1e-4
    FROM faithful, generate_series(1, 20) AS i', of('gmm'), 'ellipses', '{"rows": 5000}')$$),
  'Options rows and columns make it smaller.',
  'of another one too');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), repeat('x', 1000))$$, '22023',
  'there is no chart "' || repeat('x', 77) || '..."', 'a long name of a kind is cut');

-- ---- pages ----

SELECT ok(page NOT LIKE '%<script>alert%' AND page LIKE '%&#60;script&#62;alert%'
    AND page NOT LIKE '%</script><b>%' AND page LIKE '%src="a&#34;b/vega.min.js"%'
    AND page LIKE '%a\\u003c/script\\u003e\\u003cb\\u003e%', 'texts do not break out of a page')
FROM (SELECT bayes_page('<script>alert(1)</script>', bayes_chart(model, 'columns'),
    '{"scripts": "a\"b"}') AS page
  FROM (SELECT gmm_fit(r, 1) AS model
    FROM (SELECT duration AS "a</script><b>" FROM geyser) AS r) AS m) AS p;
SELECT is((SELECT count(*) FROM regexp_matches(page, '<div class="chart" id="chart\d"><script '
    'type="application/json">\{"', 'g')), 2::bigint,
  'an array of charts makes one page, without NULLs')
FROM (SELECT bayes_page('t', ARRAY[bayes_chart(of('gmm')), NULL, bayes_chart(of('nb'))]) AS page)
  AS p;
SELECT throws_ok($$SELECT bayes_page('t', bayes_chart(of('gmm')), bayes_chart(of('nb')))$$, '22023',
  NULL, 'two charts are no chart and options');
SELECT throws_ok($$SELECT bayes_page('t', '1'::jsonb)$$, '22023', NULL, 'a number is no chart');
SELECT is(bayes_page('t', NULL::jsonb), NULL, 'as is NULL');
SELECT throws_ok($$SELECT bayes_page('t', '[]'::jsonb)$$, '22023',
  'chart 1 is an array, but must be an object', 'nor is an array');
SELECT throws_ok($$SELECT bayes_page('t', 1)$$, '42883', NULL, 'nor another type');

-- ---- texts that turn or break what is beside them ----

CREATE TABLE turned AS SELECT bmm_fit(r, 1) AS model, count(*)
FROM (SELECT U&'a\202Eb\2028c\2067' || E'\x07\x1b\x7f' || U&'\0085' || i % 2 AS l, sin(i) AS x
  FROM generate_series(1, 9) AS i) AS r;
CREATE TABLE pictures AS
SELECT 'plot' AS name, bayes_plot(model) AS picture FROM turned
UNION ALL SELECT 'chart', bayes_chart(model)::text FROM turned
UNION ALL SELECT 'page', bayes_page(U&'a\202Eb\2028c\2067' || E'\x07\x1b\x7f' || U&'\0085' || '0',
  bayes_chart(model)) FROM turned
UNION ALL SELECT 'page of another chart', bayes_page('t',
  jsonb_build_object('title', U&'a\202Eb\2028c\2067' || E'\x07\x1b\x7f' || U&'\0085' || '0'));
SELECT is(regexp_replace(picture,
    '[^\u0001-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]|\n', '', 'g'),
  '', 'shows no control: ' || name) FROM pictures;
SELECT ok(picture LIKE CASE WHEN name = 'page of another chart' THEN '%"a\\ufffdb c\\ufffd%0"%'
    WHEN name = 'page' THEN '%a&#65533;b c&#65533;    0%' ELSE U&'%a\FFFDb c\FFFD    0%' END,
  'but that there was one: ' || name) FROM pictures;
SELECT throws_ok($$SELECT bayes_page('t', ARRAY['{}', '[1]']::jsonb[])$$, '22023',
  'chart 2 is an array, but must be an object', 'nor is an array');
SELECT is((SELECT count(*) FROM regexp_matches(bayes_page('t', '{}'::jsonb), '<script src="'
    'https://cdn\.jsdelivr\.net/npm/([a-z-]+)@\d+\.\d+\.\d+/build/\1\.min\.js" '
    'integrity="sha384-[A-Za-z0-9+/]{64}" crossorigin="anonymous"></script>', 'g')), 3::bigint,
  'a page names the versions of three scripts, and what they are');
SELECT ok(page NOT LIKE '%integrity%' AND page NOT LIKE '%jsdelivr%' AND page LIKE
  '%<script src="https://example.org/js/vega-lite.min.js"></script>%', 'but of those of its maker')
FROM (SELECT bayes_page('t', '{}'::jsonb, '{"scripts": "https://example.org/js/"}') AS page) AS p;
SELECT is(substring(bayes_page('t', jsonb_build_object('a', repeat('<é😀"', 700000))) FROM
    '"application/json">(.*)</script></div>'),
  '{"a": "' || repeat('\u003c\u00e9\ud83d\ude00\"', 700000) || '"}', 'a large chart is whole');
SELECT is(substring(bayes_page('t', chart) FROM '"application/json">(.*?)</script></div>'),
  chart::text, 'all forms of JSON are written as PostgreSQL does')
FROM (SELECT '{"a": [], "b": {}, "c": [1, [2.50, null, -1e-30], {"d": true, "e": false}, "", [{}]],
  "f": "x\"\\\n\t\u0001/"}'::jsonb AS chart) AS c;
SELECT is(substring(bayes_page(repeat('<a é', 700000), '{}'::jsonb) FROM '<h1>(.*)</h1>'),
  repeat('&#60;a &#233;', 700000), 'and a long title');
-- A page of 1 GB from a sixth of it.
SELECT throws_ok($$SELECT bayes_page('t', array_fill(jsonb_build_object('a', repeat('<', 12000000)),
    '{15}'))$$, '54000', 'the page has more than 1000 MB with chart 14', 'a page is not too large');
SELECT is(hint_of($$SELECT bayes_page(repeat('<', 101000000), '{}'::jsonb)$$),
  'Give a shorter title.', 'with its title');

-- A logarithmic axis has all numbers, the ratio of no effect, and ticks that are labelled.
SELECT ok(d.low < min(least(x, lower)) AND d.high > max(greatest(x, upper)) AND d.ticks @> '[1]'
    AND jsonb_array_length(d.ticks) BETWEEN 3 AND 8 AND (d.ticks -> 0)::float8 >= d.low
    AND (d.ticks -> -1)::float8 <= d.high, 'axes of ratios')
FROM (SELECT logreg_fit(low = 1, x) AS m FROM birthwt) AS f, bayes_chart_data(m, 'ratios'),
  LATERAL (SELECT (e #> '{scale,domain,0}')::float8 AS low,
    (e #> '{scale,domain,1}')::float8 AS high,
    e #> '{axis,values}' AS ticks FROM (SELECT bayes_chart(m, 'ratios')
      #> '{layer,1,encoding,x}' AS e) AS c) AS d GROUP BY d.low, d.high, d.ticks;
SELECT is(bayes_chart(m, 'terms') #>> '{title,subtitle}', NULL, 'one topic has one scale')
FROM (SELECT lda_fit(words, 1) AS m FROM tutorial, to_tsvector('simple', body) AS words) AS f;
SELECT * FROM finish();
