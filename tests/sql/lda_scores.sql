-- Topic models: documents of topics and topics of documents, and held-out documents under draws.
SELECT plan(41);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

-- Documents of fruit, of tools, and of both.
CREATE TABLE shopping AS SELECT id, ARRAY(SELECT (CASE WHEN id % 3 = 0 OR id % 3 = 2 AND i % 2 = 0
    THEN '{apple,pear,plum,quince}' ELSE '{hammer,nail,pliers,saw}' END::text[])
    [1 + (id * i + i * i / 3 + id / 5) % 4] FROM generate_series(1, 6 + id % 7) AS i) AS words
  FROM generate_series(1, 60) AS id;
CREATE TABLE bought AS SELECT id, word, count(*)::float8 AS count
  FROM shopping, unnest(words) AS word GROUP BY id, word;
CREATE TABLE models AS
SELECT way, lda_fit(words, 3, jsonb_build_object('method', way) || CASE
  WHEN way IN ('gibbs', 'collapsed') THEN '{"draws": 90, "warmup": 30, "stored_draws": 12}'::jsonb
  ELSE '{}' END) AS model
FROM shopping, unnest('{vi,em,gibbs,collapsed}'::text[]) AS way GROUP BY way;
CREATE TABLE given AS SELECT model FROM models WHERE way = 'vi';

-- ---- the topics of a document ----

SELECT never('SELECT way, id, NOT (t.proportion = p[t.topic] AND t.sd = s.sd[t.topic]
    AND t.rank = 1 + (SELECT count(*) FROM unnest(p) AS q WHERE q > t.proportion)) AS wrong
  FROM models, shopping, LATERAL (SELECT lda_proportions(model, words) AS p,
    (SELECT array_agg(sd ORDER BY topic) FROM lda_top_topics(model, words, 1000)) AS sd) AS s,
    lda_top_topics(model, words) AS t',
  'top topics are the largest proportions');
SELECT same_rows('SELECT t.* FROM given,
    lda_top_topics(model, ''{pear,pear,saw}''::text[], 2) AS t',
  'SELECT t.* FROM given, lda_top_topics(model, ''{"saw": 1, "pear": 2}''::jsonb) AS t
    WHERE rank <= 2', 'as many as asked, of any kind of document');
SELECT is((SELECT count(*) FROM given, lda_top_topics(model, 'pear:1 saw:2'::tsvector, 9)),
  3::bigint, 'all, if there are no more');
SELECT is((SELECT count(*) FROM given, lda_top_topics(model, NULL::text[])), 0::bigint, 'strict');
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($$SELECT lda_top_topics(model, '{a}'::text[], 0) FROM given$$,
   '22023 top is 0, the number of topics must be at least 1'),
  ($$SELECT lda_top_topics(m, '{a}'::text[]) FROM (SELECT gmm_fit(x, 1) AS m FROM faithful) AS f$$,
   '42804 model is of family gmm, expected lda')) AS v(statement, said);

-- ---- the documents of a topic ----

-- The first so many of each topic, from the proportions of all.
CREATE FUNCTION typical(model bayes_model, top int) RETURNS TABLE (topic int, rank int,
  document text, proportion float8, sd float8) LANGUAGE sql AS $$
  SELECT * FROM (SELECT t.topic::int, row_number() OVER (PARTITION BY t.topic ORDER BY
      ln(p) - 2 * sd / p DESC, id::text COLLATE "C")::int AS rank, id::text, p, sd
    FROM shopping, unnest(lda_proportions(model, words), (SELECT array_agg(sd ORDER BY topic)
    FROM lda_top_topics(model, words, 1000)))
      WITH ORDINALITY AS t(p, sd, topic)) AS r WHERE r.rank <= top ORDER BY 1, 2 $$;
SELECT same_rows(format('SELECT t.* FROM models, lda_typical_documents(%L, model, 7) AS t
    WHERE way = %L', query, way),
  format('SELECT t.* FROM models, typical(model, 7) AS t WHERE way = %L', way),
  way || ': ' || query)
FROM unnest('{vi,em,gibbs,collapsed}'::text[]) AS way, (VALUES ('SELECT id, words FROM shopping'),
  ('SELECT id, word, count FROM bought ORDER BY random()')) AS q(query);
SELECT same_rows('SELECT t.* FROM given, lda_typical_documents(''SELECT id, words FROM shopping
    ORDER BY id DESC'', model) AS t', 'SELECT t.* FROM given, typical(model, 10) AS t',
  'ten, whatever the order of the documents');
SELECT same_rows('SELECT t.* FROM given, lda_typical_documents(''SELECT id, words FROM shopping'',
    model, 1000) AS t', 'SELECT t.* FROM given, typical(model, 60) AS t',
  'all, if there are no more');
