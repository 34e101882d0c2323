-- Generalized linear models from SQL: coefficients against those of R's glm and MASS, offsets and
-- trials, predictions, scores, corners and errors.
SELECT plan(82);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- ---- birth weights: R 4.2, glm, MASS::glm.nb and MASS::gamma.shape ----

CREATE TYPE mother AS (age float8, lwt float8, race text, smoke float8);
CREATE VIEW births AS
SELECT id, low, ftv, bwt, ROW(age, lwt, race, smoke)::mother AS b FROM birthwt;
CREATE FUNCTION flat(response text, more jsonb DEFAULT '{}') RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('response', response, 'tol', 1e-14,
    'prior', '{"c": 1e12, "c_intercept": 1e12}'::jsonb
    || CASE WHEN response IN ('gamma', 'negative_binomial', 'normal', 'student_t')
       THEN '{"c_dispersion": 1e12}' ELSE '{}' END::jsonb) || more $$;
-- The largest difference from given means and standard deviations, in the order of the terms.
CREATE FUNCTION missed(model bayes_model, means float8[], sds float8[]) RETURNS float8
LANGUAGE sql AS $$
  SELECT max(greatest(abs(mean - means[n]), coalesce(abs(sd - sds[n]), 0)))
  FROM bayes_coefficients(model) WITH ORDINALITY AS c(term, mean, sd, lower, upper, n) $$;

SELECT ok(missed(glm_fit(ftv, b, flat('poisson')),
  '{-1.629507417641, 0.042380204692, 0.003656236594, -0.035475216738, -0.190918337806,
    -0.092622423629}',
  '{0.505929809104, 0.014783238353, 0.002613909886, 0.254389283088, 0.200043306909,
    0.177372370442}') < 1e-8, 'poisson') FROM births;
