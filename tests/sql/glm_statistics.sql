-- How well generalized linear models fit: statistics against those of R and of SQL, what has which,
-- charts, corners and errors.
SELECT plan(48);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE FUNCTION flat(response text, more jsonb DEFAULT '{}') RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('response', response, 'tol', 1e-14,
    'prior', '{"c": 1e12, "c_intercept": 1e12}'::jsonb
    || CASE WHEN response IN ('gamma', 'negative_binomial')
       THEN '{"c_dispersion": 1e12}' ELSE '{}' END::jsonb) || more $$;
CREATE TABLE fits (name text, query bayes_query, model bayes_model);
INSERT INTO fits SELECT response, query::bayes_query, glm_model(query::bayes_query, flat(response))
FROM (VALUES ('poisson', 'ftv'), ('negative_binomial', 'ftv'), ('gamma', 'bwt'),
    ('exponential', 'bwt')) AS v(response, y),
  LATERAL (SELECT format('SELECT %s, age, lwt, race::text, smoke FROM birthwt', y) AS query) AS q;
INSERT INTO fits SELECT 'normal', query::bayes_query, glm_model(query::bayes_query,
  '{"response": "normal", "tol": 1e-14, "prior": {"c": 1e12, "c_intercept": 1e12,
    "c_dispersion": 1e12}}')
FROM (SELECT 'SELECT progression, bmi, s5 FROM diabetes' AS query) AS q;
INSERT INTO fits SELECT 'binomial', query::bayes_query, glm_model(query::bayes_query,
  flat('binomial', '{"trials": "n"}'))
FROM (SELECT 'SELECT sum(low), race::text, smoke, count(*) AS n FROM birthwt GROUP BY race, smoke'
  AS query) AS q;
INSERT INTO fits SELECT name, query::bayes_query, probit_model(query::bayes_query, options::jsonb)
FROM (VALUES ('probit', '{"method": "em", "tol": 1e-14, "prior": {"lambda": 1e-12,
    "lambda_intercept": 1e-12}}'), ('gibbs', '{"method": "gibbs", "draws": 500}')) AS v(name,
    options),
  (SELECT 'SELECT low, age, lwt, race::text, smoke FROM birthwt' AS query) AS q;
CREATE TABLE found AS SELECT name, s.* FROM fits, glm_fit_statistics(query, model) AS s;
CREATE FUNCTION value(name text, statistic text) RETURNS float8 LANGUAGE sql AS $$
  SELECT value FROM found WHERE ($1, $2) = (found.name, found.statistic) $$;

-- ---- R 4.2: glm, MASS::glm.nb ----

SELECT is(count(*), 11::bigint, 'deviance and dispersion') FROM (VALUES
    ('poisson', 'deviance', 249.33526555), ('poisson', 'dispersion', 1.38606086281),
    ('negative_binomial', 'deviance', 192.212765923),
    ('negative_binomial', 'dispersion', 1.04844287152),
    -- those of exponential, over the dispersion of the model
    ('gamma', 'deviance', 11.789092947 / 0.06372260554888),
    ('gamma', 'dispersion', 0.0546650132886 / 0.06372260554888),
    ('exponential', 'deviance', 11.789092947),
    ('exponential', 'dispersion', 0.0546650132886), ('binomial', 'deviance', 3.15693666957),
    ('binomial', 'dispersion', 1.55906658957), ('probit', 'deviance', 214.034971984))
  AS r(name, statistic, wanted)
WHERE abs(value(name, statistic) / wanted - 1) < 1e-6;
SELECT ok(abs(dispersion.value - 1) < 1e-6 AND abs(deviance.value - 439) < 1e-3
    AND abs(r2.value - 0.4595) < 0.01, 'normal: the variance is the residual one')
FROM found AS dispersion, found AS deviance, found AS r2
WHERE dispersion.name = 'normal' AND dispersion.statistic = 'dispersion'
  AND deviance.name = 'normal' AND deviance.statistic = 'deviance'
  AND r2.name = 'normal' AND r2.statistic = 'r2';
