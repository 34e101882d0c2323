-- Responses that are labels: coefficients against those of R, where labels come from, predictions,
-- scores, corners and errors.
SELECT plan(69);
\ir ../lib/checks.sql
SET client_min_messages = error;

-- ---- satisfaction with housing in Copenhagen (Madsen 1976; MASS::housing of R 4.2) ----

CREATE TYPE home AS (infl text, type text, cont text);
CREATE VIEW homes AS
SELECT satisfaction AS sat, ROW(influence, type, contact)::home AS h, households AS freq
FROM housing;
CREATE FUNCTION flat(response text, more jsonb DEFAULT '{}') RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('response', response, 'tol', 1e-14,
    'reference', '{"infl": "Low", "type": "Tower", "cont": "Low"}'::jsonb,
    'prior', '{"c": 1e12, "c_intercept": 1e12}'::jsonb
    || CASE WHEN response = 'ordinal' THEN '{"c_gap": 1e12}' ELSE '{}' END::jsonb) || more $$;
CREATE TABLE fits AS
SELECT name, glm_fit(sat, h, options, freq) AS m
FROM homes, (VALUES ('logit', flat('ordinal')), ('probit', flat('ordinal', '{"link": "probit"}')),
  ('classes', flat('categorical', '{"levels": ["Low", "Medium", "High"]}'))) AS v(name, options)
GROUP BY name;
-- The largest difference from given numbers, whatever their order.
CREATE FUNCTION missed(own float8[], known float8[]) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN cardinality(own) = cardinality(known) THEN max(abs(a - b)) END
  FROM (SELECT a, row_number() OVER (ORDER BY a) AS n FROM unnest(own) AS u(a)) AS o
  JOIN (SELECT b, row_number() OVER (ORDER BY b) AS n FROM unnest(known) AS v(b)) AS k USING (n) $$;

