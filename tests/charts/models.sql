-- Charts of models of all families, of all kinds, and of rows, for tests/charts/charts.pl: in
-- directory :out one JSON object a line, a page of all, that of a model, and pages without programs
-- beside them.
\set ON_ERROR_STOP on
SET client_min_messages = error;

CREATE TABLE models (name text PRIMARY KEY, model bayes_model, query text);
INSERT INTO models SELECT 'gmm', gmm_fit(x, 2), 'SELECT x FROM faithful' FROM faithful;
INSERT INTO models SELECT 'gmm gibbs', gmm_fit(x, 3, '{"method": "gibbs", "draws": 100}')
  FROM faithful;
INSERT INTO models SELECT 'gmm of one column', gmm_fit(velocity, 3) FROM galaxies;
-- Names that break out of whatever does not expect them.
INSERT INTO models SELECT 'hostile', gmm_fit(r, 2) FROM (SELECT waiting
    AS "x']; alert(1); //</script><b onload=""alert(1)"">.[0]", duration AS "😀 é \ ${} {{1}}"
  FROM geyser) AS r;
INSERT INTO models SELECT 'long', nb_fit(repeat(species || ' <i>&amp;</i> ', 300), x) FROM iris;
INSERT INTO models SELECT 'bmm', bmm_fit(r, 2, '{"method": "vi"}'),
    'SELECT age, lwt, smoke = 1 AS smoker, race::text FROM birthwt'
  FROM (SELECT age, lwt, smoke = 1 AS smoker, race::text FROM birthwt) AS r;
INSERT INTO models SELECT 'dpmm', dpmm_fit(x, '{"draws": 100}'), 'SELECT x FROM faithful'
  FROM faithful;
INSERT INTO models SELECT 'dpmm vi', dpmm_fit(x, '{"method": "vi"}') FROM faithful;
INSERT INTO models SELECT 'nb', nb_fit(species, x), 'SELECT species, x FROM iris' FROM iris;
INSERT INTO models SELECT 'hmm', hmm_fit(s, 3), 'SELECT duration FROM geyser ORDER BY t'
  FROM (SELECT array_agg(duration ORDER BY t) AS s FROM geyser) AS g;
INSERT INTO models SELECT 'lda', lda_fit(words, 8, '{"min_documents": 5, "max_share": 0.3}'),
    'SELECT date_trunc(''month'', date ''2024-01-01'' + length(page) * 20), words FROM manual'
  FROM manual;
INSERT INTO models SELECT 'topics by place', model,
    'SELECT left(page, 1) AS "a]b", words FROM manual'
  FROM models WHERE name = 'lda';
INSERT INTO models SELECT 'nmf', nmf_fit(x, 8) FROM digits WHERE id <= 300;
INSERT INTO models SELECT 'pmf', pmf_fit(student, lecturer, rating, 2, '{"draws": 100}'),
    'SELECT student, lecturer, rating FROM lectures WHERE student < 300'
  FROM lectures WHERE student < 300;
INSERT INTO models SELECT 'linreg', linreg_fit(progression, x),
    'SELECT progression, x FROM diabetes' FROM diabetes;
INSERT INTO models SELECT 'body mass', linreg_fit(progression, bmi),
    'SELECT progression, bmi FROM diabetes' FROM diabetes;
INSERT INTO models SELECT 'logreg', logreg_fit(low = 1, x), 'SELECT low = 1, x FROM birthwt'
  FROM birthwt;
INSERT INTO models SELECT 'glm', glm_model(query::bayes_query, '{"response": "poisson"}'), query
  FROM (SELECT 'SELECT ftv, age, smoke FROM birthwt' AS query) AS q;
INSERT INTO models SELECT 'glm of classes',
  glm_model('SELECT species, petal_length FROM iris', '{"response": "categorical"}');
INSERT INTO models SELECT 'probit', probit_fit(low = 1, x, '{"method": "gibbs", "draws": 100}')
  FROM birthwt;
