-- What charts are called, what their axes mark, and the page of a model.
SELECT plan(35);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE models (name text, model bayes_model);
INSERT INTO models SELECT 'gmm', gmm_fit(x, 2, '{"method": "em"}') FROM faithful;
INSERT INTO models SELECT 'bmm', bmm_fit(r, 2)
  FROM (SELECT age, smoke = 1 AS smoker, race::text AS race FROM birthwt) AS r;
INSERT INTO models SELECT 'hmm', hmm_fit(s, 2)
  FROM (SELECT array_agg(duration ORDER BY t) AS s FROM geyser) AS g;
INSERT INTO models SELECT 'linreg', linreg_fit(bwt, ROW(age, lwt * 1000.0, smoke)) FROM birthwt;
INSERT INTO models SELECT 'logreg', logreg_fit(low = 1, x) FROM birthwt;
INSERT INTO models SELECT 'ordered', glm_fit(species, x[1],
    '{"response": "ordinal", "levels": ["setosa", "versicolor", "virginica"]}') FROM iris;
INSERT INTO models SELECT 'lda', lda_fit(ARRAY[species, (id % 3)::text], 2) FROM iris;
CREATE FUNCTION of(text) RETURNS bayes_model RETURN (SELECT model FROM models WHERE name = $1);

-- ---- names and titles ----

SELECT results_eq($$SELECT name, bayes_chart(model) #>> '{title,text}', bayes_chart(model)
    ->> 'description' FROM models ORDER BY name$$,
  $$VALUES ('bmm', 'Parameters of 2 components', 'bmm of 2 components, vi, 189 rows'),
    ('gmm', 'x[1] and x[2] in 2 components', 'gmm of 2 components, em, 272 rows'),
    ('hmm', 'Transitions between 2 states', 'hmm of 2 states, vi, 1 sequence'),
    ('lda', 'Terms of 2 topics', 'lda of 2 topics, vi, 150 documents'),
    ('linreg', 'What the response depends on', 'linreg, 189 rows'),
    ('logreg', 'What the response depends on', 'logreg, laplace, 189 rows'),
    ('ordered', 'What the response depends on', 'glm, laplace, 150 rows')$$,
  'a title says what is shown, a description what it is of');
CREATE TABLE named AS SELECT '{"title": "Eruptions", "subtitle": "two groups",
  "names": ["short", "long"], "x": "minutes", "y": "wait", "width": 500}'::jsonb AS options;
SELECT results_eq($$SELECT chart #>> '{title,text}', chart #>> '{title,subtitle}',
    chart #>> '{layer,0,encoding,x,title}', chart #>> '{layer,0,encoding,y,title}',
    chart ->> 'width', chart #>> '{layer,0,encoding,color,scale,domain}'
  FROM named, bayes_chart(of('gmm'), NULL, options) AS chart$$,
  $$VALUES ('Eruptions', 'two groups', 'minutes', 'wait', '500', '["short", "long"]')$$,
  'all of it is the user''s to say');
SELECT set_eq($$SELECT series FROM named, bayes_chart_data(of('gmm'), NULL, options)$$,
  $$VALUES ('short'), ('long')$$, 'also in the numbers');
SELECT ok(plot LIKE E'Eruptions\ntwo groups\n1 short, 2 long\n%' AND plot LIKE '%minutes%',
  'and in a plot, which says what its letters stand for')
FROM named, bayes_plot(of('gmm'), NULL, options) AS plot;
SELECT set_eq($$SELECT x_label, y_label FROM bayes_chart_data(of('hmm'), NULL,
    '{"names": ["calm"]}')$$,
  $$VALUES ('calm', 'calm'), ('calm', '2'), ('2', 'calm'), ('2', '2')$$,
  'names are of the first components');
SELECT set_eq($$SELECT title FROM bayes_chart_data(of('lda'), NULL, '{"names": ["species"]}')$$,
  $$VALUES ('species'), ('topic 2')$$, 'of topics too');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"names": ["a", "b", "c"]}')$$, '22023',
  'option "names" has 3 names for 2 components', 'there are not more names than components');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"title": 1}')$$, '22023',
  'option "title" must be a text', 'a title is a text');