-- MASS::polr and ordinal::clm, whose coefficients are those of higher levels too.
SELECT ok(missed(array_agg(mean), '{0.566393738331, 1.288819108963, -0.572350002327,
    -0.366186370940, -1.091014659126, 0.360284005296, -0.496135137181, 0.690708259057}') < 2e-8
  AND missed(array_agg(sd), '{0.1046527843814, 0.1271561476633, 0.1192380118953, 0.1551733363874,
    0.1514860225150, 0.0955357977365, 0.1248472450172, 0.1254719394511}') < 1e-7, 'ordered, logit')
FROM fits, glm_coefficients(m) WHERE name = 'logit';
SELECT is(array_agg(term ORDER BY n), '{Low|Medium,Medium|High,infl=High,infl=Medium,
    type=Apartment,type=Atrium,type=Terrace,cont=High}', 'cuts come first')
FROM fits, glm_coefficients(m) WITH ORDINALITY AS c(term, class, mean, sd, lower, upper, e, f, g, n)
WHERE name = 'logit';
SELECT ok(abs(mean + 0.496135137181) < 1e-7 AND class IS NULL AND abs(effect - exp(mean)) < 1e-12,
  'a cut') FROM fits, glm_coefficients(m) WHERE name = 'logit' AND term = 'Low|Medium';
SELECT ok(missed(array_agg(mean), '{0.346422760282, 0.782914645476, -0.347536744360,
    -0.217887532751, -0.664173494505, 0.222385829993, -0.299827920641, 0.426720834746}') < 2e-8
  AND missed(array_agg(sd), '{0.0641370597994, 0.0764262033777, 0.0722909298911, 0.0947660680032,
    0.0918000396077, 0.0581226685946, 0.0761537320925, 0.0764043352227}') < 1e-7
  AND count(effect) = 0, 'ordered, probit')
FROM fits, glm_coefficients(m) WHERE name = 'probit';
SELECT ok(missed(array_agg(mean) FILTER (WHERE class = 'Medium'), '{-0.419228712398,
    0.446395901434, 0.664935339469, -0.435688696418, 0.131370284789, -0.666570439551,
    0.360851898365}') < 1e-6
  AND missed(array_agg(sd) FILTER (WHERE class = 'High'), '{0.159229569156, 0.136937976415,
    0.167131710582, 0.155271431150, 0.211496622687, 0.200149439675, 0.124137065946}') < 1e-6
  AND count(*) = 14, 'classes: nnet::multinom')
FROM fits, glm_coefficients(m) WHERE name = 'classes';
SELECT ok(abs(log_likelihood - CASE name WHEN 'logit' THEN -1739.57464953
    WHEN 'probit' THEN -1739.84442128 ELSE -1735.04193317 END) < 1e-7, name || ': log-likelihood')
FROM fits, bayes_info(m) ORDER BY name;
SELECT ok(missed(array_agg(probability), CASE name
    WHEN 'logit' THEN '{0.378449354847, 0.287675109134, 0.333875536019}'::float8[]
    ELSE '{0.395568727517, 0.260107714942, 0.344323557542}' END) < 3e-3
  AND abs(sum(probability) - 1) < 1e-12 AND bool_and(lower < probability AND probability < upper)
  AND array_agg(level) = '{Low,Medium,High}', name || ': probabilities near those of the mode')
FROM fits, glm_probabilities(m, ROW('Low', 'Tower', 'Low')::home) WHERE name <> 'probit'
GROUP BY name ORDER BY name;

-- ---- questions about the model ----

CREATE TABLE ordered AS
SELECT glm_fit(sat, h, '{"response": "ordinal"}', freq) AS m FROM homes;
CREATE TABLE classes AS
SELECT glm_fit(sat, h, '{"response": "categorical"}', freq) AS m FROM homes;
SELECT is(p, (SELECT array_agg(probability) FROM glm_probabilities(m, h)), 'bayes_probabilities')
FROM ordered, (SELECT h FROM homes LIMIT 1) AS r, bayes_probabilities(m, h) AS p;
SELECT is((component, label, value), (CASE label WHEN 'Low' THEN 1 ELSE 3 END, label, NULL::float8),
  'bayes_predict') FROM ordered, (SELECT h FROM homes LIMIT 1) AS r, bayes_predict(m, h);
SELECT is(count(*), 0::bigint, 'bayes_log_density of all levels')
FROM ordered, (SELECT DISTINCT h FROM homes) AS r, glm_probabilities(m, h)
WHERE abs(exp(bayes_log_density(m, level, h)) - probability) > 1e-12;
SELECT is(bayes_log_density(m, 'Excellent'::text, h), '-Infinity', 'of a level that is none')
FROM ordered, (SELECT h FROM homes LIMIT 1) AS r;
SELECT ok(abs((s).log_density - mean) < 1e-12, 'bayes_score')
FROM (SELECT bayes_score(m, sat, h) AS s, avg(bayes_log_density(m, sat, h)) AS mean
  FROM ordered, homes) AS f;
SELECT is(array_agg(statistic ORDER BY n), '{rows,left_out,log_density,error,brier}',
  'glm_fit_statistics')
FROM ordered, glm_fit_statistics('SELECT sat, (h).* FROM homes', m)
  WITH ORDINALITY AS s(statistic, value, lower, upper, expected, p, meaning, n);
SELECT ok(abs(c.mean - a.mean + b.mean) < 1e-12 AND c.sd > 0, 'a contrast of ordered levels')
FROM ordered, bayes_contrast(m, '{"type=Terrace": 1, "type=Atrium": -1}') AS c,
  glm_coefficients(m) AS a, glm_coefficients(m) AS b
WHERE a.term = 'type=Terrace' AND b.term = 'type=Atrium';
SELECT ok(abs(c.mean - a.mean + b.mean) < 1e-12, 'of two classes')
FROM classes, bayes_contrast(m, '{"Medium: infl=Medium": -1, "Low: infl=Medium": 1}') AS c,
  glm_coefficients(m) AS a, glm_coefficients(m) AS b
WHERE a.term = 'infl=Medium' AND a.class = 'Low' AND b.term = 'infl=Medium' AND b.class = 'Medium';
SELECT is(count(*), 14::bigint, 'parameters have the names of coefficients')
FROM classes, bayes_parameters(m) AS p, bayes_coefficients(m) AS c WHERE p.label = c.term;
SELECT is(m::text::bayes_model::text, m::text, 'a model is read as it was written') FROM classes;
SELECT ok(abs((SELECT objective FROM bayes_info(other)) - (SELECT objective FROM bayes_info(m)))
  < 1e-9, 'nor on the order of the rows')
FROM classes, (SELECT glm_fit(sat, h, '{"response": "categorical"}', freq ORDER BY freq, h) AS other
  FROM homes) AS f;

-- ---- where labels and their order come from ----

CREATE FUNCTION levels_of(model bayes_model) RETURNS jsonb LANGUAGE sql AS $$
  SELECT options -> 'levels' FROM bayes_info(model) $$;
SELECT is(levels_of(glm_fit(i % 11, ARRAY[i], '{"response": "ordinal"}')),
  '["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]', 'numbers are in their order')
FROM generate_series(1, 50) AS i;
SELECT is(levels_of(glm_fit(9999999999999998 + i % 3, ARRAY[i], '{"response": "ordinal"}')),
  '["9999999999999998", "9999999999999999", "10000000000000000"]', 'to the last digit')
FROM generate_series(1, 50) AS i;
SELECT is(levels_of(glm_fit((i % 3 - 1) * 0.5, ARRAY[i], '{"response": "categorical"}')),
  '["-0.5", "0", "0.5"]', 'also of classes') FROM generate_series(1, 50) AS i;
SELECT is(levels_of(glm_fit(chr(100 - i % 3), ARRAY[i], '{"response": "categorical"}')),
  '["b", "c", "d"]', 'texts are in the order of bytes') FROM generate_series(1, 50) AS i;
SELECT is(levels_of(glm_fit(i % 3, ARRAY[i], '{"response": "ordinal", "levels": [2, 0, 1]}')),
  '["2", "0", "1"]', 'option levels') FROM generate_series(1, 50) AS i;
SELECT is(levels_of(m), '["Low", "Medium", "High"]', 'those of an enum') FROM ordered;
CREATE DOMAIN happy AS satisfaction;
SELECT is(levels_of(glm_fit(sat::happy, h, '{"response": "ordinal"}')),
  '["Low", "Medium", "High"]', 'and of a domain over it') FROM homes WHERE sat <> 'Medium';
SELECT is(count(*), 2::bigint, 'groups have labels of their own')
FROM (SELECT i % 2 AS g, glm_fit(chr(97 + i % 4), ARRAY[i], '{"response": "categorical"}') AS m
  FROM generate_series(1, 80) AS i GROUP BY g) AS f
WHERE levels_of(m) = CASE g WHEN 0 THEN '["a", "c"]'::jsonb ELSE '["b", "d"]' END;

-- ---- corners ----

SELECT ok(p[2] BETWEEN 1e-6 AND 0.02 AND abs(p[1] - 0.5) < 0.05, 'a level without rows')
FROM (SELECT glm_fit(CASE i % 2 WHEN 0 THEN 'a' ELSE 'c' END, ARRAY[i % 7],
    '{"response": "ordinal", "levels": ["a", "b", "c"]}') AS m FROM generate_series(1, 400) AS i)
  AS f, bayes_probabilities(m, ARRAY[3]) AS p;
SELECT ok(p[4] < 0.01, 'a class without rows')
FROM (SELECT glm_fit(chr(97 + i % 3), ARRAY[i % 7],
    '{"response": "categorical", "levels": ["a", "b", "c", "z"]}') AS m
  FROM generate_series(1, 600) AS i) AS f, bayes_probabilities(m, ARRAY[3]) AS p;
SELECT ok(a[3] > 20 * b[3] AND b[3] BETWEEN 2e-5 AND 2e-4, 'which laplace exaggerates')
FROM (SELECT method, glm_fit(chr(97 + i % 2), '{}'::float8[], jsonb_build_object('response',
    'categorical', 'levels', '{a,b,c}'::text[], 'method', method)) AS m
  FROM generate_series(1, 1000) AS i, unnest('{laplace,slice}'::text[]) AS method GROUP BY method)
  AS f, LATERAL (SELECT m AS laplace WHERE method = 'laplace') AS l,
  (SELECT glm_fit(chr(97 + i % 2), '{}'::float8[], '{"response": "categorical",
    "levels": ["a", "b", "c"], "method": "slice"}') AS slice
    FROM generate_series(1, 1000) AS i) AS s,
  bayes_probabilities(laplace, '{}'::float8[]) AS a,
  bayes_probabilities(slice, '{}'::float8[]) AS b;
CREATE TABLE stars AS SELECT y, ((row_number() OVER (ORDER BY y) - 1) * 37 % 7)::float8 AS x
FROM (VALUES (0, 2), (1, 5), (2, 20), (3, 60), (4, 200)) AS v(y, n), generate_series(1, n);
-- The exact posterior by importance sampling (150,000 draws): 0.698, sd 0.027.
SELECT ok(abs(probability - 0.698) < 0.006 AND abs(sd - 0.027) < 0.002, response || ' of stars')
FROM unnest('{ordinal,ordinal reversed}'::text[]) AS response,
  LATERAL (SELECT glm_fit(CASE response WHEN 'ordinal' THEN y ELSE 4 - y END, x,
    '{"response": "ordinal"}') AS m FROM stars) AS f, glm_probabilities(m, 3::float8)
WHERE level = CASE response WHEN 'ordinal' THEN '4' ELSE '0' END;
SELECT ok(abs(sum(probability) - 1) < 1e-12, 'rows far off: ' || far || ', ' || link)
FROM unnest('{logit,probit}'::text[]) AS link, unnest('{-1e150,1e9}'::float8[]) AS far,
  LATERAL (SELECT glm_fit(y, x, jsonb_build_object('response', 'ordinal', 'link', link)) AS m
    FROM stars) AS f, glm_probabilities(m, far) GROUP BY far, link;
SELECT ok(converged AND p[1] > 0.9, 'levels that a predictor separates')
FROM (SELECT glm_fit(i / 34, ARRAY[i], '{"response": "ordinal"}') AS m
  FROM generate_series(1, 100) AS i) AS f, bayes_info(m), bayes_probabilities(m, ARRAY[1]) AS p;
SELECT ok(converged AND abs(p[7] - 0.005) < 1e-3, '200 classes')
FROM (SELECT glm_fit(i % 200, '{}'::float8[], '{"response": "categorical"}') AS m
  FROM generate_series(1, 2000) AS i) AS f, bayes_info(m),
  bayes_probabilities(m, '{}'::float8[]) AS p;
SELECT ok(converged AND abs(p[7] - 0.005) < 1e-3, '200 ordered levels')
FROM (SELECT glm_fit(i % 200, '{}'::float8[], '{"response": "ordinal"}') AS m
  FROM generate_series(1, 2000) AS i) AS f, bayes_info(m),
  bayes_probabilities(m, '{}'::float8[]) AS p;
SELECT is(array_agg(level || ': ' || (probability > 0.5)), '{"false: false","true: true"}',
  'glm_probabilities of yes or no')
FROM (SELECT glm_fit(i % 3 > 0, ARRAY[i], '{"response": "bernoulli"}') AS m
  FROM generate_series(1, 90) AS i) AS f, glm_probabilities(m, ARRAY[5]);
SELECT is((SELECT count(*) FROM glm_probabilities(m, ARRAY[NULL::float8])), 0::bigint,
  'a row with a NULL has none')
FROM (SELECT glm_fit(i % 3 > 0, ARRAY[i], '{"response": "bernoulli"}') AS m
  FROM generate_series(1, 90) AS i) AS f;
SELECT ok(abs(a.mean - b.mean) < 1e-9, 'a weight repeats a row')
FROM (SELECT glm_fit(i % 3, ARRAY[i % 5], '{"response": "ordinal"}', 1 + i % 2) AS m
    FROM generate_series(1, 60) AS i) AS f, bayes_coefficients(f.m) AS a,
  (SELECT glm_fit(i % 3, ARRAY[i % 5], '{"response": "ordinal"}') AS m
    FROM generate_series(1, 60) AS i, generate_series(0, i % 2)) AS g, bayes_coefficients(g.m) AS b
WHERE a.term = b.term AND a.term = 'x1';
SELECT ok(abs(a.mean - b.mean) < 0.25 * a.sd AND abs(a.sd / b.sd - 1) < 0.2,
  'also in draws: ' || a.term)
FROM (SELECT glm_fit(i % 3, ARRAY[i % 5], '{"response": "ordinal", "method": "slice"}', 1 + i % 2)
    AS m FROM generate_series(1, 60) AS i) AS f, bayes_coefficients(f.m) AS a,
  (SELECT glm_fit(i % 3, ARRAY[i % 5], '{"response": "ordinal", "method": "slice", "seed": 2}')
    AS m FROM generate_series(1, 60) AS i, generate_series(0, i % 2)) AS g,
  bayes_coefficients(g.m) AS b
WHERE a.term = b.term ORDER BY a.term;
SELECT ok(abs(a.mean - b.mean - 7) < 1e-6, 'an offset moves the cuts')
FROM (SELECT glm_fit(i % 3, ARRAY[i % 5, 7], '{"response": "ordinal", "offset": "x2",
      "prior": {"c_intercept": 1e9}}') AS m FROM generate_series(1, 60) AS i) AS f,
  bayes_coefficients(f.m) AS a,
  (SELECT glm_fit(i % 3, ARRAY[i % 5], '{"response": "ordinal", "prior": {"c_intercept": 1e9}}')
    AS m FROM generate_series(1, 60) AS i) AS g, bayes_coefficients(g.m) AS b
WHERE a.term = b.term AND a.term = '0|1';

-- ---- errors ----

CREATE FUNCTION refused(y text, options text, code text, message text) RETURNS SETOF text
LANGUAGE sql AS $$
  SELECT throws_ok(format('SELECT glm_fit(%s, ARRAY[i %% 5], %L) FROM generate_series(1, 30) AS i',
    y, options), code, message, message) $$;
SELECT refused('i::text', '{"response": "ordinal"}', '22023',
  'the labels of the response have no order');
SELECT refused('''a''::text', '{"response": "categorical"}', '22023',
  'the response has one label in all rows');
SELECT refused('ARRAY[i]', '{"response": "categorical"}', '42804',
  'the response is of type integer[]');
SELECT refused('''NaN''::float8', '{"response": "categorical"}', '22023',
  'column "response" of row 1 is NaN');
SELECT refused('i % 4', '{"response": "ordinal", "levels": [0, 1, 2]}', '22023',
  'the response of row 3 is "3", which is none of its levels');
SELECT refused('i % 4', '{"response": "ordinal", "levels": [0]}', '22023',
  'option "levels" must contain at least two labels');
SELECT refused('i % 4', '{"response": "ordinal", "levels": [0, 1, 0]}', '22023',
  'option "levels" contains "0" twice');
SELECT refused('i % 4', '{"response": "ordinal", "levels": [0, "a"]}', '22023',
  'option "levels" contains 0, but must contain texts alone, or numbers');
SELECT refused('i % 4', '{"response": "poisson", "levels": [0, 1]}', '22023',
  'option "levels" does not apply to response poisson and method laplace');
SELECT refused('i % 4', '{"response": "categorical", "offset": "x1"}', '22023',
  'option "offset" does not apply to response categorical and method laplace');
SELECT refused('i % 4', '{"response": "ordinal", "intercept": false}', '22023',
  'option "intercept" does not apply to response ordinal and method laplace');
SELECT refused('CASE i WHEN 3 THEN ''Infinity'' ELSE i::float8 END', '{"response": "ordinal"}',
  '22023', 'the response of row 3 is infinite');
SELECT throws_ok($$SELECT bayes_log_density(m, ARRAY[1], h) FROM ordered, homes$$, '42804',
  'the response is of type integer[]', 'an array is no label');
SELECT is(value, 1::float8, 'a row with an unknown label is left out')
FROM ordered, glm_fit_statistics($$SELECT 'none', (h).* FROM homes LIMIT 1$$, m)
WHERE statistic = 'left_out';
SELECT throws_ok($$SELECT bayes_contrast(m, '{"b: x: y": 1}') FROM (SELECT
    glm_fit((ARRAY['a', 'b', 'b: x'])[1 + i % 3], r, '{"response": "categorical"}') AS m
  FROM generate_series(1, 30) AS i, LATERAL (SELECT i AS y, i * i AS "x: y") AS r) AS f$$, '22023',
  'two coefficients are called "b: x: y"', 'no coefficient that another may be');
SELECT refused('i % 4', '{"response": "categorical", "levels": 3}', '22023',
  'option "levels" is 3, but must be a list');
SELECT throws_ok($$SELECT glm_fit(i, ARRAY[1], '{"response": "categorical"}')
  FROM generate_series(1, 1001) AS i$$, '54000',
  'the response has 1001 different labels, but the limit is 1000', '1001 labels');
SELECT throws_ok($$SELECT glm_fit(i, array_fill(0, ARRAY[5]), '{"response": "categorical"}')
  FROM generate_series(1, 1000) AS i$$, '54000',
  '6 terms for each of 999 labels are more than 5000 coefficients', '5994 coefficients');
SELECT throws_ok($$SELECT bayes_chart('SELECT sat, (h).* FROM homes', m) FROM ordered$$, '42804',
  'this model of glm has no chart of rows', 'labels have no chart of rows');
SELECT throws_ok($$SELECT glm_predict(m, h) FROM ordered, homes$$, '42804',
  'a response of distribution ordinal has no mean', 'labels have no mean');
SELECT throws_ok($$SELECT glm_probabilities(glm_fit(i, ARRAY[i], '{"response": "poisson"}'),
  ARRAY[1]) FROM generate_series(1, 30) AS i$$, '42804',
  'a response of distribution poisson has no levels', 'numbers have no levels');

SELECT * FROM finish();
