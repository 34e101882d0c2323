-- Option terms of generalized linear models: products of columns, against R 4.2's glm and columns
-- made by hand, new rows, contrasts, and what is refused.
SELECT plan(37);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TYPE mother AS (age float8, visits text, race text, smoke boolean);
CREATE VIEW births AS
SELECT id, low, ftv, ROW(age, CASE WHEN ftv < 2 THEN ftv::text ELSE '2+' END, race::text,
  smoke = 1)::mother AS b FROM birthwt;
CREATE FUNCTION flat(terms jsonb, more jsonb DEFAULT '{}') RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_build_object('tol', 1e-14, 'terms', terms,
    'prior', '{"c": 1e12, "c_intercept": 1e12}'::jsonb) || more $$;
CREATE FUNCTION means(model bayes_model) RETURNS float8[]
RETURN (SELECT array_agg(mean) FROM bayes_coefficients(model));
CREATE FUNCTION sds(model bayes_model) RETURNS float8[]
RETURN (SELECT array_agg(sd) FROM bayes_coefficients(model));
CREATE FUNCTION names(model bayes_model) RETURNS text[]
RETURN (SELECT array_agg(term) FROM bayes_coefficients(model));

-- ---- R ----

CREATE TABLE fits AS
SELECT logreg_fit(low, b, flat('["age", "smoke", "age:smoke"]')) AS smoke,
  logreg_fit(low, b, flat('["age*visits"]')) AS visits,
  glm_fit(ftv, b, flat('["age", "race", "smoke", "age:age", "race:smoke"]',
    '{"response": "poisson"}')) AS counts FROM births;
SELECT is(names(smoke), '{(intercept),age,smoke,age:smoke}', 'names of terms') FROM fits;
SELECT ok(near(means(smoke), '{0.804992879607, -0.082879832690, -0.963422499853, 0.073083082140}',
  1e-8), 'glm(low ~ age * smoke)') FROM fits;
SELECT ok(near(sds(smoke), '{1.025234968388, 0.044992509554, 1.511470836984, 0.065343913990}',
  1e-8), 'its standard errors') FROM fits;
SELECT is(names(visits), '{(intercept),age,visits=1,visits=2+,age:visits=1,age:visits=2+}',
  'a column of labels has a product for each') FROM fits;
