-- Questions to a model of any family: bayes_X says what F_X says, and families that cannot answer
-- are refused by name. Equal fits are equal.
SELECT plan(34);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- ---- models of every family ----

CREATE TABLE flowers AS SELECT x, x[3] > 4 AS large, CASE WHEN x[3] < 2 THEN 'setosa'
  WHEN x[3] < 4.8 THEN 'versicolor' ELSE 'virginica' END AS species FROM iris;
CREATE TABLE documents AS SELECT string_to_array((ARRAY['a b a c', 'c d d e', 'a a b', 'd e e c'])
  [1 + i % 4], ' ') AS d FROM generate_series(1, 40) AS i;
CREATE TABLE cells AS SELECT 'r' || i AS r, 'c' || j AS c, 1 + i * j % 5 AS n
  FROM generate_series(1, 8) AS i, generate_series(1, 6) AS j;
CREATE TABLE models (family text, method text, model bayes_model);
INSERT INTO models SELECT 'gmm', m, gmm_fit(x, 3, jsonb_build_object('method', m, 'draws', 40,
    'warmup', 20) - CASE m WHEN 'gibbs' THEN '{}'::text[] ELSE '{draws,warmup}' END)
  FROM flowers, unnest('{em,vi,gibbs}'::text[]) AS m GROUP BY m;
INSERT INTO models SELECT 'bmm', 'vi', bmm_fit(ARRAY[large, x[4] > 1, x[1] > 5.8], 2) FROM flowers;
INSERT INTO models SELECT 'dpmm', 'vi', dpmm_fit(x, '{"method": "vi"}') FROM flowers;
INSERT INTO models SELECT 'nb', 'exact', nb_fit(species, x) FROM flowers;
INSERT INTO models SELECT 'linreg', m, linreg_fit(x[1], x[2:3], jsonb_build_object('method', m))
  FROM flowers, unnest('{exact,em,gibbs}'::text[]) AS m GROUP BY m;
INSERT INTO models SELECT 'logreg', 'laplace', logreg_fit(large, x[1:2]) FROM flowers;
INSERT INTO models SELECT 'probit', 'vi', probit_fit(large, x[1:2], '{"method": "vi"}')
  FROM flowers;
INSERT INTO models SELECT 'hmm', 'vi', hmm_fit(d, 2) FROM documents;
INSERT INTO models SELECT 'lda', 'vi', lda_fit(d, 2) FROM documents;
INSERT INTO models SELECT 'nmf', 'vi', nmf_fit(r, c, n, 2) FROM cells;
INSERT INTO models SELECT 'pmf', 'gibbs', pmf_fit(r, c, n, 1, '{"draws": 40, "warmup": 20}')
  FROM cells;
INSERT INTO models SELECT 'beta_bernoulli', 'exact', beta_bernoulli_fit(large) FROM flowers;
INSERT INTO models SELECT 'gamma_poisson', 'exact', gamma_poisson_fit(n) FROM cells;
INSERT INTO models SELECT 'normal_inverse_gamma', 'exact', normal_inverse_gamma_fit(x[1])
  FROM flowers;
INSERT INTO models SELECT 'dirichlet_categorical', 'exact', dirichlet_categorical_fit(species)
  FROM flowers;
SELECT never('SELECT family, (bayes_info(model)).family <> family AS wrong FROM models',
  'there is a model of every family');

CREATE VIEW described AS SELECT * FROM models WHERE family <> 'pmf';

SELECT never($$SELECT method,
    (SELECT array_agg((term, mean, sd, lower, upper)::text)::text FROM bayes_coefficients(model))
      <> (SELECT array_agg((label, value, sd, lower, upper)::text)::text
        FROM bayes_parameters(model) WHERE parameter = 'coefficient') AS wrong
  FROM described WHERE family ~ 'reg|probit'$$, 'those of regressions are their coefficients');
SELECT set_eq($$SELECT family, method, parameter, sd_method, component FROM models,
    bayes_parameters(model) WHERE family ~ 'reg|probit'$$,
  $$VALUES ('linreg', 'exact', 'coefficient', 'exact', NULL::int),
    ('linreg', 'exact', 'noise_variance', 'exact', NULL),
    ('linreg', 'em', 'coefficient', NULL, NULL),
    ('linreg', 'em', 'noise_variance', 'normal approximation', NULL),
    ('linreg', 'gibbs', 'coefficient', 'draws', NULL),
    ('linreg', 'gibbs', 'noise_variance', 'draws', NULL),
    ('logreg', 'laplace', 'coefficient', 'normal approximation', NULL),
    ('probit', 'vi', 'coefficient', 'mean field', NULL)$$,
  'of no component, with how they are known');
