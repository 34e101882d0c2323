-- Topic models: every function of a fitted model, against what defines it.
SELECT plan(78);
\ir ../lib/checks.sql
\ir ../lib/errors.sql
SET client_min_messages = error;

-- Documents of two kinds: of fruit, of tools, and of both.
CREATE TABLE shopping AS SELECT id, ARRAY(SELECT (CASE WHEN id % 3 = 0 OR id % 3 = 2 AND i % 2 = 0
    THEN '{apple,pear,plum,quince}' ELSE '{hammer,nail,pliers,saw,screw}' END::text[])
    [1 + (id * i + i * i / 3 + id / 5) % (4 + (id % 3 = 1)::int)]
  FROM generate_series(1, 8 + id % 5) AS i) AS words FROM generate_series(1, 90) AS id;
UPDATE shopping SET words = array_remove(words, NULL);
CREATE TABLE models AS
SELECT way, lda_fit(words, 2, jsonb_build_object('method', way) || CASE
  WHEN way IN ('gibbs', 'collapsed') THEN '{"draws": 60, "chains": 2}'::jsonb
  ELSE '{"restarts": 3}' END) AS model
FROM shopping, unnest('{vi,em,svi,cvb0,gibbs,collapsed}'::text[]) AS way GROUP BY way;
CREATE TABLE given AS SELECT model FROM models WHERE way = 'vi';

-- ---- the models ----

SELECT is((SELECT string_agg(DISTINCT topics, ' | ') FROM (SELECT way, string_agg(kind, ' '
    ORDER BY kind) AS topics FROM (SELECT way, topic,
      CASE WHEN bool_and(term IN ('apple', 'pear', 'plum', 'quince')) THEN 'fruit'
        WHEN bool_and(term IN ('hammer', 'nail', 'pliers', 'saw', 'screw')) THEN 'tools'
        ELSE 'both' END AS kind
      FROM models, lda_topics(model, 4) GROUP BY way, topic) AS t GROUP BY way) AS m),
  'fruit tools', 'every method finds both kinds');
SELECT same_rows('SELECT way, (family, rows, skipped, dimension, components) FROM models,
    bayes_info(model) ORDER BY method', $$SELECT way, ('lda'::text, 90::bigint, 0::bigint, 9, 2)
    FROM models ORDER BY way$$, 'what is known of every model');
SELECT never('SELECT way, (draws IS NOT NULL) <> (way IN (''gibbs'', ''collapsed'')) AS wrong
  FROM models, bayes_info(model)', 'samplers have draws');
SELECT never('SELECT m.way, NOT (model::text::bayes_model = model
  AND model::jsonb::bayes_model = model) AS wrong FROM models AS m',
  'text and jsonb are read back to the same bytes');
SELECT never($$SELECT m.way, timeless(model, 'given_prior') <> timeless(again, 'given_prior')
    AS wrong FROM models AS m,
    LATERAL (SELECT lda_fit(words, 2, i.options ORDER BY random()) AS again
    FROM shopping, bayes_info(model) AS i) AS f$$,
  'the options in force give the same model again, with documents in any order');

-- ---- topics ----