SELECT ok(near(means(visits), '{-1.528630489553, 0.043197522161, 1.610960060312, 6.397016853311,
  -0.095503771384, -0.292111567835}', 1e-8), 'glm(low ~ age * visits)') FROM fits;
SELECT ok(near(sds(visits), '{1.033263481401, 0.045626922041, 1.890755879319, 2.297841519661,
  0.079403523656, 0.102154800752}', 1e-8), 'its standard errors') FROM fits;
SELECT ok(near(means(counts), '{-2.142875019354, 0.118508384396, 0.168786520156, -0.295399919170,
  -0.131167831684, -0.001338190893, -0.324423277154, 0.285303877987}', 1e-8),
  'glm(ftv ~ age + race * smoke + I(age^2), poisson)') FROM fits;
SELECT ok(near(sds(counts), '{1.263947748046, 0.095945853203, 0.323678724548, 0.234928463915,
  0.224168803173, 0.001795337754, 0.527497770182, 0.436576167909}', 1e-7), 'its standard errors')
FROM fits;
SELECT ok(near(means(m), '{-0.943106940964, 0.026523407619, 1.011044973675, 3.752189242899,
  -0.059223102653, -0.170227097436}', 1e-7), 'with a probit')
FROM (SELECT glm_fit(low, b, flat('["age*visits"]', '{"response": "bernoulli", "link": "probit"}'))
  AS m FROM births) AS f;
SELECT ok(near(log_likelihood, -109.8893, 1e-6), 'log-likelihood') FROM fits, bayes_info(visits);

-- ---- the same by hand, in other forms ----

CREATE TYPE by_hand AS (age float8, old float8, smoker float8, old_smoker float8);
CREATE TABLE forms AS
SELECT glm_fit(ftv, b, '{"response": "negative_binomial",
    "terms": ["age", "age:age", "smoke", "smoke:age"]}') AS r,
  glm_fit(ftv, ARRAY[age, smoke], '{"response": "negative_binomial",
    "terms": ["x1", "x1:x1", "x2", "x2:x1"]}') AS x,
  glm_fit(ftv, ROW(age, age * age, smoke, smoke * age)::by_hand,
    '{"response": "negative_binomial"}') AS hand
FROM births JOIN birthwt USING (id, low, ftv);
-- Rows are added up in another order, as they are other ones.
SELECT ok(near(means(r) || sds(r), means(hand) || sds(hand)), 'a record') FROM forms;
SELECT ok(near(means(x) || sds(x), means(hand) || sds(hand)), 'an array') FROM forms;
SELECT is(names(x), '{(intercept),x1,x1:x1,x2,x2:x1}', 'whose columns have names') FROM forms;
SELECT ok(near(means(glm_model('SELECT ftv, age, smoke FROM birthwt', '{"response":
  "negative_binomial", "terms": ["age", "age:age", "smoke", "smoke:age"]}')), means(hand)),
  'a query') FROM forms;
SELECT is((SELECT array_agg(term) FROM glm_fit('SELECT ftv, age FROM birthwt',
  '{"response": "poisson", "terms": ["age:age"]}')), '{(intercept),age:age}', 'which shows terms');
SELECT ok(near(means(glm_fit(ftv, age, '{"response": "poisson", "terms": ["x1", "x1:x1"]}')),
  means(glm_fit(ftv, ARRAY[age, age * age], '{"response": "poisson"}'))), 'one number')
FROM birthwt;
SELECT ok(near(means(a), means(b)), 'em of the probit')
FROM (SELECT probit_fit(low, ARRAY[age, smoke], '{"method": "em", "terms": ["x1*x2"]}') AS a,
  probit_fit(low, ARRAY[age, smoke, age * smoke], '{"method": "em"}') AS b FROM birthwt) AS f;
SELECT is(count(*), 2::bigint, 'groups have the labels that they have')
FROM (SELECT glm_fit(ftv, b, '{"response": "poisson", "terms": ["race*smoke"]}') AS m
  FROM births WHERE (b).race < '3' OR low = 1 GROUP BY low) AS f
WHERE names(m) IN ('{(intercept),race=2,smoke,race=2:smoke}',
  '{(intercept),race=2,race=3,smoke,race=2:smoke,race=3:smoke}');

-- ---- new rows, contrasts, stored models ----

CREATE TYPE mother_by_hand AS (age float8, smoke float8, age_smoke float8);
SELECT ok(bool_and(near(p.mean, q.mean) AND near(p.lower, q.lower)),
  'a new row needs no products')
FROM (SELECT logreg_fit(low, b, '{"terms": ["age*smoke"]}') AS m FROM births) AS f,
  (SELECT logreg_fit(low, ROW(age, smoke, age * smoke)::mother_by_hand) AS hand FROM birthwt) AS g,
  generate_series(20, 30) AS age, generate_series(0, 1) AS smoke,
  logreg_predict(m, ROW(age, '0', '1', smoke = 1)::mother) AS p,
  logreg_predict(hand, ROW(age, smoke, age * smoke)::mother_by_hand) AS q;
SELECT ok(near(bayes_log_density(r, 1, ROW(31, '0', '1', true)::mother),
  bayes_log_density(hand, 1, ROW(31, 31 * 31, 1, 31)::by_hand)), 'densities') FROM forms;
SELECT ok(near(array_agg(c.mean ORDER BY v.visits), ARRAY[slope, slope - 0.095503771384,
  slope - 0.292111567835], 1e-8), 'slopes of all labels, the reference among them')
FROM fits, (VALUES ('0'), ('1'), ('2+')) AS v(visits), (VALUES (0.043197522161)) AS s(slope),
  bayes_contrast(fits.visits, jsonb_build_object('age', 1, 'age:visits=' || v.visits, 1)) AS c
GROUP BY slope;
SELECT ok((counts::text::bayes_model) = counts AND (counts::jsonb::bayes_model) = counts,
  'text and jsonb') FROM fits;
SELECT is(options -> 'terms', '["age*visits"]', 'options') FROM fits, bayes_info(visits);
SELECT is(glm_predict(counts, b), NULL, 'an unknown label, also of a column that is no term')
FROM fits, (VALUES (ROW(20, '0', '4', true)::mother), (ROW(20, '7', '1', true)::mother)) AS v(b);
SELECT is((rows, skipped)::text, '(188,1)', 'nor may columns that are no terms be NULL')
FROM (SELECT logreg_fit(low, ARRAY[age, nullif(id, 85)], '{"terms": ["x1"]}') AS m
  FROM birthwt) AS f, bayes_info(m);

-- ---- columns apart, and of many labels ----

CREATE TABLE claims AS SELECT i, (i * 7919 % 13) % 5 AS y, (i % 7)::float8 AS age,
  1 + (i % 4)::float8 AS years, 'type ' || i % 3 AS type, 'policy ' || i AS policy
FROM generate_series(1, 6000) AS i;
SELECT ok(near(means(glm_model('SELECT y, age, years, policy FROM claims', '{"response":
    "poisson", "exposure": "years", "terms": ["age", "age:years"]}')),
  means(glm_model('SELECT y, age, age * years AS more, years FROM claims', '{"response": "poisson",
    "exposure": "years"}'))), 'an exposure in a product; a column of many labels that is no term');
CREATE FUNCTION refused(options text, x text DEFAULT 'c') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('SELECT glm_fit(y, %s, ''{"response": "poisson", %s}'')
    FROM (SELECT y, age, years, type, policy FROM claims) AS c', x, options);
  RETURN 'accepted';
EXCEPTION WHEN OTHERS THEN
  DECLARE
    detail text;
    hint text;
  BEGIN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN concat_ws('|', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
  END;
END $$;
SELECT is(refused('"terms": ["age", "type:policy"]'),
  '54000|a regression can have at most 5000 terms|Term "type:policy" alone has 18000 combinations '
  'of labels.|Leave out columns that identify single rows, such as an id; combine rare '
  'labels into one.', 'too many combinations');
SELECT is(refused('"terms": ["age", "agee:type"]'),
  '22023|entry "agee:type" of option "terms" names column "agee", which the rows do not have|'
  'They have "y", "age", "years", "type", "policy".|Perhaps you meant "age".', 'unknown');
SELECT is(refused('"terms": ["age", "type:age", "age : type"]'),
  '22023|entry "age : type" of option "terms" repeats the term "age:type"|Products of the same '
  'columns are the same term, whatever their order.', 'twice');
SELECT is(refused('"terms": ["type:type"]'),
  '22023|entry "type:type" of option "terms" has column "type" twice|Only a column of numbers has '
  'powers: a number that is 0 or 1 is its own square.', 'a square of labels');
SELECT is(refused('"terms": []'),
  '22023|option "terms" is an empty array, but must be a list of at least one text|'
  'A text names a column, or several joined by '':'', whose product is a term.|'
  'For instance {"terms": ["age", "smoker", "age:smoker"]}.', 'empty');
SELECT alike(refused('"terms": "age"'), '22023|option "terms" is "age", but must be a list of%',
  'one text');
SELECT alike(refused('"terms": ["age", 3]'), '22023|an entry of option "terms" is 3, but must be%',
  'a number');
SELECT alike(refused('"terms": ["x3"]', 'ARRAY[age, years]'),
  '22023|entry "x3" of option "terms" names column "x3", which the rows do not have|'
  'They have "x1", "x2".%', 'no such element');
SELECT alike(refused('"terms": ["x1:x1"]', 'ARRAY[1e100 * age]'),
  '22003|the values of term x1:x1 are too large|%', 'too large');
SELECT throws_ok($$SELECT linreg_fit(y, age, '{"terms": ["x1"]}') FROM claims$$, '22023',
  'unknown option "terms"', 'linreg has no such option');
SELECT * FROM finish();