SELECT results_eq($$SELECT topic, term, probability FROM models, lda_topics(model, 100)
    WHERE family = 'lda' ORDER BY 1, 2$$, $$SELECT component, label, value FROM models,
    bayes_parameters(model) WHERE family = 'lda' AND parameter = 'probability' ORDER BY 1, 2$$,
  'those of topics are probabilities of terms');
SELECT never($$SELECT p.*, NOT (lower < value AND value < upper AND sd > 0
    AND sd_method = 'mean field') AS wrong FROM models, bayes_parameters(model) AS p
  WHERE family IN ('lda', 'nmf') AND parameter <> 'weight'$$,
  'with intervals under the mean field');
SELECT results_eq($$SELECT side, key, factor, value, shape / rate, sqrt(shape) / rate FROM models,
    nmf_factors(model) WHERE family = 'nmf' ORDER BY 1, 2, 3$$, $$SELECT
    CASE parameter WHEN 'row_weight' THEN 'row' ELSE 'column' END AS side, label, component, value,
    value, sd FROM models, bayes_parameters(model) WHERE family = 'nmf' AND parameter <> 'weight'
    ORDER BY 1, 2, 3$$, 'those of factors are weights of rows and columns');

-- ---- models and rows ----

CREATE VIEW rows AS SELECT family, method, model, CASE family WHEN 'bmm'
    THEN ARRAY[(x[3] > 4)::int, (x[4] > 1)::int, (x[1] > 5.8)::int]::float8[]
    WHEN 'linreg' THEN x[2:3] WHEN 'logreg' THEN x[1:2] WHEN 'probit' THEN x[1:2] ELSE x END AS x
  FROM models, (SELECT * FROM flowers WHERE x[4] IN (0.3, 1.4, 2.1)) AS f
  WHERE family IN ('gmm', 'bmm', 'dpmm', 'nb', 'linreg', 'logreg', 'probit');