SELECT ok(abs(log_likelihood + 229.704875521) < 1e-8, 'its log-likelihood')
FROM (SELECT glm_fit(ftv, b, flat('poisson')) AS m FROM births) AS f, bayes_info(m);
CREATE TABLE visits AS SELECT glm_fit(ftv, b, flat('negative_binomial')) AS m FROM births;
-- Standard deviations are of the observed information of all parameters, not of the expected one
-- given the dispersion, which R shows.
SELECT ok(missed(m, '{-1.661595757528, 0.044374526610, 0.003707386101, -0.006995632552,
    -0.226152774006, -0.132567102770}', NULL) < 1e-7, 'negative binomial') FROM visits;
SELECT ok(abs(exp((ln(lower) + ln(upper)) / 2) - 0.432968402) < 1e-7, 'its dispersion')
FROM visits, bayes_parameters(m) WHERE parameter = 'dispersion';
SELECT ok(abs(log_likelihood + 225.778364718532) < 1e-8, 'its log-likelihood')
FROM visits, bayes_info(m);
CREATE TABLE weights AS SELECT glm_fit(bwt, b, flat('gamma')) AS m FROM births;
SELECT ok(missed(m, '{7.954834920514, -0.001210155520, 0.001376155697, -0.173795973690,
    -0.130519720388, -0.132495378175}', NULL) < 1e-7, 'gamma') FROM weights;
-- The dispersions of gamma, normal and student_t have the greatest likelihood times their root for
-- each of the coefficients (by Newton's method and EM in R), which for normal is the residual
-- variance of lm.
SELECT ok(abs(exp((ln(lower) + ln(upper)) / 2) - 0.06372260554888) < 1e-8, 'its dispersion')
FROM weights, bayes_parameters(m) WHERE parameter = 'dispersion';
SELECT ok(abs(log_likelihood + 1509.957255405) < 1e-7, 'its log-likelihood')
FROM weights, bayes_info(m);
SELECT ok(missed(glm_fit(bwt, b, flat('exponential')),
  '{7.954834920514, -0.001210155520, 0.001376155697, -0.173795973690, -0.130519720388,
    -0.132495378175}', NULL) < 1e-7, 'exponential') FROM births;
CREATE TYPE smoker AS (lwt float8, smoke float8);
CREATE TABLE heavy AS
SELECT response, glm_fit(bwt, ROW(lwt, smoke)::smoker, flat(response)) AS m
FROM birthwt, unnest('{normal,student_t}'::text[]) AS response GROUP BY response;
SELECT ok(missed(m, '{2501.12535722384, 4.23673579481, -272.08115190462}',
  '{230.8358888527691, 1.6898759794503, 105.5914029610259}') < 1e-6, 'normal')
FROM heavy WHERE response = 'normal';
SELECT ok(missed(m, '{2437.412165217734, 4.972191545902, -283.755422108470}', NULL) < 1e-7,
  'student_t')
FROM heavy WHERE response = 'student_t';
SELECT ok(abs(log_likelihood - CASE response WHEN 'normal' THEN -1506.939947565
    ELSE -1510.929016562 END) < 1e-7, response || ': its log-likelihood')
FROM heavy, bayes_info(m) ORDER BY response;
SELECT ok(abs((ln(lower) + ln(upper)) / 2 - CASE response WHEN 'normal' THEN 13.12445042105
    ELSE 12.749545648893 END) < 1e-8, response || ': its squared scale')
FROM heavy, bayes_parameters(m) WHERE parameter = 'dispersion' ORDER BY response;
CREATE TYPE cell AS (race text, smoke float8, n int);
CREATE TABLE cells AS SELECT sum(low) AS low, ROW(race, smoke, count(*))::cell AS c
FROM birthwt GROUP BY race, smoke;
SELECT ok(missed(glm_fit(low, c, flat('binomial', '{"trials": "n"}')),
  '{-1.840538882, 1.084088121, 1.108562899, 1.116003897}',
  '{0.3528640736, 0.4899848980, 0.4003059460, 0.3692263026}') < 1e-8, 'binomial') FROM cells;
SELECT ok(missed(glm_fit(low, c, flat('binomial', '{"trials": "n", "link": "probit"}')),
  '{-1.1291592529, 0.6635367397, 0.6783869518, 0.6841964682}', NULL) < 1e-8, 'with a probit')
FROM cells;
SELECT is((SELECT objective FROM bayes_info(glm)), (SELECT objective FROM bayes_info(logreg)),
  'bernoulli is logreg')
FROM (SELECT glm_fit(low, b, '{"response": "bernoulli"}') AS glm, logreg_fit(low, b) AS logreg
  FROM births) AS f;
SELECT is((SELECT array_agg(mean) FROM bayes_coefficients(glm)),
  (SELECT array_agg(mean) FROM bayes_coefficients(probit)), 'with a probit it is probit')
FROM (SELECT probit_fit(low, b, '{"prior": {"lambda": 0.4, "lambda_intercept": 0.01}}') AS probit,
  glm_fit(low, b, '{"response": "bernoulli", "link": "probit", "prior": {"c": 2.5}}') AS glm
  FROM births) AS f;

-- ---- effects, offsets, weights ----

SELECT ok(bool_and(abs(effect - exp(mean)) < 1e-12 AND effect_lower = exp(lower)), 'effects')
FROM visits, glm_coefficients(m);
SELECT is(count(effect), 0::bigint, 'of a probit and of linreg there are none')
FROM (SELECT linreg_fit(ftv, b) AS l, probit_fit(low, b) AS p FROM births) AS f,
  unnest(ARRAY[l, p]) AS m, glm_coefficients(m);
CREATE TABLE claims AS SELECT i, (i * 7919 % 13) % 5 AS y, (i % 7)::float8 AS age,
  1 + (i % 4)::float8 AS years, ln(1 + i % 4) AS log_years, 'type ' || i % 3 AS type
FROM generate_series(1, 300) AS i;
SELECT ok(missed(glm_model('SELECT y, age, type, years FROM claims',
    '{"response": "poisson", "exposure": "years"}'),
  (SELECT array_agg(mean) FROM glm_fit('SELECT y, age, type, log_years FROM claims',
    '{"response": "poisson", "offset": "log_years"}')), NULL) < 1e-9,
  'an exposure is the offset of its logarithm');
SELECT ok(missed(glm_fit(y, ARRAY[age, years], '{"response": "poisson", "exposure": "x2"}'),
  (SELECT array_agg(mean) FROM glm_fit('SELECT y, age, years FROM claims',
    '{"response": "poisson", "exposure": "years"}')), NULL) = 0, 'columns of arrays have names')
FROM claims;
SELECT ok(missed(glm_fit(y, age, '{"response": "negative_binomial"}', 1 + i % 3),
  (SELECT array_agg(mean) FROM (SELECT glm_fit(y, age, '{"response": "negative_binomial"}') AS m
    FROM claims, generate_series(0, i % 3)) AS f, bayes_coefficients(m)), NULL) < 1e-9,
  'a weight repeats a row') FROM claims;
SELECT is(count(*), 3::bigint, 'a fit for each group') FROM (SELECT type,
  glm_fit(y, age, '{"response": "poisson"}') AS m FROM claims GROUP BY type) AS f
WHERE (SELECT rows = 100 AND converged FROM bayes_info(m));

-- ---- predictions and scores ----

CREATE TABLE rates AS SELECT glm_model('SELECT y, age, type, years FROM claims',
  '{"response": "negative_binomial", "exposure": "years"}') AS m;
CREATE TYPE place AS (mag float8, depth float8);
CREATE TYPE claim AS (age float8, type text, years float8);
SELECT ok(abs(two.mean / one.mean - 2) < 1e-12, 'twice the exposure, twice the mean')
FROM rates, glm_predict(m, ROW(3, 'type 1', 1)::claim) AS one,
  glm_predict(m, ROW(3, 'type 1', 2)::claim) AS two;
SELECT ok(bool_and(p.lower = floor(p.lower) AND p.lower <= p.mean AND p.mean <= p.upper
  AND p.mean_lower < p.mean AND p.mean < p.mean_upper AND p.sd > p.mean_sd), 'intervals')
FROM rates, claims, glm_predict(m, ROW(age, type, years)::claim) AS p;
SELECT ok(avg((y BETWEEN p.lower AND p.upper)::int) > 0.9, 'which hold')
FROM rates, claims, glm_predict(m, ROW(age, type, years)::claim) AS p;
SELECT is((b.value, b.sd, b.lower, b.upper), (p.mean, p.sd, p.lower, p.upper), 'bayes_predict')
FROM rates, glm_predict(m, ROW(3, 'type 1', 2)::claim) AS p,
  bayes_predict(m, ROW(3, 'type 1', 2)::claim) AS b;
SELECT ok(abs(sum(exp(bayes_log_density(m, y, ROW(3, 'type 1', 2)::claim))) - 1) < 1e-7,
  'predictive probabilities add up to 1') FROM rates, generate_series(0, 400) AS y;
SELECT ok(abs((s).log_density - mean) < 1e-12, 'scores are mean log densities')
FROM (SELECT bayes_score(m, y, ROW(age, type, years)::claim) AS s,
  avg(bayes_log_density(m, y, ROW(age, type, years)::claim)) AS mean FROM rates, claims) AS f;
SELECT is(glm_predict(m, ROW(3, NULL, 2)::claim), NULL, 'a NULL gives NULL') FROM rates;
SELECT is(glm_predict(m, ROW(3, 'type 9', 2)::claim), NULL, 'an unknown label, too') FROM rates;
SELECT ok((m::text::bayes_model) = m AND (m::jsonb::bayes_model) = m, 'text and jsonb') FROM rates;
SELECT is(bayes_probabilities(m, b), bayes_probabilities(l, b), 'probabilities of a yes or no')
FROM (SELECT glm_fit(low, b, '{"response": "bernoulli"}') AS m, logreg_fit(low, b) AS l
  FROM births) AS f, births LIMIT 1;
SELECT throws_ok($$SELECT bayes_probabilities(m, ROW(3, 'type 1', 2)::claim) FROM rates$$, '42804',
  NULL, 'counts have no list of probabilities');
SELECT throws_ok($$SELECT bayes_log_density(m, -1, ROW(3, 'type 1', 2)::claim) FROM rates$$,
  '22023', 'the response is -1', 'no response');
SELECT throws_ok($$SELECT glm_predict(m, ROW(3, 'type 1', 0)::claim) FROM rates$$, '22023',
  'the exposure of a row is 0', 'no exposure');

-- ---- numbers on the whole line ----

-- One row in ten is spoilt; the rest lies on a line.
CREATE TABLE spoilt AS
SELECT i / 10.0 AS x,
  3 + 2 * i / 10.0 + sin(i * 12.9898) + CASE WHEN i % 10 = 0 THEN 200 ELSE 0 END AS y
FROM generate_series(1, 200) AS i;
SELECT ok(abs(c.mean - 2) < 0.05, 'student_t does not see outliers')
FROM (SELECT glm_fit(y, x, '{"response": "student_t"}') AS m FROM spoilt) AS f,
  bayes_coefficients(m) AS c WHERE term = 'x1';
SELECT ok(t.objective - n.objective > 100 AND t.objective - u.objective > 10,
  'evidence of long tails, and of their degrees of freedom')
FROM (SELECT glm_fit(y, x, '{"response": "student_t", "df": 1}') AS t,
    glm_fit(y, x, '{"response": "normal"}') AS n,
    glm_fit(y, x, '{"response": "student_t", "df": 10}') AS u FROM spoilt) AS f,
  bayes_info(f.t) AS t, bayes_info(f.n) AS n, bayes_info(f.u) AS u;
-- Neither the unit nor the origin of the responses matters.
SELECT ok(max(abs(b.mean / 1e20 / a.mean - 1)) < 1e-9 AND max(abs(b.sd / 1e20 / a.sd - 1)) < 1e-7,
  response || ': the unit of the response')
FROM (SELECT response, glm_fit(y, x, o) AS one, glm_fit(y * 1e20, x, o) AS large
  FROM spoilt, unnest('{normal,student_t}'::text[]) AS response,
    LATERAL (SELECT jsonb_build_object('response', response) AS o) AS options
  GROUP BY response) AS f, bayes_coefficients(one) AS a
  JOIN LATERAL bayes_coefficients(large) AS b ON a.term = b.term
GROUP BY response ORDER BY response;
-- However far off a row is, and whatever lies in another cluster. References by optim in R.
SELECT ok(abs(c.mean - 0.4978) < 1e-3, 'an outlier of ' || far)
FROM (SELECT far, glm_fit(CASE WHEN i = 7 THEN far ELSE y END, x, '{"response": "student_t"}') AS m
  FROM (SELECT i, (i * 37 % 100) / 10.0 AS x, 2 + 0.5 * (i * 37 % 100) / 10.0
      + normal_quantile((0.5 + i * 7919 % 300) / 300, 0, 1) AS y FROM generate_series(1, 300) AS i)
    AS d, unnest('{1e5,1e11,1e15}'::float8[]) AS far GROUP BY far) AS f, bayes_coefficients(m) AS c
WHERE term = 'x1' ORDER BY far;
SELECT ok(abs(mean + 0.026) < 0.003, 'the greatest of several modes')
FROM (SELECT glm_fit(y, x, '{"response": "student_t", "df": 1}') AS m
  FROM (VALUES (7.085, 1.56), (7.095, .21), (7.118, .54), (7.122, -.66), (7.147, -.02),
    (7.151, .47), (7.159, .5), (7.159, .89), (7.16, 1.66), (7.164, .24), (7.167, .02),
    (7.169, -1.36),
    (7.192, .93), (7.202, -.46), (7.226, 1.35), (7.227, .24), (7.228, -1.44), (7.232, .95),
    (7.236, .12), (7.241, -1.66), (7.277, -1.7), (7.284, .87), (7.33, -1.56), (15.577, -1.06),
    (15.648, .91), (15.653, -.43), (15.665, .12), (15.771, -2.07), (15.818, -.82), (15.84, -.96),
    (15.873, .8), (15.878, .74), (15.98, -1.58), (15.983, -1.44), (16.008, -1.62), (16.008, .75),
    (16.035, -.95), (16.073, -.28), (16.174, -.81)) AS v(y, x)) AS f, bayes_coefficients(m)
WHERE term = 'x1';
SELECT ok(abs(b.mean - a.mean - CASE a.term WHEN 'x1' THEN 0 ELSE 1e12 END) < 1e-3 AND i.converged,
  'responses with a large mean: ' || a.term)
FROM (SELECT glm_fit(y, x, o) AS one, glm_fit(y + 1e12, x, o) AS far
    FROM spoilt, CAST('{"response": "student_t"}' AS jsonb) AS o) AS f,
  bayes_coefficients(one) AS a, bayes_coefficients(far) AS b, bayes_info(far) AS i
WHERE a.term = b.term ORDER BY a.term;
SELECT throws_ok(format('SELECT glm_fit(2 * x + 1, x, %L) FROM spoilt', o), '22003',
  'the responses do not vary about their means', o || ': no dispersion')
FROM unnest('{"{\"response\": \"normal\"}","{\"response\": \"student_t\"}"}'::text[]) AS o;
-- As many rows as coefficients. The marginal mode of the dispersion is 2.16 (in R, by a grid).
SELECT ok(i.converged AND abs(sqrt(p.lower * p.upper) / 2.16 - 1) < 0.02, 'three rows')
FROM (SELECT glm_model('SELECT y, a, b FROM (VALUES (1, 1, 2), (4, 2, 3), (2, 3, 7)) AS v(y, a, b)',
    '{"response": "normal"}') AS m) AS f, bayes_info(m) AS i, bayes_parameters(m) AS p
WHERE parameter = 'dispersion';
SELECT ok(abs(sqrt(p.lower * p.upper) - 2.8) < 1.5, 'several outliers, df ' || df)
FROM (SELECT df, glm_fit(i + i * 7 % 5 + CASE WHEN i % 20 = 0 THEN 1e15 ELSE 0 END, i,
    jsonb_build_object('response', 'student_t', 'df', df)) AS m
  FROM generate_series(1, 100) AS i, unnest('{1,4}'::int[]) AS df GROUP BY df) AS f,
  bayes_parameters(m) AS p WHERE parameter = 'dispersion';
-- The last gains of such a fit are rounding, which ends it.
SELECT ok(i.converged AND i.iterations < 300, 'passes with an outlier, df ' || df)
FROM (SELECT df, glm_fit(i + i * 7 % 5 + CASE WHEN i = 20 THEN 1e15 ELSE 0 END, i,
    jsonb_build_object('response', 'student_t', 'df', df)) AS m
  FROM generate_series(1, 100) AS i, unnest('{1,3}'::int[]) AS df GROUP BY df) AS f,
  bayes_info(m) AS i;
SELECT throws_ok($$SELECT glm_fit(1e9 + 2.3 * i + 0.1, i * 0.7, '{"response": "normal"}')
  FROM generate_series(1, 20) AS i$$, '22003', 'the responses do not vary about their means',
  'rounding is no dispersion');
-- An offset moves the intercept alone; linreg nearly has the same intervals of responses.
SELECT ok(abs(a.mean - b.mean - 7) < 1e-6, 'an offset')
FROM (SELECT glm_fit(y, ARRAY[x], '{"response": "normal"}') AS one,
    glm_fit(y, ARRAY[x, 7], '{"response": "normal", "offset": "x2"}') AS moved FROM spoilt) AS f,
  bayes_coefficients(one) AS a, bayes_coefficients(moved) AS b
WHERE a.term = '(intercept)' AND b.term = a.term;
SELECT ok(abs((p).lower - (q).lower) < 0.02 * (q).sd AND abs((p).sd / (q).sd - 1) < 0.01,
  'predictions like those of linreg')
FROM (SELECT glm_predict(glm_fit(y, x, '{"response": "normal"}'), ARRAY[8.0]) AS p,
  linreg_predict(linreg_fit(y, x), ARRAY[8.0]) AS q FROM spoilt) AS f;
SELECT ok((p).sd IS NULL AND (p).lower < (p).mean AND (p).upper > (p).mean,
  'two degrees of freedom have no variance')
FROM (SELECT glm_predict(glm_fit(y, x, '{"response": "student_t", "df": 2}'), ARRAY[8.0]) AS p
  FROM spoilt) AS f;

-- ---- corners ----

SELECT ok(mean < -3 AND sd > 0.5, 'counts that are all 0 have a mean near 0')
FROM (SELECT glm_fit(0, '{}'::float8[], '{"response": "poisson"}') AS m
  FROM generate_series(1, 50)) AS f, bayes_coefficients(m);
SELECT ok(abs(mean - ln(3e-9)) < 0.1, 'huge exposures')
FROM (SELECT glm_fit(3, ARRAY[1e9], '{"response": "poisson", "exposure": "x1"}') AS m
  FROM generate_series(1, 100)) AS f, bayes_coefficients(m);
SELECT ok(abs(mean - ln(1e12)) < 1e-3, 'huge counts')
FROM (SELECT glm_fit(1000000000000 + i, '{}'::float8[], '{"response": "negative_binomial"}') AS m
  FROM generate_series(1, 100) AS i) AS f, bayes_coefficients(m);
SELECT ok(value < 0.01, 'counts that vary less than Poisson''s have next to no dispersion')
FROM (SELECT glm_fit(5 + i % 2, '{}'::float8[], '{"response": "negative_binomial"}') AS m
  FROM generate_series(1, 1000) AS i) AS f, bayes_parameters(m) WHERE parameter = 'dispersion';
SELECT throws_ok($$SELECT glm_fit(2.5, '{}'::float8[], '{"response": "gamma"}')
  FROM generate_series(1, 20)$$, '22003', 'the responses do not vary about their means',
  'amounts of one size');
SELECT throws_ok($$SELECT glm_fit(5 + i % 2, '{}'::float8[],
  '{"response": "negative_binomial", "prior": {"c_dispersion": 1e12}}')
  FROM generate_series(1, 1000) AS i$$, '22003',
  'the responses vary no more than a Poisson distribution lets them',
  'maximum likelihood of counts that vary less');
SELECT ok(abs(a - b) < 1e-6, 'the unit of weights does not matter where nothing was counted')
FROM (SELECT avg(mean) FILTER (WHERE w = 1) AS a, avg(mean) FILTER (WHERE w < 1) AS b
  FROM (SELECT w, glm_fit(0, '{}'::float8[],
      jsonb_build_object('response', 'poisson', 'prior', jsonb_build_object('c_intercept', 1e-9)),
      w) AS m FROM generate_series(1, 50), unnest('{1,1e-6}'::float8[]) AS w GROUP BY w) AS f,
    bayes_coefficients(m)) AS both_weights;
SELECT is((p).lower || ' to ' || (p).upper, '1824 to 4467',
  'the interval of a count far larger than those of the fit')
FROM (SELECT glm_predict(glm_fit(stations, ROW(mag, depth / 100.0)::place,
    '{"response": "poisson"}'), ROW(9, 2)::place) AS p FROM quakes WHERE id <= 40) AS f;

-- ---- errors ----

CREATE FUNCTION refused(fit text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SELECT ' || fit || ' FROM claims';
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT is(refused($$glm_fit(y, age, '{}')$$), '22023 glm_fit needs option "response"', 'none');
SELECT is(refused('glm_fit(y, age)'), '22023 glm_fit needs option "response"', 'no options');
SELECT alike(refused($$glm_fit(y - 1, age, '{"response": "poisson"}')$$),
  '22023 the response of row % is -1', 'a negative count');
SELECT alike(refused($$glm_fit(y, age, '{"response": "gamma"}')$$),
  '22023 the response of row % is 0', 'no amount');
SELECT is(refused($$glm_fit(y, age, '{"response": "poisson", "exposure": "km"}')$$),
  '22023 option "exposure" names column "km", which the rows do not have', 'an unknown column');
SELECT is(refused(
    $$glm_fit(y, ARRAY[age, years - 1], '{"response": "poisson", "exposure": "x2"}')$$),
  '22023 option exposure names a column that contains 0', 'an exposure of 0');
SELECT is(refused($$glm_fit(y, age, '{"response": "binomial", "trials": 2}')$$),
  '22023 option trials gives a row 2 trials, of which 4 are successes', 'too few trials');
SELECT is(refused($$glm_fit(y, age, '{"response": "poisson", "method": "gibbs"}')$$),
  '22023 option "method" is "gibbs", but must be one of laplace, slice', 'no other method');
SELECT is(refused($$glm_fit(y, age, '{"response": "poisson", "prior": {"c_dispersion": 4}}')$$),
  '22023 option "prior.c_dispersion" does not apply to response poisson', 'no dispersion');
SELECT is(refused($$glm_fit(y, age, '{"response": "poisson", "trials": 4}')$$),
  '22023 option "trials" does not apply to response poisson and method laplace', 'no trials');
SELECT is(refused($$glm_fit(1e300, age, '{"response": "exponential"}')$$),
  '22003 the response of row 1 is 1e+300, too large to compute with', 'too large');
SELECT is(refused($$glm_fit(1e120 + age, age, '{"response": "normal"}')$$),
  '22003 responses or offsets are too large to compute with', 'too large for squares');
SELECT is(refused($$glm_fit(5, age, '{"response": "student_t"}')$$),
  '22003 the responses do not vary about their means', 'a constant response');
SELECT is(refused($$glm_fit(y, age, '{"response": "student_t", "df": 0.5}')$$),
  '22023 option "df" is 0.5, but must be a number from 1 to 1e6, or "learned"',
  'too few degrees of freedom');
SELECT is(refused($$glm_fit(y, age, '{"response": "normal", "link": "logit"}')$$),
  '22023 option "link" does not apply to response normal and method laplace', 'no link');
SELECT * FROM finish();