SELECT never('SELECT way, topic, abs(sum(probability) - 1) > 1e-12 OR count(*) <> 9
    OR min(rank) <> 1 OR max(rank) <> 9 OR count(DISTINCT term) <> 9 AS wrong
  FROM models, lda_topics(model, 100) GROUP BY way, topic', 'a topic is a distribution');
SELECT never('SELECT way, topic, ordered <> terms AS wrong FROM (SELECT way, topic,
    array_agg(term ORDER BY rank) AS terms,
    array_agg(term ORDER BY probability DESC, term COLLATE "C") AS ordered
  FROM models, lda_topics(model, 9) GROUP BY way, topic) AS t', 'by probability, then by name');
SELECT same_rows('SELECT * FROM given, lda_topics(model, 3) AS t',
  'SELECT * FROM given, lda_topics(model) AS t WHERE rank <= 3', 'ten terms, or as many as asked');
SELECT is(complaint('SELECT lda_topics(model, 0) FROM given'),
  '22023 top is 0, the number of terms must be at least 1', 'at least one');
SELECT same_rows($$SELECT * FROM lda_topics('SELECT id, words FROM shopping', 2,
    '{"restarts": 3}')$$, 'SELECT t.* FROM given, lda_topics(model) AS t',
  'a query, the same topics');

-- ---- relevance ----

SELECT same_rows('SELECT topic, rank, term, probability FROM given, lda_relevance(model, 1)',
  'SELECT t.* FROM given, lda_topics(model) AS t', 'lambda = 1: by probability');
SELECT never('SELECT lambda, topic, rank, term, NOT near(relevance, lambda * ln(r.probability)
    + (1 - lambda) * ln(r.probability / p)) AS wrong
  FROM given, (VALUES (0::float8), (0.3), (1)) AS l(lambda), lda_relevance(model, lambda, 9) AS r
  JOIN (SELECT term, sum(weight * probability) AS p FROM given, lda_topics(model, 9)
    JOIN lda_topic_weights((SELECT model FROM given)) USING (topic) GROUP BY term) AS m
  USING (term)', 'relevance is what it says');
SELECT never('SELECT topic, ordered <> terms AS wrong FROM (SELECT topic,
    array_agg(term ORDER BY rank) AS terms, array_agg(term ORDER BY relevance DESC) AS ordered
  FROM given, lda_relevance(model, 0.3) GROUP BY topic) AS t', 'and the order is by it');
SELECT is(complaint(format('SELECT lda_relevance(model, %L) FROM given', lambda)),
  format('22023 lambda is %s, but must be from 0 to 1', lambda), 'lambda ' || lambda)
FROM unnest('{-0.1,1.5,NaN}'::text[]) AS lambda;

-- ---- weights ----

SELECT never('SELECT way, abs(sum(weight) - 1) > 1e-12 OR min(alpha) <= 0 OR min(eta) <= 0
    AND way <> ''em'' OR array_agg(weight ORDER BY topic) <> array_agg(weight ORDER BY weight
    DESC) AS wrong FROM models, lda_topic_weights(model) GROUP BY way',
  'weights are shares, the largest first');
SELECT never('SELECT way, topic, NOT near(w.effective_terms, e.terms) AS wrong
  FROM models, lda_topic_weights(model) AS w JOIN LATERAL (SELECT topic,
    exp(-sum(probability * ln(nullif(probability, 0)))) AS terms FROM lda_topics(model, 9)
    GROUP BY topic) AS e USING (topic)', 'effective terms are exp of the entropy');

CREATE TABLE alike AS SELECT lda_fit(words, same, '{"prior": {"alpha": 0.5}}') AS model
FROM shopping, (SELECT jsonb_set(model::jsonb, '{topics,1}', model::jsonb #> '{topics,0}')
  ::bayes_model AS same FROM given) AS s;
SELECT is((array_agg(topic), near(min(weight), 0.5), near(max(weight), 0.5),
    near(min(effective_terms), max(effective_terms))), ('{1,2}'::int[], true, true, true),
  'topics that are equal have equal weights') FROM alike, lda_topic_weights(model);
SELECT is((lda_predict(model, '{saw}'::text[]), lda_proportions(model, '{saw}'::text[])),
  (1, '{0.5,0.5}'::float8[]), 'and the first of them is predicted') FROM alike;

-- ---- the posterior ----

SELECT never('SELECT way, topic, term, NOT near(lambda / sum(lambda) OVER (PARTITION BY way,
    topic), probability) AS wrong
  FROM models, lda_posterior(model) AS p JOIN lda_topics(model, 9) AS t USING (topic, term)
  WHERE way IN (''vi'', ''svi'')', 'probabilities are the means of the posterior');
SELECT is((SELECT near(sum(lambda), (SELECT sum(cardinality(words)) FROM shopping)
  + 18 * max(eta)) FROM given, lda_posterior(model) JOIN lda_topic_weights((SELECT model
  FROM given)) USING (topic)), true, 'every token is in it once, and the prior');
SELECT is(complaint(format('SELECT lda_posterior(model) FROM models WHERE way = %L', way)),
  format('22023 model fitted by %s has no posterior in closed form', way), way)
FROM unnest('{em,cvb0,gibbs,collapsed}'::text[]) AS way;

-- ---- documents ----

SELECT never('SELECT way, id, NOT (near((SELECT sum(p) FROM unnest(p) AS p), 1)
    AND cardinality(p) = 2 AND (SELECT bool_and(p > 0) FROM unnest(p) AS p)) AS wrong
  FROM (SELECT way, id, lda_proportions(model, words) AS p FROM models, shopping) AS s',
  'proportions sum to 1');
SELECT never('SELECT way, id, NOT ((SELECT bool_and(sd > 0 AND sd * sd <= p * (1 - p))
    FROM unnest(p, sd) AS u(p, sd)) AND near(sd[1], sd[2])) AS wrong
  FROM (SELECT way, id, lda_proportions(model, words) AS p,
    (SELECT array_agg(sd ORDER BY topic) FROM lda_top_topics(model, words, 1000)) AS sd FROM models,
    shopping) AS s',
  'of two that sum to 1 deviations are equal');