-- p <- fitted(glm(low ~ ..., binomial("probit"))); wilcox.test(p[low == 1], p[low == 0]);
-- glm(low ~ offset(qlogis(p)), binomial); glm(low ~ qlogis(p), binomial)
SELECT is(count(*), 6::bigint, 'yes and no') FROM (VALUES ('log_density', -0.566230084613),
    ('brier', 0.194994869219), ('auc', 0.682920469361),
    ('calibration_in_the_large', 0.00495679690059), ('calibration_slope', 0.980604891375),
    ('dispersion', 0.990565038721)) AS r(statistic, wanted)
WHERE abs(value('probit', statistic) - wanted) < 2e-6;
SELECT is(count(*), 3::bigint, 'their lower bounds') FROM (VALUES ('auc', 0.605964362266),
    ('calibration_in_the_large', -0.320525266682), ('calibration_slope', 0.508265921968))
  AS r(statistic, wanted) JOIN found USING (statistic)
WHERE name = 'probit' AND abs(lower - wanted) < 2e-6 AND abs((lower + upper) / 2 - value) < 1e-9;
SELECT ok(abs(expected - 0.191573388869) < 2e-6, 'the expected Brier score')
FROM found WHERE (name, statistic) = ('probit', 'brier');
-- 40,000 draws of MASS::mvrnorm(coef, vcov) in R, whose standard errors are 0.002 at most
SELECT is(count(*), 4::bigint, 'posterior predictive checks') FROM (VALUES
    ('dispersion', 1, 0.01495), ('zeros', 0.465555, 0.081075), ('maximum', 4.673175, 0.1101125),
    ('r2', NULL, NULL)) AS r(statistic, mean, probability),
  fits, LATERAL (SELECT * FROM glm_fit_statistics(query, model, draws => 10000) AS s
    WHERE s.statistic = r.statistic) AS s
WHERE name = 'poisson' AND (abs(s.expected - mean) < 0.03 AND abs(s.p - probability) < 0.01
  OR abs(s.value - 0.11094) < 0.003 AND abs(s.lower - 0.03609) < 0.005
    AND abs(s.upper - 0.22006) < 0.005);

-- ---- SQL ----

CREATE TABLE grouped AS SELECT i, i % 7 AS x, (i * 7919 % 101) / 101.0 < (1 + i % 7) / 9.0 AS y
FROM generate_series(1, 700) AS i;
CREATE TYPE one AS (x int);
CREATE TABLE grouped_fit AS SELECT logreg_model('SELECT y, x FROM grouped') AS model;
CREATE TABLE probabilities AS SELECT y, (bayes_probabilities(model, ROW(x)::one))[2] AS p
FROM grouped_fit, grouped;
CREATE TABLE of_grouped AS SELECT s.*
FROM grouped_fit, glm_fit_statistics('SELECT y, x FROM grouped', model) AS s;
SELECT ok(abs(value - auc) < 1e-12, 'an AUC with many ties') FROM of_grouped,
  (SELECT avg(CASE WHEN a.p > b.p THEN 1 WHEN a.p = b.p THEN 0.5 ELSE 0 END) AS auc
   FROM probabilities AS a, probabilities AS b WHERE a.y AND NOT b.y) AS f
WHERE statistic = 'auc';
SELECT ok(abs(value - brier) < 1e-12 AND abs(expected - wanted) < 1e-12, 'a Brier score')
FROM of_grouped, (SELECT avg((p - y::int) ^ 2) AS brier, avg(p * (1 - p)) AS wanted
  FROM probabilities) AS f WHERE statistic = 'brier';
SELECT ok(abs(value - (s).log_density) < 1e-12
    AND abs(upper - value - 1.959963984540054 * (s).log_density_se) < 1e-9, 'bayes_score')