SELECT throws_ok($$SELECT bayes_chart(of('gmm'), NULL, '{"width": 50}')$$, '22023', NULL,
  'a panel is not too narrow');
SELECT ok(NOT bayes_chart(of('gmm'), NULL, '{"title": "", "subtitle": ""}') ? 'title',
  'an empty title is none');

-- ---- what axes have ----

SELECT results_eq($$SELECT title, array_agg(y_label ORDER BY y) FROM bayes_chart_data(of('linreg'))
    WHERE mark = 'point' GROUP BY title ORDER BY title$$,
  $$VALUES ('larger coefficients', '{f1,f3}'::text[]), ('smaller ones', '{f2}')$$,
  'coefficients of very different size have panels of their own, and noise has none');
SELECT is(bayes_chart(of('logreg')) #> '{concat,0,layer,0,data,values}', '[{"x": 0}]'::jsonb,
  'a line marks the coefficient of no effect');
SELECT set_eq($$SELECT y_label, x, lower, upper FROM bayes_chart_data(of('logreg'), 'ratios')
    WHERE mark = 'interval'$$,
  $$SELECT term, exp(mean) AS m, exp(lower) AS l, exp(upper) AS u
    FROM bayes_coefficients(of('logreg')) WHERE term <> '(intercept)'$$,
  'ratios are exponentials of coefficients');
SELECT is(bayes_chart(of('logreg'), 'ratios') #>> '{layer,1,encoding,x,scale,type}', 'log',
  'on an axis of equal ratios');
SELECT set_eq($$SELECT y_label FROM bayes_chart_data(of('ordered')) WHERE mark = 'point'$$,
  $$VALUES ('x1')$$, 'cuts are no effects');
SELECT throws_ok($$SELECT bayes_chart(of('linreg'), 'ratios')$$, '42804', NULL,
  'a change of the response is no ratio');
-- P(X <= k) of Binomial(n, upper) is about that of X >= k of Binomial(n, lower).
SELECT never($$SELECT x, NOT (lower < y AND y < upper AND abs(beta_cdf(lower, k + .5, n - k + .5)
    - .1) < 1e-9 AND abs(beta_cdf(upper, k + .5, n - k + .5) - .9) < 1e-9) AS wrong
  FROM (SELECT i.x, i.y, i.lower, i.upper, p.value AS n, i.y * p.value AS k
    FROM bayes_chart_data('SELECT low = 1, x FROM birthwt', of('logreg'), NULL,
        '{"level": 0.8}') AS i
      JOIN bayes_chart_data('SELECT low = 1, x FROM birthwt', of('logreg')) AS p USING (x)
    WHERE i.mark = 'interval' AND p.mark = 'point') AS c WHERE k > 0 AND k < n$$,
  'shares have Jeffreys'' intervals, of the rows that there are');
SELECT is(sum(value), 189::float8, 'which are all')
FROM bayes_chart_data('SELECT low = 1, x FROM birthwt', of('logreg')) WHERE mark = 'point';
SELECT results_eq($$SELECT count(*), count(DISTINCT y_label), count(DISTINCT title)
    FROM bayes_chart_data('SELECT 3 + (i % 2) * 1.5 FROM generate_series(1, 5000) AS i',
      of('hmm'), NULL, '{"rows": 5000}') WHERE mark = 'cell'$$,
  $$VALUES (2000::bigint, 2::bigint, 1::bigint)$$, 'many steps are means of some');
SELECT set_eq($$SELECT DISTINCT x_label, x_time FROM bayes_chart_data(
    'SELECT date ''2024-02-28'' + id % 3, ARRAY[species] FROM iris', of('lda'))$$,
  $$VALUES ('2024-02-28', timestamp '2024-02-28'), ('2024-02-29', '2024-02-29'),
    ('2024-03-01', '2024-03-01')$$, 'axes of time have times');