INSERT INTO models SELECT 'beta', beta_bernoulli_fit(low = 1) FROM birthwt;
INSERT INTO models SELECT 'gamma', gamma_poisson_fit(ftv) FROM birthwt;
INSERT INTO models SELECT 'normal', normal_inverse_gamma_fit(bwt) FROM birthwt;
INSERT INTO models SELECT 'conditional', bayes_condition(model, '{NULL,70}'::float8[])
  FROM models WHERE name = 'gmm';
INSERT INTO models SELECT 'known', bayes_condition(model, '{5,NULL,NULL,NULL}'::float8[]),
    'SELECT x[2:4] FROM iris'
  FROM models WHERE name = 'nb';

-- The kinds that a model has, from the HINT of a kind that none has.
CREATE FUNCTION kinds(query text, model bayes_model) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  hint text;
BEGIN
  IF query IS NULL THEN
    PERFORM bayes_chart(model, 'none');
  ELSE
    PERFORM bayes_chart(query::bayes_query, model, 'none');
  END IF;
EXCEPTION WHEN invalid_parameter_value THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RETURN QUERY SELECT regexp_split_to_table(substring(hint FROM ': (.*)\.$'), ', ');
END $$;

CREATE TABLE charts AS
  SELECT name, kind, number = 1 AS is_default, false AS of_rows, bayes_chart(model, kind) AS chart
  FROM models, kinds(NULL, model) WITH ORDINALITY AS k(kind, number)
  UNION ALL
  SELECT name, kind, number = 1, true, bayes_chart(query::bayes_query, model, kind)
  FROM models, kinds(query, model) WITH ORDINALITY AS k(kind, number) WHERE query IS NOT NULL;
INSERT INTO charts SELECT 'several', 'criteria', true, false, bayes_chart(array_agg(model))
  FROM gmm_select('SELECT x FROM faithful', '{1,2,3}',
    '{"covariance": ["full", "diagonal"], "models": true}');
INSERT INTO charts SELECT 'two', 'posterior', true, false, bayes_chart(ARRAY[
    (SELECT model FROM models WHERE name = 'beta'),
    (SELECT beta_bernoulli_fit(smoke = 1) FROM birthwt)]);

-- Charts of others, with options for vega-embed, that a page draws as it draws its own.
CREATE TABLE foreign_charts AS
  SELECT chart || CASE inherited WHEN true THEN jsonb_build_object('__proto__', members)
    ELSE members END AS chart
  FROM charts, (VALUES (false), (true)) AS i(inherited), (SELECT '{"usermeta": {"embedOptions": {
    "renderer": "canvas", "actions": false, "config": "https://example.org/config.json",
    "patch": "https://example.org/patch.json"}}}'::jsonb AS members) AS m
  WHERE name = 'beta' AND is_default;

\cd :out
\pset format unaligned
\pset tuples_only on
\o charts.jsonl
SELECT jsonb_build_object('name', name, 'kind', kind, 'default', is_default, 'rows', of_rows,
  'components', (SELECT i.components FROM models AS m, bayes_info(m.model) AS i
    WHERE m.name = c.name), 'chart', chart)
FROM charts AS c ORDER BY name, of_rows, kind;
\o page.html
SELECT bayes_page('Charts </title><script>document.title = "broken"</script>',
  array_agg(chart ORDER BY name, of_rows, kind) || (SELECT array_agg(chart) FROM foreign_charts),
  '{"scripts": "scripts"}')
FROM charts WHERE is_default;
\o public.html
SELECT bayes_page('Old Faithful', chart) FROM charts WHERE name = 'gmm' AND is_default AND of_rows;
\o model.html
SELECT bayes_page(model, '{"title": "<i>", "names": ["</script><script>x"], "scripts": "scripts"}')
FROM models WHERE name = 'hostile';
\o missing.html
SELECT bayes_page('Old Faithful', chart, '{"scripts": "nowhere"}')
FROM charts WHERE name = 'gmm' AND is_default AND of_rows;
\o