FROM of_grouped, (SELECT bayes_score(model, y, ROW(x)::one) AS s FROM grouped_fit, grouped) AS f
WHERE statistic = 'log_density';
SELECT ok(abs(value - coefficient) < 1e-6, 'the slope is that of a fit to log odds')
FROM of_grouped, (SELECT mean AS coefficient FROM logreg_fit(
    'SELECT y, ln(p / (1 - p)) AS odds FROM probabilities',
    '{"tol": 1e-14, "prior": {"c": 1e9, "c_intercept": 1e9}}')
  WHERE term = 'odds') AS f
WHERE statistic = 'calibration_slope';
SELECT ok(abs(value - zeros) < 1e-15, 'the share of zeros')
FROM (SELECT avg((ftv = 0)::int) AS zeros FROM birthwt) AS b, found
WHERE (name, statistic) = ('poisson', 'zeros');
SELECT is(value, most::float8, 'the largest response')
FROM (SELECT max(bwt) AS most FROM birthwt) AS b, found
WHERE (name, statistic) = ('gamma', 'maximum');

-- ---- which has what ----

SELECT is(string_agg(statistic, ' ' ORDER BY n), 'rows left_out log_density deviance dispersion '
  'zeros maximum r2', 'counts')
FROM fits, glm_fit_statistics(query, model) WITH ORDINALITY AS s(statistic, value, lower, upper,
  expected, p, meaning, n) WHERE name = 'poisson';
SELECT is(string_agg(statistic, ' ' ORDER BY statistic), 'deviance dispersion left_out '
  'log_density maximum minimum r2 rows', 'amounts') FROM found WHERE name = 'gamma';
SELECT is(string_agg(statistic, ' ' ORDER BY statistic), 'auc brier calibration_in_the_large '
  'calibration_slope deviance dispersion left_out log_density r2 rows', 'yes or no')
FROM found WHERE name = 'gibbs';
SELECT results_eq($$SELECT string_agg(statistic, ' ' ORDER BY statistic), count(r2)
    FROM (VALUES (1.5), (2.5)) AS d(df), LATERAL (SELECT glm_model(
        'SELECT progression, bmi, s5 FROM diabetes',
        jsonb_build_object('response', 'student_t', 'df', df)) AS m) AS f,
      LATERAL (SELECT statistic, CASE statistic WHEN 'r2' THEN value END AS r2
        FROM glm_fit_statistics('SELECT progression, bmi, s5 FROM diabetes', m)) AS s
    GROUP BY df ORDER BY df$$,
  $$VALUES ('deviance left_out log_density maximum minimum rows', 0::bigint),
    ('deviance dispersion left_out log_density maximum minimum r2 rows', 1)$$,
  'without a variance no dispersion and no R2');
SELECT ok(lower < value AND value < upper AND upper - lower BETWEEN 0.05 AND 0.3,
  'stored draws give R2 an interval') FROM found WHERE (name, statistic) = ('gibbs', 'r2');
SELECT ok(abs(value - 0.106812989965) < 1e-6 AND lower IS NULL,
  'that of a point estimate has none') FROM found WHERE (name, statistic) = ('probit', 'r2');
SELECT ok(p < 0.01 AND value > expected, 'a p near 0 is a statistic that is too large')
FROM (SELECT glm_model('SELECT stations, mag, depth FROM quakes', '{"response": "poisson"}') AS m)
  AS f, glm_fit_statistics('SELECT stations, mag, depth FROM quakes', m)
WHERE statistic = 'dispersion';

-- ---- arguments ----

SELECT is(count(*), 8::bigint, 'the same simulations whenever it runs')
FROM fits, found, glm_fit_statistics(query, model) AS s
WHERE found.name = 'gamma' AND fits.name = 'gamma' AND found.statistic = s.statistic
  AND (s.value, s.lower, s.upper, s.expected, s.p)
    IS NOT DISTINCT FROM (found.value, found.lower, found.upper, found.expected, found.p);
SELECT ok(narrow.upper - narrow.lower < wide.upper - wide.lower, 'the level')
FROM fits, found AS wide, glm_fit_statistics(query, model, 0.5) AS narrow
WHERE fits.name = 'poisson' AND wide.name = 'poisson' AND wide.statistic = 'r2'
  AND narrow.statistic = 'r2';