-- What a function of the model's own family says, as text.
CREATE FUNCTION own(call text, family text, model bayes_model, x float8[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE said text;
BEGIN
  EXECUTE format(call, family) INTO said USING model, x;
  RETURN said;
END $$;
SELECT never($$SELECT family, method, x, own('SELECT %s_predict($1, $2)', family, model, x)
    IS DISTINCT FROM coalesce((bayes_predict(model, x)).label,
      (bayes_predict(model, x)).component::text) AS wrong
  FROM rows WHERE family !~ 'reg|probit'$$, 'components and labels are those of the family');
SELECT never($$SELECT family, method, x, own('SELECT (mean, sd, lower, upper)::text FROM
    %s_predict($1, $2, 0.8)', family, model, x) IS DISTINCT FROM (SELECT (value, sd, lower,
    upper)::text FROM bayes_predict(model, x, 0.8)) AS wrong
  FROM rows WHERE family ~ 'reg|probit'$$, 'responses too');
SELECT set_eq($$SELECT DISTINCT family, p.component IS NULL AS a, p.label IS NULL AS b,
    p.value IS NULL AS c
    FROM rows, bayes_predict(model, x) AS p$$, $$VALUES ('gmm', false, true, true),
    ('bmm', false, true, true), ('dpmm', false, true, true), ('nb', false, false, true),
    ('linreg', true, true, false), ('logreg', true, true, false), ('probit', true, true, false)$$,
  'a component or a value');
SELECT never($$SELECT family, method, p.*, abs((SELECT sum(e) FROM unnest(p) AS e) - 1) > 1e-12
    OR family ~ 'mm' AND p[(bayes_predict(model, x)).component] < (SELECT max(e) FROM unnest(p)
      AS e)
    OR family ~ 'log|pro' AND p[2] <> (bayes_predict(model, x)).value AS wrong
  FROM rows, LATERAL (SELECT bayes_probabilities(model, x) AS p) AS p WHERE family <> 'linreg'$$,
  'probabilities sum to 1, and the prediction has the largest, or is that of true');
SELECT never($$SELECT x, (SELECT array_agg(p.probability ORDER BY class) FROM
    nb_probabilities(model, x) AS p) <> bayes_probabilities(model, x) AS wrong
  FROM rows WHERE family = 'nb'$$, 'in the order of the classes');
SELECT is((SELECT count(*) FROM models, bayes_sample(model, 0, 1) WHERE family = 'gmm'), 0::bigint,
  'or none');

-- Rows by name, with labels that the model does not know, and NULLs.
CREATE TABLE named AS SELECT nb_fit(species, t) AS nb, linreg_fit(t.a, t) AS linreg
FROM flowers, LATERAL (SELECT x[1] AS a, species AS kind) AS t;
SELECT is((bayes_predict(nb, t)).label, 'setosa', 'columns are found by name')
FROM named, (SELECT 'setosa' AS kind, 5.0 AS a) AS t;
SELECT ok(bayes_log_density(nb, t) = bayes_log_density(nb, t), 'an unknown label has a density')
FROM named, (SELECT 'rosa' AS kind, 5.0 AS a) AS t;
SELECT ok(bayes_predict(linreg, t) IS NULL, 'a regression has none for an incomplete row')
FROM named, (SELECT 'setosa' AS kind, NULL::float8 AS a) AS t;

-- ---- refused ----

CREATE FUNCTION says(call text, model bayes_model) RETURNS text LANGUAGE plpgsql AS $$
DECLARE message text; detail text; hint text; code text;
BEGIN
  EXECUTE call USING model;
  RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
    hint = PG_EXCEPTION_HINT, code = RETURNED_SQLSTATE;
  RETURN concat_ws(' / ', code, message, nullif(detail, ''), nullif(hint, ''));
END $$;
SELECT set_eq($$SELECT says('SELECT bayes_predict($1, 1.5)', model) FROM models
    WHERE family IN ('hmm', 'lda', 'nmf', 'pmf', 'beta_bernoulli')$$, $$VALUES
  ('42804 / a model of family hmm takes sequences, not rows of columns / hmm_decode, '
    'hmm_probabilities, hmm_log_likelihood and hmm_predict take a model and a sequence, hmm_sample '
    'draws one.'),
  ('42804 / a model of family lda takes documents, not rows of columns / lda_proportions, '
    'lda_predict and lda_perplexity take a model and a document.'),
  ('42804 / a model of family nmf takes cells of a table, not rows of columns / '
    'Use nmf_predict(model, row_key, column_key) to predict a cell.'),
  ('42804 / a model of family pmf takes cells of a table, not rows of columns / '
    'Use pmf_predict(model, row_key, column_key) to predict a cell, and pmf_recommend for the '
    'largest cells of a row.'),
  ('42804 / a model of family beta_bernoulli takes single values, not rows of columns / '
    'bayes_log_density(model, x) takes such a value; bayes_mean(model), bayes_interval and '
    'bayes_parameters say what is known of the parameter.')$$,
  'a family without rows names its own functions');
SELECT never($$SELECT family, call, says(call, model) NOT LIKE '42804 / a model of family '
    || family || ' takes %, not rows of columns / %' AS wrong
  FROM models, unnest(ARRAY['SELECT bayes_predict($1, ''{a,b}''::text[])',
    'SELECT bayes_probabilities($1, ''{"a": 1}''::jsonb)', 'SELECT bayes_log_density($1, 2)',
    'SELECT bayes_sample($1, 1, 1)']) AS call
  WHERE family NOT IN ('gmm', 'bmm', 'dpmm', 'nb', 'linreg', 'logreg', 'probit')
    AND NOT (family = 'hmm' AND call ~ 'log_density|sample')
    AND NOT (family ~ '^(beta|gamma|normal|dirichlet)_' AND call ~ 'log_density')$$,
  'whatever the row is');
SELECT is(says('SELECT bayes_predict($1, ''{"a": 1}''::jsonb)', nb_fit(d[1], '{"a": 1}'::jsonb)),
  '42804 / a model of family nb takes objects of names, not rows of columns / nb_predict, '
  'nb_probabilities and bayes_log_density take a model and such an object, jsonb or tsvector.',
  'objects of names are no rows') FROM documents;
SELECT is(says('SELECT bayes_probabilities($1, ARRAY[1.0, 2])', model), '42804 / a model of family '
  'linreg has no components to assign rows to / linreg_predict(model, x) predicts the '
  'response of a row, bayes_log_density(model, y, x) is the log density of a response.',
  'a regression has no components') FROM models WHERE family = 'linreg' AND method = 'exact';
SELECT set_eq($$SELECT family, says('SELECT bayes_log_density($1, ARRAY[1.0, 2])', model)
    LIKE '42804 / a model of family % has no log density of rows / %' FROM models
  WHERE family ~ 'reg|probit'$$, $$VALUES ('linreg', true), ('logreg', true), ('probit', true)$$,
  'nor a density of rows');
SELECT set_eq($$SELECT family, says('SELECT bayes_sample($1, 1, 1)', model) LIKE
    '42804 / a model of family % is no distribution over rows%' FROM models
  WHERE family IN ('dpmm', 'nb', 'linreg', 'logreg', 'probit')$$,
  $$VALUES ('dpmm', false), ('nb', false), ('linreg', true), ('logreg', true), ('probit', true)$$,
  'rows are drawn from models of rows');
-- 5 standard errors of a share of 2000 draws are at most 0.056.
SELECT never($$SELECT c.*, abs(c.probability - (SELECT count(*) FROM bayes_sample(model, 2000, 1)
    AS s WHERE s.component = c.ordinality) / 2000.0) > 0.056 AS wrong
  FROM models, nb_classes(model) WITH ORDINALITY AS c WHERE family = 'nb'$$,
  'classes with their probabilities');
SELECT results_eq($$SELECT count(*), count(s.component), count(DISTINCT s.x) FROM models,
    bayes_sample(model, 9, 1) AS s WHERE family = 'dpmm'$$,
  'VALUES (9::bigint, 0::bigint, 9::bigint)', 'draws of dpmm have no common clusters');
SELECT ok(abs(avg(s.x[1]) - (SELECT avg(x[1]) FROM flowers)) < 0.15,
  'and features with their means')
FROM models, bayes_sample(model, 2000, 1) AS s WHERE family = 'nb';
SELECT is(says('SELECT bayes_parameters($1)', model), '42804 / a model of family pmf has no '
  'parameters to list / Its fit takes cells of a table, not rows of columns. / '
  'Use pmf_predict(model, row_key, column_key) to predict a cell, and pmf_recommend for the '
  'largest cells of a row.', 'vectors of pmf say nothing') FROM models WHERE family = 'pmf';
SELECT is((SELECT array_agg(DISTINCT left(says(call, model), 5)) FROM models, unnest(ARRAY[
    'SELECT bayes_parameters($1, 1)', 'SELECT bayes_predict($1, ARRAY[5.0, 3, 4, 1], 0)',
    'SELECT bayes_sample($1, -1, 1)']) AS call WHERE family = 'gmm'), '{22023}'::text[],
  'levels and numbers are checked');

-- ---- equal fits are equal ----

CREATE TABLE twice AS SELECT round, gmm_fit(x, 3) AS model
  FROM flowers, generate_series(1, 2) AS round GROUP BY round
UNION ALL SELECT 3, model FROM models WHERE family = 'nb';
UPDATE twice SET model = jsonb_set(model::jsonb, '{seconds}', to_jsonb(round * 7.5))::bayes_model;
CREATE TABLE other AS TABLE twice;
SELECT is((SELECT array_agg(seconds ORDER BY round) FROM twice, bayes_info(model)),
  '{7.5,15,22.5}'::float8[], 'every model tells its own seconds');
SELECT is((SELECT (count(*), count(DISTINCT model), count(DISTINCT _bayes_model_hash(model)),
    count(DISTINCT _bayes_model_hash_extended(model, 1)), count(DISTINCT
      _bayes_model_send(model)))::text
  FROM twice), '(3,2,2,2,3)', 'fits that took other times are equal, and have one hash');
SET enable_hashagg = off;
SELECT is((SELECT array_agg(n ORDER BY n) FROM (SELECT count(*) AS n FROM twice
  GROUP BY model) AS g), '{1,2}'::bigint[], 'in groups');
CREATE INDEX ON twice USING hash (model);
SET enable_seqscan = off;
SELECT is((SELECT count(*) FROM twice JOIN other USING (model)), 5::bigint, 'in an index');
CREATE TABLE apart (model bayes_model) WITH (toast_tuple_target = 128);
ALTER TABLE apart ALTER model SET STORAGE EXTERNAL;
INSERT INTO apart SELECT model FROM twice;
SELECT is((SELECT count(*) FROM apart JOIN other USING (model)), 5::bigint,
  'wherever they are stored');
SELECT is((SELECT array_agg(DISTINCT seconds) FROM apart, bayes_info(model)),
  '{7.5,15,22.5}'::float8[], 'each with its seconds');
CREATE TABLE small AS
SELECT jsonb_set(model::jsonb, '{seconds}', to_jsonb(i * 0.5))::bayes_model AS model
FROM models, generate_series(1, 2) AS i WHERE family = 'beta_bernoulli';
SELECT throws_ok('CREATE UNIQUE INDEX ON small (model)', '23505', NULL, 'a btree finds them too');
SELECT results_eq($$SELECT a.model < b.model, a.model <= b.model, a.model >= b.model,
    a.model > b.model, a.model <> b.model, _bayes_model_cmp(a.model, b.model)
  FROM twice AS a, twice AS b WHERE a.round = 1 AND b.round = 2$$,
  'VALUES (false, true, true, false, false, 0)', 'in every order');
SELECT * FROM finish();
