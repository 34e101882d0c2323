-- Topic models: every way to ask for what cannot be, and what is said about it.
SELECT plan(58);
SET client_min_messages = error;
\ir ../lib/errors.sql

CREATE TABLE words (id int, x text[]);
INSERT INTO words SELECT id, ARRAY[chr(97 + id % 3), chr(97 + id % 4), 'z']
  FROM generate_series(1, 10) AS id;
CREATE TABLE given AS SELECT lda_fit(x, 2) AS model, lda_fit(x, 2, '{"method": "em"}') AS em
  FROM words;

SELECT is(whole_complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT lda_fit(x, 0) FROM words$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT lda_fit(x, 10001) FROM words$q$,
    '22023 k is 10001, but must be a whole number from 1 to 10000'),
  ($q$SELECT lda_fit(x, NULL::int) FROM words$q$,
    '22004 k must not be NULL'),
  ($q$SELECT lda_fit(x, NULL::bayes_model) FROM words$q$,
    '22004 start must not be NULL'),
  ($q$SELECT lda_update(x, NULL) FROM words$q$,
    '22004 prior must not be NULL'),
  ($q$SELECT lda_fit(x, id) FROM words$q$,
    '22023 k must be the same for all rows of one fit | It differs from the value in the '
    'first row. | To fit one model for each value, GROUP BY it.'),
  ($q$SELECT lda_fit(x, 2, jsonb_build_object('seed', id)) FROM words$q$,
    '22023 options must be the same for all rows of one fit | It differs from the value in '
    'the first row. | To fit one model for each value, GROUP BY it.'),
  ($q$SELECT lda_fit(x, 2, '{"metod": "em"}') FROM words$q$,
    '22023 unknown option "metod" | Did you mean "method"?'),
  ($q$SELECT lda_fit(x, 2, '{"method": "map"}') FROM words$q$,
    '22023 option "method" is "map", but must be one of vi, em, svi, cvb0, '
    'gibbs, collapsed'),
  ($q$SELECT lda_fit(x, 2, '[]') FROM words$q$,
    '22023 options must be a JSON object, but are of kind array of numbers | Write options as '
    '''{"method": "svi", "seed": 2}''.'),
  ($q$SELECT lda_fit(x, 2, '{"min_documents": 0}') FROM words$q$,
    '22023 option "min_documents" is 0, but must be a whole number from 1 to 1000000000'),
  ($q$SELECT lda_fit(x, 2, '{"max_share": 0}') FROM words$q$,
    '22023 option "max_share" is 0, but must be a number greater than 0 and at most 1'),
  ($q$SELECT lda_fit(x, 2, '{"max_terms": -1}') FROM words$q$,
    '22023 option "max_terms" is -1, but must be a whole number from 0 to 500000'),
  ($q$SELECT lda_fit(x, 2, '{"vocabulary": []}') FROM words$q$,
    '22023 option "vocabulary" is an empty array, but must be an array of 1 to 500000 terms'),
  ($q$SELECT lda_fit(x, 2, '{"vocabulary": ["a", 1]}') FROM words$q$,
    '22023 option "vocabulary" contains 1, but terms are strings'),
  ($q$SELECT lda_fit(x, 2, '{"vocabulary": ["q"]}') FROM words$q$,
    '22023 no term of option "vocabulary" is left | Options min_documents, max_share and '
    'vocabulary leave out terms.'),
  ($q$SELECT lda_fit(x, 2, '{"min_documents": 11}') FROM words$q$,
    '22023 none of the 5 terms of the documents is left | Options min_documents, max_share '
    'and vocabulary leave out terms.'),
  ($q$SELECT lda_fit('{}'::text[], 2) FROM words$q$,
    '22023 documents have no terms'),
  ($q$SELECT lda_fit(x, 2, '{"prior": {"alpha": [1]}}') FROM words$q$,
    '22023 option "prior.alpha" is an array of 1 number, but must be a number greater than 0, '
    'an array of 2 of them, "symmetric" or "asymmetric"'),
  ($q$SELECT lda_fit(x, 2, '{"prior": {"eta": 0}}') FROM words$q$,
    '22023 option "prior.eta" is 0, but must be a number greater than 0, or "learned"'),
  ($q$SELECT lda_fit(x, 2, '{"prior": {"terms": [{"q": 1}, null]}}') FROM words$q$,
    '22023 option "prior.terms" names "q", which is not a term of the documents | Write '
    'terms as in the documents; those of a tsvector are lexemes, without endings.'),
  ($q$SELECT lda_fit(x, 2, '{"method": "em", "prior": {"eta": 1}}') FROM words$q$,
    '22023 option "prior.eta" does not apply to method em | The options are prior.alpha.'),
  ($q$SELECT lda_fit(x, 2, '{"method": "gibbs", "tol": 1}') FROM words$q$,
    '22023 option "tol" does not apply to method gibbs | The options are chains, draws, '
    'max_seconds, max_share, max_terms, method, min_documents, on_error, prior, resumable, seed, '
    'stored_draws, thin, vocabulary, warmup.'),
  ($q$SELECT lda_fit(x, 2, '{"batch_size": 3}') FROM words$q$,
    '22023 option "batch_size" does not apply to method vi | The options are max_iter, '
    'max_seconds, max_share, max_terms, method, min_documents, on_error, prior, restarts, '
    'resumable, seed, tol, vocabulary.'),
  ($q$SELECT lda_fit('{"a": 4e9, "b": 1}'::jsonb, 2, '{"method": "gibbs"}')$q$,
    '54000 the documents have 4000000001 tokens, but method gibbs takes at most 2147483647 | It '
    'keeps the topic of every token. | Use method svi or vi.'),
  ($q$SELECT lda_fit('{"a": 1e9}'::jsonb, 2, '{"method": "collapsed"}')$q$,
    '54000 method collapsed keeps the topic of every token, which for 1000000000 tokens do not '
    'fit into maintenance_work_mem | Raise maintenance_work_mem, or use method svi or vi.'),
  ($q$SELECT lda_fit('{"a": -1}'::jsonb, 2)$q$,
    '22023 count of term "a" of document 1 is -1 | A count must be finite and not negative: '
    'it is the number of times that the term occurs.'),
  ($q$SELECT lda_fit('{"a": 1e400}'::jsonb, 2)$q$,
    '22023 count of term "a" of document 1 is Infinity | A count must be finite and not '
    'negative: it is the number of times that the term occurs.'),
  ($q$SELECT lda_fit('{"a": 1e16}'::jsonb, 2)$q$,
    '22003 count of term "a" of document 1 is 1e+16, too large to compute with | The largest '
    'count that a term may have is 1e15.'),
  ($q$SELECT lda_fit('doc', 'a', 'NaN', 2) FROM words$q$,
    '42804 could not determine polymorphic type because input has type unknown'),
  ($q$SELECT lda_fit(id, 'a', -0.5, 2) FROM words$q$,
    '22023 count of term "a" of document 1 is -0.5 | A count must be finite and not '
    'negative: it is the number of times that the term occurs.'),
  ($q$SELECT lda_fit(id, 'a', 'Infinity', 2) FROM words$q$,
    '22023 count of term "a" of document 1 is Infinity | A count must be finite and not '
    'negative: it is the number of times that the term occurs.'),
  ($q$SELECT lda_fit(1, 'a', 1e15, 2) FROM words$q$,
    '22003 count of term "a" of document 1 is 1e+16, too large to compute with | The largest '
    'count that a term may have is 1e15.'),
  ($q$SELECT lda_fit('{}'::json, 'a', 1, 2) FROM words$q$,
    '42883 could not identify an ordering operator for type json | Use an explicit ordering '
    'operator or modify the query.'),
  ($q$SELECT lda_fit(ARRAY[repeat('x', 10001)], 2) FROM words$q$,
    '54000 a term is 10001 bytes long, but the limit is 10000 | A term is a word, or the name '
    'of an item. Use a shorter one, such as md5(term).'),
  ($q$SELECT lda_fit(1, repeat('x', 1000000), 1, 2) FROM words$q$,
    '54000 a term is 1000000 bytes long, but the limit is 10000 | A term is a word, or the '
    'name of an item. Use a shorter one, such as md5(term).'),
  ($q$SELECT lda_topics('SELECT x FROM words', 0)$q$,
    '22023 k is 0, but must be a whole number from 1 to 10000'),
  ($q$SELECT lda_fit(x, em) FROM words, given$q$,
    'no error | no error'),
  ($q$SELECT lda_update(x, em) FROM words, given$q$,
    '22023 this model cannot be updated: it was fitted by method em | Only methods vi '
    'and svi leave a posterior that can be the prior of more documents. | Fit with option '
    'method "vi" or "svi".')
  ) AS v(statement, said);

-- ---- documents as jsonb ----

SELECT is(whole_complaint(format('SELECT lda_fit(%L::jsonb, 2)', document)), said
    || ' | A document as jsonb is an object of terms and their counts: {"index": 3, "scan": 1}.'
    || CASE WHEN document LIKE '{%' THEN '' ELSE ' | For a list of words use text[].' END, document)
FROM (VALUES
  ('{"a": "x"}', '22023 count of term "a" of document 1 is a string'),
  ('{"a": null}', '22023 count of term "a" of document 1 is null'),
  ('{"a": true}', '22023 count of term "a" of document 1 is a boolean'),
  ('{"a": {"b": 1}}', '22023 count of term "a" of document 1 is an object'),
  ('{"a": [1]}', '22023 count of term "a" of document 1 is an array'),
  ('[1]', '22023 document 1 is an array'),
  ('"a"', '22023 document 1 is a single value'),
  ('null', '22023 document 1 is a single value')) AS v(document, said);

-- ---- counts that a sampler does not take ----

SELECT is(whole_complaint(format('SELECT lda_fit(%s, 2, ''{"method": "%s"}'') FROM words', item,
    method)), format('22023 count of term "a" of document 1 is %s, which is not a whole number | A '
    'sampler draws a topic for every token. | Methods vi, svi, em and cvb0 take fractional '
    'counts.',
    count), item || ', ' || method)
FROM (VALUES (0.5, $$'{"a": 0.5}'::jsonb$$), (0.3, $$id, 'a', 0.3$$)) AS v(count, item),
  unnest('{gibbs,collapsed}'::text[]) AS method;

-- ---- queries that give no documents ----

SELECT is(whole_complaint(format('SELECT lda_topics(%L, 2)', query)), said || ' | Select a '
    'document for each row (SELECT to_tsvector(''english'', body) FROM ...), a name and a '
    'document, or document, term and count.', coalesce(query, 'NULL'))
FROM (VALUES
  ('SELECT 1', '22023 column "?column?" of the query is of type integer | A document is a '
    'tsvector, an array of text, or a jsonb object of counts.'),
  ('SELECT 1, 2, 3, 4', '22023 query returns 4 columns, but must return one to three'),
  ('SELECT id, id FROM words', '22023 column "id" of the query is of type integer | A document is '
    'a tsvector, an array of text, or a jsonb object of counts.'),
  ('SELECT id, id, id FROM words', '22023 column "id" of the query is of type integer | A term is '
    'a text.'),
  ('SELECT id, ''a''::text, ''b''::text FROM words', '22023 column "text" of the query is of type '
    'text | A count is a number.'),
  ('DELETE FROM words', '22023 query is not a SELECT | It must be one SELECT that returns rows.'),
  (NULL, '22004 query must not be NULL')) AS v(query, said);

SELECT * FROM finish();