SELECT is(count(*) FILTER (WHERE p IS NOT NULL OR statistic = 'r2'), 0::bigint,
  'without draws no p and no R2')
FROM fits, glm_fit_statistics(query, model, draws => 0) WHERE name = 'poisson';
SELECT results_eq($$SELECT statistic, value FROM grouped_fit, glm_fit_statistics(
    'SELECT y, NULLIF(x, 3) AS x FROM grouped UNION ALL SELECT NULL, 1', model)
  WHERE statistic IN ('rows', 'left_out')$$,
  $$VALUES ('rows', 600::float8), ('left_out', 101)$$, 'rows with a NULL are left out and counted');
SELECT results_eq($$SELECT statistic, value FROM grouped_fit, glm_fit_statistics(
  'SELECT y, x FROM grouped WHERE false', model)$$,
  $$VALUES ('rows', 0::float8), ('left_out', 0)$$, 'no rows');
SELECT is(string_agg(statistic, ' ' ORDER BY statistic), 'brier deviance left_out log_density rows',
  'a single row has hardly any')
FROM grouped_fit, glm_fit_statistics('SELECT y, x FROM grouped LIMIT 1', model);
SELECT is(string_agg(statistic, ' ' ORDER BY statistic), 'auc brier calibration_in_the_large '
  'deviance dispersion left_out log_density r2 rows', 'answers that are separated have no slope')
FROM grouped_fit, glm_fit_statistics('SELECT x > 3, x FROM grouped', model);
SELECT is(string_agg(statistic, ' ' ORDER BY statistic), 'brier deviance dispersion left_out '
  'log_density r2 rows', 'answers that are all yes have no AUC')
FROM grouped_fit, glm_fit_statistics('SELECT true, x FROM grouped', model);
SET work_mem = '64kB';
SELECT results_eq($$SELECT round(lower::numeric, 2), round(value::numeric, 2),
    round(upper::numeric, 2) FROM grouped_fit, glm_fit_statistics(
      'SELECT i % 2 = 0, (i / 2) % 7 AS x FROM generate_series(0, 27999) AS i', model, draws => 0)
  WHERE statistic = 'auc'$$, $$VALUES (0.49, 0.50, 0.51)$$, 'odds that do not fit into memory');
RESET work_mem;

-- ---- charts of rows ----

CREATE TABLE visits AS SELECT query::bayes_query, glm_model(query::bayes_query, flat('poisson'))
  AS model FROM (SELECT 'SELECT ftv, smoke FROM birthwt' AS query) AS q;
CREATE TABLE roots AS SELECT c.* FROM visits, bayes_chart_data(query, model, 'rootogram') AS c;
-- Two groups with a mean each, and flat priors: fitted means are those of the groups.
SELECT is(count(*), 6::bigint, 'a rootogram has roots of expected and observed numbers')
FROM generate_series(0, 5) AS g(n) CROSS JOIN
  LATERAL (SELECT sqrt(sum(exp(n * ln(mean) - mean - ln(factorial(n))))) AS expected
    FROM birthwt AS b, (SELECT smoke, avg(ftv)::float8 AS mean FROM birthwt GROUP BY smoke) AS m
    WHERE b.smoke = m.smoke) AS e CROSS JOIN
  LATERAL (SELECT sqrt(count(*)) AS observed FROM birthwt WHERE ftv = n) AS o
  JOIN roots AS b ON b.y_label = n::text AND b.mark = 'bar' AND b.series = 'observed'
  JOIN roots AS p ON p.y_label = n::text AND p.mark = 'point' AND p.series = 'expected'