SELECT never('SELECT way, id, lda_predict(model, words) <> CASE WHEN p[1] >= p[2] THEN 1
    ELSE 2 END AS wrong
  FROM (SELECT way, id, model, words, lda_proportions(model, words) AS p
    FROM models, shopping) AS s', 'the prediction is the largest');
SELECT never($$SELECT way, kind, share < 0.8 AS wrong FROM models, (VALUES ('pear'), ('saw'))
    AS v(kind), LATERAL (SELECT max(p) AS share FROM unnest(lda_proportions(model,
    array_fill(kind, '{40}'))) AS p) AS s$$, 'forty of a kind leave little doubt');
SELECT never($$SELECT way, (lda_proportions(model, '{pear,saw,pear}'::text[]) <>
      lda_proportions(model, '{"saw": 1, "pear": 2}'::jsonb)
    OR lda_proportions(model, '{pear,saw,pear}'::text[]) <>
      lda_proportions(model, 'pear:1,2 saw:7'::tsvector)
    OR lda_proportions(model, '{saw,pear,NULL,pear}'::text[]) <>
      lda_proportions(model, '{pear,pear,saw}'::text[])) AS wrong FROM models$$,
  'the kinds of documents are the same to the last bit, words in any order');
SELECT never($$SELECT way, lda_proportions(model, '{pear,saw,egg,pear}'::text[]) <>
      lda_proportions(model, '{pear,pear,saw}'::text[]) AS wrong FROM models$$,
  'an unknown term is no evidence');
SELECT never($$SELECT way, NOT near(lda_proportions(model, words), alpha, 1e-9) AS wrong
  FROM models, (VALUES ('{}'::text[]), ('{egg}')) AS v(words),
  LATERAL (SELECT array_agg(alpha / sum ORDER BY topic) AS alpha FROM lda_topic_weights(model),
    LATERAL (SELECT sum(alpha) FROM lda_topic_weights(model)) AS s) AS a
  WHERE way IN ('vi', 'svi', 'em', 'cvb0')$$,
  'without evidence they are those of the prior');
SELECT never($$SELECT way, NOT (near(lda_similarity(model, a, b), 1 - sqrt(0.5 * (
      SELECT sum((sqrt(p) - sqrt(q)) ^ 2) FROM unnest(lda_proportions(model, a),
        lda_proportions(model, b)) AS u(p, q))))
    AND lda_similarity(model, a, b) < 0.8 AND lda_similarity(model, a, a) = 1
    AND lda_similarity(model, b, a) = lda_similarity(model, a, b)) AS wrong
  FROM models, (VALUES ('{pear,plum,plum}'::text[], '{saw,nail,saw}'::text[])) AS v(a, b)$$,
  'similarity is 1 less the Hellinger distance');
SELECT never($$SELECT way, lda_similarity(model, 'saw:1,2 nail:3'::tsvector, '{"pear": 1}'::jsonb)
    <> lda_similarity(model, '{saw,nail,saw}'::text[], '{pear}'::varchar[])
    OR lda_predict(model, '{pear,pear}'::name[]) <> lda_predict(model, '{pear,pear}'::text[])
    AS wrong FROM models$$, 'documents of several types');
SELECT is((lda_proportions(NULL, '{a}'::text[]), lda_predict(model, NULL::jsonb),
  (SELECT array_agg(sd ORDER BY topic) FROM lda_top_topics(model, NULL::tsvector, 1000))),
  (NULL::float8[], NULL::int, NULL::float8[]), 'strict')
FROM given;
SELECT is(complaint($$SELECT lda_proportions(model, '{"saw": -1}'::jsonb) FROM given$$),
  '22023 count of term "saw" of the document is -1', 'a count that cannot be');
SELECT is(complaint($$SELECT lda_predict(m, '{a}'::text[]) FROM (SELECT gmm_fit(x, 1) AS m
  FROM faithful) AS f$$), '42804 model is of family gmm, expected lda', 'another family');
SELECT is(complaint($$SELECT gmm_predict(model, '{1}') FROM given$$),
  '42804 model is of family lda, expected gmm', 'and the other way round');

-- ---- how good a model is ----

-- Documents of even counts: half of the tokens of every term are observed, the others scored.
CREATE TABLE pairs AS SELECT id, words || words AS words, words AS half FROM shopping;
SELECT never('SELECT way, NOT near(perplexity, expected) AS wrong
  FROM (SELECT way, lda_perplexity(model, words, NULL) AS perplexity
    FROM models, pairs GROUP BY way) AS p
  JOIN (SELECT way, exp(-sum(ln(p)) / count(*)) AS expected
    FROM (SELECT way, id, n, sum(share * probability) AS p
      FROM (SELECT way, model, id, half, lda_proportions(model, half) AS shares
        FROM models, pairs) AS s, unnest(half) WITH ORDINALITY AS h(term, n),
        unnest(shares) WITH ORDINALITY AS u(share, topic)
        JOIN LATERAL (SELECT topic, term, probability FROM lda_topics(model, 9)) AS t
          USING (topic) WHERE t.term = h.term GROUP BY way, id, n) AS w GROUP BY way) AS e
  USING (way) WHERE way IN (''vi'', ''em'', ''svi'')', 'perplexity by document completion');
CREATE TABLE single AS SELECT lda_fit(words, 1) AS model FROM shopping;
SELECT is(near(lda_perplexity(model, words, '{"method": "left-to-right"}'), (SELECT
  exp(-sum(ln(probability)) / count(*)) FROM pairs, unnest(words) AS w JOIN lda_topics((SELECT model
  FROM single), 9) AS t ON term = w)), true, 'from left to right, of one topic')
FROM single, pairs;
SELECT never($$SELECT way, NOT (ratio BETWEEN 0.8 AND 1.25) AS wrong FROM (SELECT way,
    lda_perplexity(model, words, NULL) / lda_perplexity(model, words, '{"method": "left-to-right"}')
    AS ratio FROM models, pairs GROUP BY way) AS p$$, 'the estimators are about the same');
SELECT same(lda_perplexity(model, words, o), lda_perplexity(model, words, o ORDER BY id % 7, -id),
  'in any order: ' || o::text) FROM given, pairs, (VALUES ('{}'::jsonb),
  ('{"method": "left-to-right", "particles": 5, "seed": 3}')) AS v(o) GROUP BY o;
SELECT is((lda_perplexity(model, words, NULL), lda_perplexity(model, NULL::jsonb, NULL),
  lda_perplexity(model,
  '{egg}'::text[], NULL)), (NULL::float8, NULL::float8, NULL::float8), 'no tokens, no perplexity')
FROM given, (VALUES ('{}'::text[])) AS v(words);
SELECT is(complaint(statement), said, statement) FROM (VALUES
  ('SELECT lda_perplexity(NULL, words, NULL) FROM pairs', '22004 model must not be NULL'),
  ('SELECT lda_perplexity(model, words, NULL) FROM pairs, models',
   '22023 model must be the same for all rows of one fit'),
  ('SELECT lda_perplexity(model, words, ''{"method": "right"}'') FROM pairs, given',
   '22023 option "method" is "right", but must be one of completion, left-to-right'),
  ('SELECT lda_perplexity(model, words, ''{"particles": 3}'') FROM pairs, given',
   '22023 option "particles" does not apply to method completion'),
  ('SELECT lda_perplexity(model, ''{"saw": 0.5}''::jsonb, ''{"method": "left-to-right"}'')
    FROM given', '22023 count of term "saw" of document 1 is 0.5, which is not a whole number'),
  ('SELECT lda_perplexity(model, ''{"saw": 1e9}''::jsonb, ''{"method": "left-to-right"}'')
    FROM given',
    '54000 a document has 1000000000 tokens, too many for the left-to-right estimator'))
  AS v(statement, said);
SELECT never($$SELECT topic, NOT (near(c.umass, e.umass) AND near(c.npmi, e.npmi)) AS wrong
  FROM given, lda_coherence('SELECT id, words FROM shopping', model, 4) AS c
  JOIN (SELECT topic, sum(ln((joint + 1.0) / upper)) AS umass, avg(CASE WHEN joint = 0 THEN -1
      ELSE ln(joint * 90.0 / (upper * lower)) / -ln(joint / 90.0) END) AS npmi
    FROM (SELECT a.topic, count(*) FILTER (WHERE a.term = ANY (words) AND b.term = ANY (words))
        AS joint, count(*) FILTER (WHERE a.term = ANY (words)) AS upper,
        count(*) FILTER (WHERE b.term = ANY (words)) AS lower
      FROM given, lda_topics(model, 4) AS a JOIN lda_topics((SELECT model FROM given), 4) AS b
        ON a.topic = b.topic AND a.rank < b.rank, shopping GROUP BY a.topic, a.rank, b.rank) AS p
    GROUP BY topic) AS e USING (topic)$$, 'coherence');
SELECT is(complaint('SELECT lda_coherence(''SELECT words FROM shopping'', model, 1) FROM given'),
  '22023 top is 1, the number of terms must be from 2 to 1000', 'of two terms at least');
SELECT is((array_agg(s.k), bool_and(i.components = s.k AND i.rows = 81 AND s.tokens > 20
    AND s.converged), min(perplexity) FILTER (WHERE s.k = 2) < min(perplexity)
    FILTER (WHERE s.k = 1)), ('{1,2,4}'::int[], true, true),
  'two kinds are predicted by two topics')
FROM lda_select('SELECT words FROM shopping', '{1,2,4}', '{"models": true}') AS s,
  bayes_info(s.model) AS i;
SELECT is(complaint($$SELECT lda_select('SELECT words FROM shopping LIMIT 9', '{2}')$$),
  '22023 there are 9 documents, too few to choose k', 'ten at least');
SELECT is(complaint($$SELECT lda_select('SELECT words FROM shopping', '{2,0}')$$),
  '22023 k is 0, but must be a whole number from 1 to 10000', 'every k is checked before');

-- ---- groups, starts, updates ----

SELECT same_rows('SELECT id % 2, timeless(lda_fit(words, 2)) FROM shopping GROUP BY 1 ORDER BY 1',
  'SELECT h, timeless((SELECT lda_fit(words, 2) FROM shopping WHERE id % 2 = h))
   FROM generate_series(0, 1) AS h', 'a model for every group');
SELECT is(complaint('SELECT lda_fit(words, 2) OVER () FROM shopping'),
  '0A000 aggregate function lda_fit("any",integer) does not support use as a window function',
  'no window function');
-- the topics of the model, the other way round
CREATE TABLE turned AS SELECT lda_fit(words, 2, jsonb_build_object('prior',
  jsonb_build_object('terms', jsonb_build_array(CASE WHEN first = 'pear' THEN '{"saw": 50}'
  ELSE '{"pear": 50}' END::jsonb, NULL)))) AS model
FROM shopping, (SELECT CASE WHEN (SELECT count(*) FROM given, lda_topics(model, 4)
  WHERE topic = 1 AND term IN ('apple', 'pear', 'plum', 'quince')) = 4 THEN 'pear' ELSE 'saw' END
  AS first) AS f;
SELECT never('SELECT g.topic, overlap < 3 AS wrong FROM (SELECT 3 - g.topic AS topic,
    count(*) AS overlap FROM given, turned, lda_topics(given.model, 4) AS g
    JOIN lda_topics(turned.model, 4) AS t ON t.term = g.term AND t.topic = 3 - g.topic
    GROUP BY g.topic) AS g', 'seeded topics have the numbers of their seeds');
SELECT never('SELECT t.topic, overlap < 3 AS wrong FROM (SELECT t.topic, count(*) AS overlap
    FROM turned, (SELECT lda_fit(words, model) AS again FROM shopping, turned) AS f,
    lda_topics(model, 4) AS t JOIN lda_topics(again, 4) AS a USING (topic, term)
    GROUP BY t.topic) AS t', 'a start gives the numbers of the topics');
SELECT is((SELECT count(DISTINCT restart) FROM bayes_trace(m) AS t
  WHERE t.objective < i.objective + 1e-6), 3::bigint, 'fresh restarts beside it: the best counts')
FROM (SELECT lda_fit(words, model, '{"restarts": 3}') AS m FROM shopping, turned) AS f,
  bayes_info(m) AS i;
SELECT is(complaint('SELECT lda_update(words, model, ''{"restarts": 2}'') FROM shopping, turned'),
  '22023 option "restarts" does not apply to an update by method vi', 'but not in an update');
CREATE TABLE updated AS SELECT lda_update(words, model) AS model
FROM turned, (VALUES ('{pear,plum,kiwi,kiwi}'::text[]), ('{saw,drill,nail,drill}'), (NULL))
  AS v(words);
SELECT is((i.rows, i.skipped, i.dimension, i.method), (2::bigint, 1::bigint, 11, 'vi'::text),
  'an update tells of the new documents, and has their terms') FROM updated, bayes_info(model) AS i;
SELECT ok((SELECT sum(lambda) FROM updated, lda_posterior(model)) BETWEEN 7.99 + before
  AND 8.01 + before + 4 * (SELECT max(eta) FROM turned, lda_topic_weights(model)),
  'tokens are added to the posterior')
FROM (SELECT sum(lambda) AS before FROM turned, lda_posterior(model)) AS b;
SELECT is((SELECT array_agg(DISTINCT t.topic) FROM updated, lda_topics(model, 5) AS t
  WHERE term IN ('kiwi', 'pear')), (SELECT array_agg(DISTINCT t.topic) FROM turned,
  lda_topics(model, 4) AS t WHERE term = 'pear'), 'a new fruit is among the fruit');
SELECT is(complaint(format('SELECT lda_update(words, model) FROM shopping, models
  WHERE way = %L', way)), '22023 this model cannot be updated: it was fitted by method '
  || way, way) FROM unnest('{em,cvb0,gibbs,collapsed}'::text[]) AS way;
SELECT is(complaint('SELECT lda_fit(words, m) FROM shopping, (SELECT gmm_fit(x, 2) AS m
  FROM faithful) AS f'), '42804 model is of family gmm, expected lda', 'a start of another family');
SELECT is((i.dimension, i.components), (9, 2), 'terms of a start stay, those of documents come')
FROM (SELECT lda_fit(ARRAY['saw', 'pear'], model) AS m FROM given) AS f, bayes_info(m) AS i;

-- ---- terms of probability 0 ----

CREATE TABLE unread AS SELECT lda_fit(array_remove(words, 'nail'), model) AS model
FROM shopping, models WHERE way = 'em';
SELECT is((count(*), sum(probability)), (2::bigint, 0::float8),
  'after em a term that no document of the fit had')
FROM unread, lda_topics(model, 9) WHERE term = 'nail';
SELECT is((lda_proportions(model, '{saw,nail,nail}'::text[]), (SELECT array_agg(sd ORDER BY topic)
  FROM lda_top_topics(model,
    '{"saw": 1, "nail": 9}'::jsonb, 1000)), lda_predict(model, 'nail'::tsvector),
    lda_similarity(model, '{saw,nail}'::text[], '{saw}'::text[])),
  (lda_proportions(model, '{saw}'::text[]), (SELECT array_agg(sd ORDER BY topic)
  FROM lda_top_topics(model, '{"saw": 1}'::jsonb, 1000)),
    lda_predict(model, '{}'::text[]), 1::float8), 'is no evidence') FROM unread;
SELECT never($$SELECT how, perplexity = 'Infinity' OR perplexity <= of_others AS wrong
  FROM (SELECT how, lda_perplexity(model, words, how) AS perplexity,
      lda_perplexity(model, array_remove(words, 'nail'), how) AS of_others
    FROM unread, pairs, (VALUES ('{}'::jsonb), ('{"method": "left-to-right"}')) AS v(how)
    GROUP BY how) AS p$$, 'and is predicted as one that the model does not know');
SELECT ok(lda_perplexity(model, '{nail,nail}'::text[], NULL) = lda_perplexity(model,
  '{egg,egg}'::text[], NULL),
  'alone it is as hard to predict as any other') FROM unread;
SELECT is((array_agg(k), max(perplexity) < 'Infinity', min(tokens) = max(tokens)),
  ('{1,2}'::int[], true, true), 'terms of held-out documents only count for every k')
FROM lda_select('SELECT words || (''w'' || id) FROM shopping', '{1,2}', '{"method": "em"}');

-- ---- the edges ----

SELECT never('SELECT what, way, (SELECT bool_or(probability < 0 OR probability > 1
    OR probability = ''NaN'') IS NOT FALSE FROM lda_topics(m)) AS wrong
  FROM (SELECT what, way, lda_fit(x, k, jsonb_build_object(''method'', way) || CASE
    WHEN way IN (''gibbs'', ''collapsed'') THEN ''{"draws": 8, "chains": 1}''::jsonb
    ELSE ''{"max_iter": 20, "restarts": 1}'' END) AS m
  FROM (VALUES (''one document'', 2, ''{"a": 3, "b": 1}''::jsonb), (''one term'', 3, ''{"a": 2}''),
    (''more topics than terms'', 7, ''{"a": 1, "b": 2}''), (''more topics than terms'', 7, ''{}''),
    (''large counts'', 2, ''{"a": 1e5, "b": 1}''), (''large counts'', 2, ''{"b": 3}''))
    AS v(what, k, x), unnest(''{vi,em,svi,cvb0,gibbs,collapsed}''::text[]) AS way
  GROUP BY what, way, k) AS f', 'what is hardly a corpus');
SELECT never('SELECT way, (SELECT bool_or(probability = ''NaN'') IS NOT FALSE
    FROM lda_topics(m)) AS wrong FROM (SELECT way, lda_fit(x, 2, jsonb_build_object(''method'',
    way, ''restarts'', 1)) AS m FROM (VALUES (''{"a": 1e9, "b": 0.25}''::jsonb),
    (''{"b": 1e15, "c": 1e-300}'')) AS v(x), unnest(''{vi,em,svi,cvb0}''::text[]) AS way
    GROUP BY way) AS f',
  'counts that are huge, and tiny');

SELECT * FROM finish();
