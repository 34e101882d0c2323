-- Documents of topic models: what is read of every kind, and that nothing but the documents
-- matters.
SELECT plan(38);
\ir ../lib/checks.sql
SET client_min_messages = error;

CREATE TABLE docs AS SELECT id, words,
  (SELECT string_agg(w || ':' || i, ' ') FROM unnest(words) WITH ORDINALITY AS u(w, i))::tsvector
    AS lexemes,
  (SELECT jsonb_object_agg(w, n) FROM (SELECT w, count(*) AS n FROM unnest(words) AS w
   GROUP BY w) AS c) AS counts
FROM (SELECT id, ARRAY(SELECT chr(97 + (id * i * i + i) % (5 + id % 9))
  FROM generate_series(1, 10 + id % 7) AS i) AS words FROM generate_series(1, 60) AS id) AS d;
\set options '''{"method": "em", "max_iter": 5, "tol": 1e-12}'''
CREATE TABLE given AS SELECT lda_fit(words, 3, :options ORDER BY id) AS model FROM docs;
CREATE FUNCTION like_given(model bayes_model) RETURNS boolean LANGUAGE sql
RETURN timeless(model) = (SELECT timeless(given.model) FROM given);

-- ---- the same documents in every form ----

SELECT ok(like_given(lda_fit(lexemes, 3, :options)), 'tsvector: positions are counted') FROM docs;
SELECT ok(like_given(lda_fit(counts, 3, :options)), 'jsonb: counts') FROM docs;
SELECT ok(like_given(lda_fit(id, w, n::float8, 3, :options)), 'rows of document, term, count')
FROM docs, jsonb_each_text(counts) AS c(w, n);
SELECT ok(like_given(lda_fit('document ' || id, w, 1, 3, :options)), 'a row for every word')
FROM docs, unnest(words) AS w;
SELECT ok(like_given(lda_fit(ARRAY[id, 1], w, 0.25, 3, :options)), 'and four rows for each')
FROM docs, unnest(words) AS w, generate_series(1, 4);
SELECT ok(like_given(lda_fit(ARRAY[words], 3, :options)),
  'the dimensions of an array do not matter') FROM docs;
SELECT ok(like_given(lda_fit(words::varchar[], 3, :options)), 'varchar') FROM docs;
SELECT ok(like_given(lda_fit(numeric '1.0' * id, w, 1, 3, :options)),
  'a document is named by a value, not by its text')
FROM (SELECT CASE WHEN random() < 0.5 THEN id::numeric ELSE id + 0.00 END AS id, w
  FROM docs, unnest(words) AS w) AS r;
SELECT same_rows(format($$SELECT * FROM lda_topics(%L, 3, %L)$$, query, :options),
  'SELECT t.* FROM given, lda_topics(model) AS t', query)
FROM (VALUES ('SELECT words FROM docs'), ('SELECT lexemes FROM docs'),
  ('SELECT id, counts FROM docs'), ('SELECT id, w, 1 FROM docs, unnest(words) AS w'),
  ('SELECT id, w::varchar, 0.5::numeric FROM docs, unnest(words || words) AS w')) AS q(query);

-- ---- what does not matter ----

SELECT ok(like_given(lda_fit(words, 3, :options ORDER BY id DESC)), 'documents backwards')
FROM docs;
SELECT ok(like_given(lda_fit(words, 3, :options ORDER BY random())), 'in any order') FROM docs;
SELECT ok(like_given(lda_fit(ARRAY(SELECT w FROM unnest(words) AS w ORDER BY random()), 3,
  :options ORDER BY random())), 'words in any order') FROM docs;
SELECT ok(like_given(lda_fit(id, w, 1, 3, :options ORDER BY random())), 'rows in any order')
FROM docs, unnest(words) AS w;
SELECT same(timeless(lda_fit(id, w, x, 2, :options ORDER BY x)),
  timeless(lda_fit(id, w, x, 2, :options ORDER BY x DESC)),
  'parts of a count are added up in an order of their own')
FROM (SELECT id, w, 0.1 + (i * 7 % 10) / 3.0 AS x FROM docs, unnest(words) AS w,
  generate_series(1, 9) AS i) AS r;

