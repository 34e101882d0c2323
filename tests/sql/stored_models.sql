-- Models stored by earlier versions are read in both forms, stay what they are, and say what they
-- said. tests/data/stored_*.copy and stored_*.tsv were made by tests/lib/store_models.sql,
-- store_topics.sql, ... with version 0.1.0: its bytes, as binary COPY has them, and for each the
-- text, a row, sequence or document, and what the model says of it.
SELECT plan(13);
\ir ../lib/checks.sql

CREATE TABLE stored (name text PRIMARY KEY, model bayes_model);
\copy stored FROM 'tests/data/stored_models.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_topics.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_factors.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_ratings.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_regressions.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_classes.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_posteriors.copy' (FORMAT binary)
\copy stored FROM 'tests/data/stored_binary.copy' (FORMAT binary)
CREATE TABLE bytes (name text PRIMARY KEY, bytes bytea);
\copy bytes FROM 'tests/data/stored_models.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_topics.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_factors.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_ratings.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_regressions.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_classes.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_posteriors.copy' (FORMAT binary)
\copy bytes FROM 'tests/data/stored_binary.copy' (FORMAT binary)
CREATE TABLE said (name text PRIMARY KEY, type text, x text, answers float8[], text text);
\copy said FROM 'tests/data/stored_models.tsv'
\copy said FROM 'tests/data/stored_topics.tsv'
\copy said FROM 'tests/data/stored_factors.tsv'
\copy said FROM 'tests/data/stored_ratings.tsv'
\copy said FROM 'tests/data/stored_regressions.tsv'
\copy said FROM 'tests/data/stored_classes.tsv'
\copy said FROM 'tests/data/stored_posteriors.tsv'
\copy said FROM 'tests/data/stored_binary.tsv'
CREATE TABLE texts (name text PRIMARY KEY, model bayes_model);
SELECT lives_ok('INSERT INTO texts SELECT name, text::bayes_model FROM said', 'texts are read');

CREATE VIEW together AS
  SELECT name, stored.model AS from_bytes, texts.model AS from_text, bytes, text, type, x, answers
  FROM stored JOIN texts USING (name) JOIN bytes USING (name) JOIN said USING (name);
SELECT is((SELECT count(*) FROM together WHERE from_bytes IS NOT NULL AND from_text IS NOT NULL),
  85::bigint, 'every model is there in both forms');
SELECT results_eq(
  'SELECT i.family, count(*) FROM together, bayes_info(from_bytes) AS i GROUP BY 1 ORDER BY 1',
  $$VALUES ('beta_bernoulli', 3::bigint), ('bmm', 4), ('dirichlet_categorical', 2), ('dpmm', 5),
    ('gamma_poisson', 3), ('gmm', 9), ('hmm', 10), ('lda', 9), ('linreg', 10),
    ('logreg', 3), ('nb', 6), ('nmf', 9), ('normal_inverse_gamma', 3), ('pmf', 5), ('probit', 4)$$,
  'of every family of that version');

SELECT never(
  'SELECT name, _bayes_model_send(from_bytes) <> bytes AS wrong FROM together',
  'bytes stay the same bytes');
SELECT never(
  'SELECT name, from_text = from_bytes IS NOT TRUE OR from_bytes = from_text IS NOT TRUE
     OR _bayes_model_hash(from_text) <> _bayes_model_hash(from_bytes)
     OR _bayes_model_hash_extended(from_text, 7) <> _bayes_model_hash_extended(from_bytes, 7)
     AS wrong
   FROM together',
  'texts are the same models as bytes, though these have the seconds at another place');
SELECT is((SELECT count(DISTINCT model) FROM (SELECT model FROM stored UNION ALL
    SELECT model FROM texts) AS t), (SELECT count(DISTINCT bytes) FROM bytes),
  'and only they are the same');
SELECT never('SELECT name, from_bytes::text <> text AS wrong FROM together',
  'bytes have the same text');
SELECT never('SELECT name, from_text::text <> text AS wrong FROM together',
  'texts stay the same texts');
SELECT never(
  'SELECT name, from_bytes::jsonb::bayes_model <> from_bytes AS wrong FROM together',
  'through jsonb too');
SELECT never(
  $$SELECT name, i.version <> '0.1.0' OR i.seed <> 1 AND i.method <> 'exact'
      OR i.seed NOT IN (0, 1) OR name || ' ' NOT LIKE i.family || ' %'
      OR i.method <> 'exact' AND name NOT LIKE i.family || ' ' || i.method || ' %' AS wrong
    FROM together, bayes_info(from_bytes) AS i$$,
  'they know how they were made');

SELECT never($$SELECT name, i.incomplete IS NOT NULL
        OR (i.family !~ '^(dpmm|lda|[np]mf)$') <>
      (i.parameters > 0 AND i.observations > 0) IS TRUE
      OR (i.bic IS NOT NULL) <> (i.parameters > 0 AND i.draws IS NULL) IS TRUE AS wrong
    FROM together, bayes_info(from_bytes) AS i
    WHERE family <> 'hmm' AND name <> 'normal_inverse_gamma one'$$, -- one row has no likelihood
  'and by what they may be chosen, but for what was not yet counted');

-- The same numbers as store_models.sql asks for. Proportions of topics and weights of rows are
-- iterated to convergence, which ends at other digits where another processor rounds otherwise.
-- The log-likelihood of a sequence with a symbol that its model does not know (place 1) was that of
-- a missing one when the answers were stored; since then such a symbol has a probability.
CREATE TYPE record_of_iris AS (
  species text, petal_width float8, even boolean, twice float8, five int);
\ir ../lib/model_answers.sql
SELECT never(
  $$SELECT name, place, now, before,
      num_nulls(now, before) < 2 AND NOT near(now, before, tolerance)
        AND NOT (name ~ '^hmm .* symbols$' AND place = 1 AND now < before) AS wrong
    FROM (SELECT name, answers, answers(from_bytes, type, x) AS answers_now,
        CASE WHEN name ~ '^(lda|nmf) ' THEN 1e-9 ELSE 1e-12 END AS tolerance FROM together) AS t,
      unnest(answers_now, answers) WITH ORDINALITY AS u(now, before, place)$$,
  'they say what they said');
SELECT is((SELECT sum(cardinality(answers)) FROM said), 1131::bigint, 'which is so many numbers');
SELECT * FROM finish();