WHERE abs(p.x - expected) < 1e-5 AND abs(b.x - observed) < 1e-5;
SELECT ok(bool_and(abs(sum - 189) < 1e-9 AND last = '6 or more'), 'of all rows')
FROM (SELECT sum(x ^ 2) AS sum, max(y_label) AS last FROM roots GROUP BY mark) AS s;
SELECT results_eq($$SELECT y_label FROM
    (SELECT glm_model('SELECT i * i, i AS x FROM generate_series(1, 40) AS i',
      '{"response": "negative_binomial"}') AS m) AS f,
    bayes_chart_data('SELECT i * i, i AS x FROM generate_series(1, 40) AS i', m, 'rootogram')
  WHERE mark = 'bar' AND x > 0 LIMIT 2$$,
  $$VALUES ('1 to 140'), ('141 to 280')$$, 'many counts are in ranges');
SELECT set_eq($$SELECT x, y FROM fits, bayes_chart_data(query, model) WHERE name = 'gamma'
    AND mark = 'point'$$, $$SELECT (glm_predict(model, r)).mean, bwt FROM fits, birthwt,
    LATERAL (SELECT age, lwt, race::text, smoke) AS r WHERE name = 'gamma'$$,
  'predictions are the default of amounts');
SELECT set_eq($$SELECT x, y FROM visits, bayes_chart_data(query, model, 'residuals')$$,
  $$SELECT (p).mean, (ftv - (p).mean) / (p).sd FROM (SELECT ftv, glm_predict(model, r) AS p
    FROM visits, birthwt, LATERAL (SELECT smoke) AS r) AS f$$, 'residuals of counts');
SELECT is(count(*), 10::bigint, 'calibration is that of yes or no')
FROM (SELECT glm_model('SELECT y, x FROM grouped', '{"response": "bernoulli"}') AS m) AS f,
  bayes_chart_data('SELECT y, x FROM grouped', m) WHERE mark = 'point';
CREATE FUNCTION no_chart(kind text, wanted text) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT throws_ok(format('SELECT bayes_chart(query, model, %L) FROM fits WHERE name = %L', kind,
      wanted), '42804', format('a model of %s has no chart "%s" of rows',
      CASE wanted WHEN 'probit' THEN 'probit' ELSE 'glm' END, kind),
    wanted || ' has no ' || kind) $$;
SELECT no_chart('calibration', 'poisson');
SELECT no_chart('rootogram', 'gamma');
SELECT no_chart('rootogram', 'probit');
SELECT throws_ok($$SELECT bayes_chart('SELECT -1, 0 AS smoke', model, 'rootogram') FROM visits$$,
  '22023', 'the response is -1', 'counts that cannot be');

-- ---- errors ----

CREATE FUNCTION refused(arguments text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT glm_fit_statistics(' || arguments || ') FROM fits WHERE name = ''poisson''';
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT is(refused('NULL, model'), '22004 query must not be NULL', 'no query');
SELECT is(refused('query, NULL'), '22004 model must not be NULL', 'no model');
SELECT is(refused('query, model, 1'), '22023 level is 1, but must be between 0 and 1',
  'a level');
SELECT is(refused('query, model, 0.9, 10001'), '22023 draws is 10001, but must be from 0 to 10000',
  'draws');
SELECT is(refused($$'SELECT -1, age, lwt, race::text, smoke FROM birthwt', model$$),
  '22023 the response is -1', 'a response');
SELECT throws_ok($$SELECT glm_fit_statistics('SELECT 9, ''1'' AS race, 0 AS smoke, 3 AS n', model)
  FROM fits WHERE name = 'binomial'$$, '22023', 'the response is 9 of 3 trials',
  'more than trials');
SELECT is(refused($$'SELECT 1', model$$), '22023 query returns one column', 'no predictors');
SELECT is(refused($$query, (SELECT linreg_fit(bwt, age) FROM birthwt)$$),
  '42804 a model of family linreg has no such statistics', 'another family');
SELECT throws_ok(format($$SELECT bayes_chart('SELECT -1, 2.0', glm_model(
  'SELECT i, i / 2.0 FROM generate_series(1, 9) AS i', '{"response": "poisson"}'), %L)$$, kind),
  '22023', 'the response is -1', kind || ' of a count that cannot be')
FROM unnest('{predictions,residuals}'::text[]) AS kind;
SELECT * FROM finish();