-- ---- NULL, empty, unknown ----

SELECT is((i.rows, i.skipped, i.dimension), (3::bigint, 2::bigint, 2),
  'a NULL is skipped, an empty document is not')
FROM (SELECT lda_fit(x, 2, :options) AS m FROM (VALUES (NULL::text[]), ('{}'), ('{a,NULL,b,a}'),
  (NULL), ('{b}')) AS v(x)) AS f, bayes_info(m) AS i;
SELECT is((i.rows, i.skipped, i.dimension), (4::bigint, 1::bigint, 2),
  'rows: without a term, or with a count of 0, the document exists')
FROM (SELECT lda_fit(d, t, c, 2, :options) AS m FROM (VALUES ('x', 'a', 1), ('y', NULL, 3),
  ('z', 'b', NULL), (NULL, 'a', 2), ('x', 'a', 4), ('u', 'c', 0), ('x', 'b', 1)) AS v(d, t, c))
  AS f, bayes_info(m) AS i;
SELECT same(timeless(lda_fit(x, 2, :options)), timeless(lda_fit(y, 2, :options)),
  'empty documents count in every form')
FROM (VALUES ('{a,b,a}'::text[], '{"a": 2, "b": 1}'::jsonb), ('{}', '{}'), ('{b}', '{"b": 1}'),
  ('{NULL}', '{"a": 0}')) AS v(x, y);
SELECT is(lda_fit(x, 2), NULL, 'no documents, no model') FROM (VALUES (NULL::text[])) AS v(x);
SELECT is(lda_fit(words, 2), NULL, 'nor from no rows') FROM docs WHERE false;
SELECT is(lda_fit(NULL::int, 'a', 1, 2), NULL, 'nor from rows of no document');
SELECT is(lda_fit(id, 'a', 1, 2), NULL, 'nor from none') FROM docs WHERE false;
SELECT is((SELECT count(*) FROM lda_topics('SELECT words FROM docs WHERE false', 2)), 0::bigint,
  'nor from a query without');

-- ---- the vocabulary ----

CREATE FUNCTION terms_of(model bayes_model) RETURNS text LANGUAGE sql
RETURN (SELECT string_agg(term, ' ' ORDER BY term COLLATE "C") FROM lda_topics(model, 1000)
  WHERE topic = 1);
CREATE TABLE few AS SELECT i AS id, x FROM unnest(ARRAY['a b c', 'a b d', 'a e', 'a b', 'a é', ''])
  WITH ORDINALITY AS u(t, i), LATERAL (SELECT string_to_array(t, ' ') AS x) AS s;
SELECT is(terms_of(lda_fit(x, 2, options::jsonb)), terms, options) FROM few, (VALUES
  ('{}', 'a b c d e é'), ('{"min_documents": 2}', 'a b'), ('{"min_documents": 3}', 'a b'),
  ('{"max_share": 0.8}', 'b c d e é'), ('{"max_share": 0.5}', 'b c d e é'),
  ('{"max_share": 0.49}', 'c d e é'), ('{"max_terms": 1}', 'a'), ('{"max_terms": 4}', 'a b c d'),
  ('{"max_terms": 2, "max_share": 0.6}', 'b c'), ('{"vocabulary": ["e", "z", "a"]}', 'a e'),
  ('{"vocabulary": ["b", "c"], "min_documents": 2}', 'b')) AS v(options, terms)
GROUP BY options, terms ORDER BY options;
CREATE TABLE begun AS SELECT lda_fit(x, 2, '{"min_documents": 2, "max_iter": 1}') AS start FROM few;
SELECT same_rows($$SELECT topic, term, round(probability::numeric, 9)
  FROM (SELECT lda_fit(x, start, '{"min_documents": 2}') AS m FROM few, begun)
    AS f, lda_topics(m)$$,
  $$SELECT topic, term, round(probability::numeric, 9) FROM (SELECT lda_fit(x || ('z' || id), start,
  '{"min_documents": 2}') AS m FROM few, begun) AS f, lda_topics(m)$$,
  'terms that are left out leave the others as they are');

SELECT * FROM finish();
