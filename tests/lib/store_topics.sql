-- Makes tests/data/stored_topics.copy and stored_topics.tsv, as store_models.sql makes its files:
-- topic models by every method, as the version that runs this stores them, and what they say of a
-- document. Later versions must read them (tests/sql/stored_models.sql), so this is not run again
-- for models of today.
--
--   tests/lib/server run psql -c 'CREATE EXTENSION pg_bayes' -f tests/lib/data.sql \
--     -f tests/lib/store_topics.sql
\ir store.sql

CREATE FUNCTION short(method text, more jsonb) RETURNS jsonb RETURN
  jsonb_build_object('method', method) || more || CASE
    WHEN method IN ('gibbs', 'collapsed') THEN '{"draws": 8, "warmup": 4, "stored_draws": 2}'::jsonb
    ELSE '{"max_iter": 3}' END;

CREATE TABLE pages AS SELECT page, words FROM manual WHERE page LIKE 'spi-%';
INSERT INTO made (name, type, x, model)
SELECT format('lda %s %s', method, more), 'tsvector', 'cursor:1,2 execut:3 transact:4 unheard:5',
       (SELECT lda_fit(words, 3, short(method, more || '{"max_terms": 25}')) FROM pages)
FROM (VALUES
  ('vi', '{}'::jsonb),
  ('vi', '{"prior": {"alpha": "symmetric", "terms": [null, {"cursor": 9}, null]}}'),
  ('em', '{"prior": {"alpha": [0.5, 1, 2]}}'),
  ('svi', '{"batch_size": 10, "prior": {"eta": 0.1}}'),
  ('gibbs', '{}'),
  ('collapsed', '{"chains": 2, "prior": {"alpha": 0.3}}')) AS v(method, more);
-- Terms of other letters, and fractional counts.
INSERT INTO made (name, type, x, model)
SELECT 'lda vi fractions', 'jsonb', '{"ä": 2.5, "日本": 1, "": 0.25}',
       (SELECT lda_fit(x, 2, '{"max_iter": 3}')
        FROM (VALUES ('{"ä": 1.5, "日本": 0.25, "": 3}'::jsonb), ('{"ä": 2, "b\"": 1}')) AS v(x));
-- A term of probability 0.
INSERT INTO made (name, type, x, model)
SELECT 'lda em started', 'text[]', '{a,a,b,c}',
       (SELECT lda_fit('{b,b,c}'::text[], model)
        FROM (SELECT lda_fit(x, 2, '{"method": "em"}') AS model
              FROM (VALUES ('{a,a,b}'::text[]), ('{b,c,c}')) AS v(x)) AS first GROUP BY model);
INSERT INTO made (name, type, x, model)
SELECT 'lda vi updated', 'text[]', '{cursor,news}',
       (SELECT lda_update('{cursor,cursor,news}'::text[], model) FROM made
        WHERE name = 'lda vi {}' GROUP BY model);

\copy (SELECT name, model FROM made ORDER BY id) TO 'tests/data/stored_topics.copy' (FORMAT binary)
\copy (SELECT name, type, x, answers, model FROM said ORDER BY id) TO 'tests/data/stored_topics.tsv'