SELECT results_eq($$SELECT title, x FROM (SELECT array_agg(model) AS models FROM gmm_select(
      'SELECT x FROM faithful', '{1,2,3}', '{"method": "em", "models": true}')) AS s,
    LATERAL (SELECT (bayes_chart(models) #>> '{concat,0,title}') AS title,
      bayes_chart(models) #>> '{concat,0,layer,0,data,values,0,x}' AS x) AS c$$,
  $$VALUES ('least BIC: 2 components', '2')$$, 'a line marks the model of the least criterion');
SELECT cmp_ok(array_length(string_to_array(bayes_plot(of('gmm')), E'\n'), 1), '<=', 20,
  'a plot fits a terminal of 24 lines');

-- ---- the page of a model ----

SELECT never($$SELECT name, NOT (page LIKE '%<td>converged after%' OR name = 'linreg') OR
    page !~ '<figure>.*</figure>' OR page NOT LIKE '%' || current_date || '</footer>%' AS wrong
  FROM models, bayes_page(model) AS page$$, 'models of all families have a page');
SELECT set_eq($$SELECT m[1]::numeric AS v, m[2]::numeric AS l
    FROM regexp_matches(bayes_page(of('logreg'), '{"level": 0.5}'),
    '<td>coefficient</td><td>[^<]*</td><td>([^<]*)</td><td>[^<]*</td><td>([^<]*)</td>', 'g') AS m$$,
  $$SELECT to_char(mean, '9.99999EEEE')::numeric AS v,
      to_char(lower, '9.99999EEEE')::numeric AS l
    FROM bayes_coefficients(of('logreg'), 0.5)$$, 'with its parameters, to six digits');
SELECT ok(page LIKE '%<title>A &#60;b&#62;</title>%' AND page LIKE '%<td>long</td>%'
    AND page LIKE '%src="js/vega.min.js"%', 'named by its maker')
FROM bayes_page(of('gmm'), '{"title": "A <b>", "names": ["short", "long"], "scripts": "js/"}')
  AS page;
SELECT throws_ok($$SELECT bayes_page(of('gmm'), '{"names": ["a", "b", "c"]}')$$, '22023',
  'option "names" has 3 names for 2 components', 'of components');
SELECT throws_ok($$SELECT bayes_page(of('gmm'), '{"kind": "columns"}')$$, '22023', NULL,
  'with an option that there is not');
SELECT is(bayes_page(NULL::bayes_model), NULL, 'a page of no model is none');

-- Lines that say what is wanted, and numbers in subtitles.
INSERT INTO models SELECT 'dpmm', dpmm_fit(x, '{"draws": 60, "chains": 4}') FROM faithful;
SELECT is(c #> '{concat,0,layer,0,data,values,0,y}', '400', 'effective draws: 100 for each chain')
FROM bayes_chart(of('dpmm'), 'ess') AS c;
SELECT is(c #> '{concat,0,layer,0,data,values,0,y}', to_jsonb(max(draw) / 4.0),
  'ranks: the draws of a chain in each of four parts')
FROM bayes_chart(of('dpmm'), 'ranks') AS c, bayes_draws(of('dpmm')) GROUP BY c;
SELECT is(bayes_chart('SELECT bwt, ROW(age, lwt * 1000.0, smoke) FROM birthwt', of('linreg'),
  'residuals') #> '{layer,0,data,values,0,y}', '0', 'residuals: none');
SELECT is(bayes_chart('SELECT duration FROM geyser ORDER BY t', of('hmm'), 'forecast')
  #> '{layer,0,data,values,0,x}', to_jsonb(count(*) + 0.5), 'forecasts: where they begin')
FROM geyser;
SELECT is(substring(bayes_chart(of('gmm')) #>> '{title,subtitle}', 'weights: (.*) %'),
  string_agg(round(100 * weight)::text, ', ' ORDER BY component), 'ellipses: the weights')
FROM gmm_components(of('gmm'));
-- Three factors lie in a plane, four do not.
SELECT is(substring(bayes_chart(nmf_fit(x, 3), 'map') #>> '{title,subtitle}', '([0-9]+) %'), '100',
    'maps: all of it') FROM iris;
SELECT cmp_ok(substring(bayes_chart(nmf_fit(x, 6), 'map') #>> '{title,subtitle}',
    '([0-9]+) %')::int, '<', 100, 'or a part') FROM digits WHERE id <= 200;
SELECT * FROM finish();
