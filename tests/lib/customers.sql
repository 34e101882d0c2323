-- Customers with NULLs, and models of all families and methods that are distributions over such
-- rows. Those that are not in the view `named` are of arrays.
CREATE TYPE plan AS ENUM ('basic', 'plus', 'pro');
CREATE DOMAIN years AS smallint CHECK (value < 1000);
CREATE TABLE customers (id int PRIMARY KEY, age years, plan plan, member boolean,
  spend numeric(8, 2), visits int, note text);
INSERT INTO customers
SELECT i, 20 + 40 * k + i % 9, (enum_range(NULL::plan))[1 + 2 * k + (i % 5 = 0)::int * (1 - 2 * k)],
  i % 7 < 2 + 3 * k, 900 + 500 * k + 60 * sin(i), i % 4 + 3 * k, 'kept'
FROM generate_series(1, 90) AS i, LATERAL (SELECT (i % 3 = 0)::int AS k) AS r;
UPDATE customers SET spend = NULL WHERE id % 10 = 7;
UPDATE customers SET plan = NULL, visits = NULL WHERE id % 10 = 8;
UPDATE customers SET age = NULL, member = NULL WHERE id % 10 = 9;

CREATE TABLE models (name text PRIMARY KEY, family text, model bayes_model);
INSERT INTO models SELECT 'bmm ' || method, 'bmm', bmm_fit(r, 2, jsonb_build_object('method',
    method, 'likelihood', '{"visits": "poisson"}'::jsonb) || CASE method WHEN 'gibbs'
    THEN '{"draws": 40, "warmup": 20}' ELSE '{}' END::jsonb)
  FROM customers, LATERAL (SELECT age, plan, member, spend, visits) AS r,
    unnest('{em,vi,gibbs}'::text[]) AS method GROUP BY method;
INSERT INTO models SELECT 'dpmm', 'dpmm', dpmm_fit(r, '{"draws": 40, "warmup": 20, "likelihood":
    {"visits": "poisson"}}') FROM customers, LATERAL (SELECT age, plan, member, spend, visits) AS r;
INSERT INTO models SELECT 'gmm ' || method, 'gmm', gmm_fit(r, 2, jsonb_build_object('method',
    method) || CASE method WHEN 'gibbs' THEN '{"draws": 40, "warmup": 20}' ELSE '{}' END::jsonb)
  FROM customers, LATERAL (SELECT age, spend, visits) AS r,
    unnest('{em,vi,gibbs}'::text[]) AS method GROUP BY method;
INSERT INTO models SELECT 'nb', 'nb', nb_fit(plan, r)
  FROM customers, LATERAL (SELECT age, member, spend) AS r WHERE plan IS NOT NULL;
INSERT INTO models SELECT 'arrays', 'gmm', gmm_fit(x, 2) FROM faithful;
INSERT INTO models SELECT 'iris', 'nb', nb_fit(species, x) FROM iris;
CREATE VIEW named AS SELECT * FROM models WHERE name NOT IN ('arrays', 'iris');
CREATE FUNCTION model_of(wanted text) RETURNS bayes_model STABLE
  RETURN (SELECT model FROM models WHERE name = wanted);