SELECT is((SELECT array_agg(t.document ORDER BY t.rank) FROM given, lda_typical_documents($$
    VALUES ('short', '{saw}'::text[]), (NULL, array_fill('saw'::text, '{30}')), ('b', array_fill(
    'saw'::text, '{30}')), ('none', NULL), ('é', array_fill('saw'::text, '{30}')), ('empty', '{}'),
    ('unknown', '{egg}'), ('fruit', '{pear,plum}')$$, model, 3) AS t
  WHERE t.topic = lda_predict(model, '{saw,saw,saw}'::text[])), '{b,é,NULL}'::text[],
  'long documents first; of equal ones by name, a NULL last');
SELECT is((SELECT array_agg(DISTINCT t.document) FROM given, lda_typical_documents($$
    VALUES (1.5, 'saw', 2), (2.5, 'pear', NULL), (NULL, 'saw', 1)$$, model) AS t),
  '{1.5,2.5}'::text[],
  'rows: a document without terms is one, a row without document is none');
SELECT is((SELECT count(*) FROM given, lda_typical_documents('SELECT 1, words FROM shopping WHERE
  false', model)), 0::bigint, 'no documents, no rows');
SELECT is(whole_complaint(statement), said, statement) FROM (VALUES
  ($$SELECT lda_typical_documents('SELECT words FROM shopping', model) FROM given$$,
   '22023 query returns one column | Documents must have names. | Select a name and a document '
   'for each row (SELECT id, to_tsvector(''english'', body) FROM ...), or document, term and '
   'count.'),
  ($$SELECT lda_typical_documents('SELECT id, words FROM shopping', model, 0) FROM given$$,
   '22023 top is 0, the number of documents must be at least 1'),
  ($$SELECT lda_typical_documents('SELECT id, words FROM shopping', model, 400000) FROM given$$,
   '22023 top is 400000, but must be at most 333333 for 3 topics'),
  ($$SELECT lda_typical_documents('SELECT id, words FROM shopping', model, NULL) FROM given$$,
   '22004 top must not be NULL'),
  ($$SELECT lda_typical_documents('SELECT id, words FROM shopping', NULL)$$,
   '22004 model must not be NULL'),
  ($$SELECT lda_typical_documents(NULL, model) FROM given$$,
   '22004 query must not be NULL | Select a name and a document for each row (SELECT id, '
   'to_tsvector(''english'', body) FROM ...), or document, term and count.'),
  ($$SELECT lda_typical_documents('SELECT 2, ''saw''::text, -1', model) FROM given$$,
   '22023 count of term "saw" of document 2 is -1 | A count must be finite and not negative: it '
   'is the number of times that the term occurs.'))
  AS v(statement, said);

-- ---- held-out documents under draws ----

-- The model of one stored draw, counted from 0; and of some of them.
CREATE FUNCTION of_draw(model bayes_model, s int) RETURNS bayes_model LANGUAGE sql
RETURN ((model::jsonb - 'draws_of_topics') || jsonb_build_object(
  'topics', model::jsonb #> ARRAY['draws_of_topics', 'topics', s::text],
  'alpha', model::jsonb #> ARRAY['draws_of_topics', 'alpha', s::text],
  'eta', model::jsonb #> ARRAY['draws_of_topics', 'eta', s::text]))::bayes_model;
CREATE FUNCTION of_draws(model bayes_model, chosen int[]) RETURNS bayes_model LANGUAGE sql
RETURN (SELECT (m || jsonb_build_object('draws_of_topics', jsonb_build_object(
    'topics', jsonb_agg(m #> ARRAY['draws_of_topics', 'topics', s::text] ORDER BY s),
    'alpha', jsonb_agg(m #> ARRAY['draws_of_topics', 'alpha', s::text] ORDER BY s),
    'eta', jsonb_agg(m #> ARRAY['draws_of_topics', 'eta', s::text] ORDER BY s))))::bayes_model
  FROM unnest(chosen) AS s, CAST(model AS jsonb) AS m GROUP BY m);

-- Documents of even counts: half of the tokens of every term are observed, the others scored.
CREATE TABLE pairs AS SELECT id, words || words AS words, words AS half FROM shopping;
SELECT never('SELECT way, NOT near(perplexity, expected) OR near(perplexity, of_means, 1e-6)
    AS wrong
  FROM (SELECT way, lda_perplexity(model, words, NULL) AS perplexity,
      lda_perplexity((model::jsonb - ''draws_of_topics'')::bayes_model, words, NULL) AS of_means
    FROM models, pairs GROUP BY way, model HAVING way IN (''gibbs'', ''collapsed'')) AS p
  JOIN (SELECT way, exp(-sum(ln(p)) / count(*)) AS expected
    FROM (SELECT way, id, n, sum(share * probability) / 12 AS p
      FROM (SELECT way, s, draw, id, half, lda_proportions(draw, half) AS shares
        FROM (SELECT way, s, of_draw(model, s) AS draw FROM models, generate_series(0, 11) AS s
          WHERE way IN (''gibbs'', ''collapsed'')) AS d, pairs) AS s,
        unnest(half) WITH ORDINALITY AS h(term, n),
        unnest(shares) WITH ORDINALITY AS u(share, topic)
        JOIN LATERAL (SELECT topic, term, probability FROM lda_topics(draw, 8)) AS t
          USING (topic) WHERE t.term = h.term GROUP BY way, id, n) AS w GROUP BY way) AS e
  USING (way)', 'held-out tokens are predicted by the average over the stored draws');
CREATE TABLE many AS SELECT lda_fit(words, 2, '{"method": "collapsed", "draws": 80, "warmup": 20,
  "stored_draws": 60}') AS model FROM shopping;
SELECT is((SELECT stored_draws FROM many, bayes_info(model)), 60::bigint, 'many draws');
SELECT is(lda_perplexity(model, words, NULL), lda_perplexity(few, words, NULL),
  'of them 20, evenly spaced')
FROM (SELECT model, of_draws(model, ARRAY(SELECT 3 * i + 1 FROM generate_series(0, 19) AS i)) AS few
  FROM many OFFSET 0) AS m, pairs;
SELECT ok(lda_perplexity(model, words, o) BETWEEN 0.8 * lda_perplexity(model, words, NULL)
  AND 1.25 * lda_perplexity(model, words, NULL), 'from left to right about the same')
FROM many, pairs, CAST('{"method": "left-to-right", "particles": 5}' AS jsonb) AS o;

-- ---- rows ----

SELECT never($$SELECT way, o, lda_perplexity(model, words, o) <> (SELECT lda_perplexity(model, id,
    word, count, o ORDER BY random()) FROM bought) AS wrong
  FROM models, shopping, (VALUES (NULL::jsonb), ('{}'), ('{"method": "left-to-right",
    "particles": 3}')) AS v(o) GROUP BY way, model, o$$,
  'the perplexity of rows is that of their documents, in any order');
SELECT is((SELECT lda_perplexity(model, id, word, part, NULL) FROM given, bought,
    unnest(ARRAY[count / 4, count / 2, count / 4]) AS part), (SELECT lda_perplexity(model, words,
    NULL)
  FROM given, shopping), 'parts of a count are added up');
SELECT is((SELECT lda_perplexity(model, d, w, c, NULL)
  FROM given, (VALUES ('x', 'egg', 1), ('y', NULL, 1), ('z', 'saw', NULL), (NULL, 'saw', 3))
  AS v(d, w, c)), NULL, 'no tokens, no perplexity');
SELECT is((SELECT lda_perplexity(model, id, word, count, NULL) FROM given, bought WHERE false),
  NULL,
  'no rows, no perplexity');
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT lda_perplexity(model, 2, ''saw'', -1, NULL) FROM given',
   '22023 count of term "saw" of document 2 is -1'),
  ('SELECT lda_perplexity(model, 2, ''saw'', 0.5, ''{"method": "left-to-right"}'') FROM given',
   '22023 count of term "saw" of document 2 is 0.5, which is not a whole number'),
  ('SELECT lda_perplexity(NULL, id, word, 1, NULL) FROM bought', '22004 model must not be NULL'))
  AS v(statement, said);

-- ---- how many topics ----

SELECT same_rows('SELECT k, perplexity, tokens, objective, iterations
    FROM lda_select(''SELECT id, word, count FROM bought ORDER BY random()'', ''{1,2,3}'')',
  'SELECT k, perplexity, tokens, objective, iterations
    FROM lda_select(''SELECT words FROM shopping'', ''{1,2,3}'')', 'rows are split by documents');
-- Each document has a term of its own, which the others know nothing of.
SELECT never('SELECT way, k, NOT (perplexity BETWEEN 2 AND 60 AND i.rows = 54 AND tokens > 10)
    AS wrong FROM unnest(''{em,vi}''::text[]) AS way, lda_select(''SELECT words || (''''own '''' ||
      id) FROM shopping'', ''{1,3}'', jsonb_build_object(''method'', way,
      ''models'', true)) AS s,
    bayes_info(s.model) AS i', 'terms of the held-out documents alone cost');
-- Half of the documents are hard to predict for all k, so the errors of the scores are wide; the
-- others are of two kinds, which two topics cannot tell from each other.
CREATE TABLE told AS SELECT (SELECT array_agg(CASE i % 4 WHEN 1 THEN 'a' || byte % 4
      WHEN 3 THEN 'b' || byte % 4 ELSE 'c' || byte END) FROM generate_series(1, 20) AS j,
    LATERAL (SELECT get_byte(decode(md5(i || ' ' || j), 'hex'), 0) AS byte) AS b) AS words
  FROM generate_series(1, 200) AS i;
CREATE TABLE chosen AS SELECT * FROM lda_select('SELECT words FROM told', '{1,2,3,4}');
SELECT is((SELECT k FROM chosen WHERE best), 3, 'the error is that of the difference');
SELECT ok(two.perplexity - min(other.perplexity) < min(other.standard_error),
  'and far below those of the scores')
  FROM chosen AS two, chosen AS other WHERE two.k = 2 GROUP BY two.perplexity;

SELECT * FROM finish();
