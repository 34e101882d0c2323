-- Hidden Markov models: what fits say in every form, on real data; models stored, written and read;
-- and the sequences that a model makes.
SELECT plan(56);
\ir ../lib/hmm.sql

SELECT is((SELECT count(*) FROM fits WHERE model IS NOT NULL), 60::bigint,
  'everything is fitted by every method');
-- How many sequences and steps.
CREATE TABLE sizes AS SELECT 'letters' AS data, count(*) AS sequences, sum(cardinality(x)) AS steps,
  1 AS elements FROM letters UNION ALL SELECT unnest('{words,counts}'::text[]), count(*),
  sum(cardinality(x)), 1 FROM words
  UNION ALL SELECT unnest('{waiting,exponential,long}'::text[]), count(*), sum(cardinality(long)), 1
    FROM eruptions UNION ALL SELECT unnest('{duo full,duo diagonal,duo spherical,duo '
    'tied,mixed}'::text[]), count(*), sum(cardinality(long)), 2 FROM eruptions
    UNION ALL SELECT 'returns', 1, 1859, 4 FROM returns;
SELECT never($$SELECT data, f.method, (i.family, i.method, i.rows, i.skipped, i.dimension,
  i.seed) IS DISTINCT FROM ('hmm', f.method, sequences, 0::bigint, elements, 1::bigint)
  OR i.components <> CASE WHEN data LIKE 'duo%' OR data = 'words' THEN 3 ELSE 2 END AS wrong
  FROM fits f JOIN sizes USING (data), bayes_info(model) i$$, 'bayes_info tells what was fitted');
-- known: there are standard deviations.
CREATE VIEW known_fits AS SELECT *, method NOT IN ('em', 'map')
  AND NOT model::jsonb ? 'told_apart' AS known FROM fits;
CREATE TABLE states AS SELECT data, method, known, s.* FROM known_fits, hmm_states(model) s;
CREATE TABLE transitions AS SELECT data, method, known, t.* FROM known_fits,
  hmm_transitions(model) t;
CREATE TABLE emissions AS SELECT data, method, known, e.* FROM known_fits, hmm_emissions(model) e;
SELECT never($$SELECT data, method, NOT near(sum(initial), 1) OR NOT near(sum(visits), steps, 1e-6)
  OR NOT near(sum(stationary), 1) OR max(state) <> count(*) OR min(state) <> 1 AS wrong
  FROM states s JOIN sizes USING (data) GROUP BY data, method, steps$$,
  'states: probabilities sum to 1, visits to the steps');
SELECT never($$SELECT a.data, a.method, b.visits > a.visits + 1e-9 AS wrong
  FROM states a JOIN states b USING (data, method) WHERE b.state = a.state + 1$$,
  'by descending visits');
SELECT never($$SELECT data, method, from_state, NOT near(sum(probability), 1)
  OR min(probability) < 0 AS wrong FROM transitions GROUP BY 1, 2, 3$$, 'transitions sum to 1');
SELECT never($$SELECT data, method, NOT near(sum(count), steps - sequences, 1e-6) AS wrong
  FROM transitions t JOIN sizes USING (data) GROUP BY 1, 2, steps, sequences$$,
  'and their counts to the steps after the first ones');
SELECT never($$SELECT data, method, s.state, NOT near(dwell, 1 / (1 - probability), 1e-6) AS wrong
  FROM states s JOIN transitions t USING (data, method) WHERE from_state = state
  AND to_state = state$$, 'dwell is the mean of a geometric distribution');
SELECT never($$SELECT data, method, to_state, NOT near(sum(s.stationary * probability),
  n.stationary) AS wrong FROM states s JOIN transitions t USING (data, method) JOIN states n
  USING (data, method) WHERE s.state = from_state AND n.state = to_state
  GROUP BY 1, 2, 3, n.stationary$$, 'stationary stays what it is in a step');
SELECT never($$SELECT data, method, state, NOT near(sum(probability), 1) OR count(DISTINCT symbol)
  <> count(*) OR min(probability) < 0 AS wrong FROM emissions WHERE data IN ('letters', 'words')
  GROUP BY 1, 2, 3$$, 'probabilities of symbols sum to 1');
SELECT is((SELECT count(DISTINCT symbol) FROM emissions WHERE data = 'letters'),
  (SELECT count(DISTINCT c) FROM letters, unnest(x) c), 'all symbols are there');
SELECT never($$SELECT data, method, (mean IS NULL) <> (data IN ('letters', 'words', 'long')
  OR (data = 'mixed' AND element = 2)) OR (mean IS NULL) <> (covariance IS NULL)
  OR (symbol IS NULL) <> (mean IS NOT NULL) OR (element IS NULL) <> (data LIKE 'duo%'
  OR data IN ('returns', 'waiting')) AS wrong FROM emissions$$,
  'numbers have means and covariances, names probabilities');
SELECT never($$SELECT data, method, state, (array_length(mean, 1) <> elements
  OR array_dims(covariance) <> format('[1:%s][1:%1$s]', elements)
  OR covariance[1][2] <> covariance[2][1] OR (data IN ('duo diagonal', 'duo spherical'))
  <> (covariance[1][2] = 0)) AS wrong FROM emissions JOIN sizes USING (data)
  WHERE elements > 1 AND element IS NULL$$, 'covariances have their shape');
SELECT never($$SELECT a.method, a.covariance <> b.covariance AS wrong
  FROM emissions a JOIN emissions b USING (data, method) WHERE data = 'duo tied'$$,
  'tied ones are one');
SELECT never($$SELECT data, method, (initial_sd IS NOT NULL) <> known
  OR (initial_alpha IS NULL) <> (method NOT IN ('vi', 'svi')) AS wrong FROM states s$$,
  'standard deviations where there is a posterior');
SELECT never($$SELECT data, method, (sd IS NOT NULL) <> known
  OR (alpha IS NULL) <> (method NOT IN ('vi', 'svi')) AS wrong FROM transitions t$$,
  'of transitions too');
SELECT never($$SELECT data, method, (sd IS NOT NULL) <> known AS wrong
  FROM emissions WHERE symbol IS NOT NULL$$, 'and of symbols');
SELECT never($$SELECT data, method, from_state, to_state, NOT near(probability, alpha / a)
  OR NOT CASE method WHEN 'vi' THEN sd / sqrt(alpha / a * (1 - alpha / a) / (a + 1))
    BETWEEN 1 - 1e-9 AND 10 ELSE near(sd, sqrt(alpha / a * (1 - alpha / a) / (a + 1))) END AS wrong
  FROM (SELECT *, sum(alpha) OVER (PARTITION BY data, method, from_state) AS a FROM transitions
  WHERE alpha IS NOT NULL AND known) t$$,
  'the posterior of a row is a Dirichlet, corrected by linear response');
SELECT never($$SELECT data, method, NOT near(sum(alpha - 1), steps - sequences, 1e-6) AS wrong
  FROM transitions JOIN sizes USING (data) WHERE method = 'vi' GROUP BY 1, 2, steps, sequences$$,
  'whose parameters count the prior and the steps');
SELECT never($$SELECT data, state, symbol, NOT near(e.probability,
  p.value[1] / (SELECT sum(q.value[1]) FROM hmm_posterior(model) q WHERE q.state = p.state
  AND q.parameter = p.parameter), 1e-9) AS wrong
  FROM fits, hmm_posterior(model) p JOIN hmm_emissions(model) e USING (state, symbol)
  WHERE method = 'vi' AND data = 'letters'$$, 'so is that of symbols');
SELECT never($$SELECT data, f.method, NOT near(i.log_likelihood, i.objective, 1e-9) AS wrong
  FROM fits f, bayes_info(model) i WHERE f.method = 'em'$$,
  'em: the objective is the log likelihood');
SELECT never($$SELECT data, f.method, objective < before - 1e-7 * abs(before) AS wrong
  FROM (SELECT data, method, restart, iteration, objective, lag(objective) OVER (PARTITION BY data,
  method, restart ORDER BY iteration) AS before FROM fits, bayes_trace(model)
  WHERE method IN ('em', 'map', 'vi')) f WHERE before IS NOT NULL$$, 'objectives rise');
SELECT never($$SELECT data, f.method, objective <> (SELECT max(last)
  FROM (SELECT DISTINCT ON (restart) objective AS last FROM bayes_trace(model) ORDER BY restart,
  iteration DESC) t) AS wrong FROM fits f, bayes_info(model) i WHERE f.method <> 'gibbs'$$,
  'the best restart counts');
SELECT never($$SELECT data, count(*) <> 60 OR array_agg(DISTINCT quantity ORDER BY quantity)
  <> '{log_joint,log_likelihood,states}' OR max(chain) <> 2 OR max(draw) <> 10
  OR count(*) FILTER (WHERE quantity = 'states' AND value NOT IN (1, 2, 3)) > 0 AS wrong
  FROM fits, bayes_draws(model) d WHERE method = 'gibbs' GROUP BY data$$, 'draws of gibbs');
SELECT never($$SELECT data, i.objective <> (SELECT max(value) FROM bayes_draws(model)
  WHERE quantity = 'log_joint') AS wrong FROM fits, bayes_info(model) i
  WHERE fits.method = 'gibbs'$$, 'its objective is the best of them');
SELECT never($$SELECT data, f.method, NOT near(log_likelihood,
  (SELECT sum(hmm_log_likelihood(model, x)) FROM letters), 1e-9) AS wrong
  FROM fits f, bayes_info(model) i WHERE data = 'letters' AND f.method <> 'gibbs'$$,
  'the log likelihood is that of the sequences');
SELECT never($$SELECT data, f.method, NOT near(log_likelihood, (SELECT hmm_log_likelihood(model, x)
  FROM returns), 1e-9) AS wrong FROM fits f, bayes_info(model) i WHERE data = 'returns'
  AND f.method IN ('em', 'map', 'gibbs')$$, 'of vectors too');
-- What is known of these data.
SELECT is((SELECT string_agg(symbol, '' ORDER BY symbol)
  FROM (SELECT DISTINCT ON (symbol) symbol, state
  FROM (SELECT hmm_fit(x, 2, '{"method": "em", "restarts": 3}') AS m FROM letters) f,
  hmm_emissions(m) ORDER BY symbol, probability DESC) s WHERE state = 2 AND symbol <> 'q'),
  '_aeiou', 'two states of letters are vowels and consonants (Cave and Neuwirth 1980)');
SELECT ok(min(probability) FILTER (WHERE from_state <> to_state) > 0.7
  AND near(max(probability), 1, 1e-3), 'after a short eruption comes a long one (Zucchini and '
  'MacDonald 2009, section 10.2)') FROM (SELECT hmm_fit(long, 2, '{"method": "em"}') AS m
  FROM (SELECT array_agg(duration > 3 ORDER BY t) AS long FROM geyser) g) f, hmm_transitions(m);
SELECT ok((SELECT max(covariance[1][1]) > 2.5 * min(covariance[1][1]) FROM hmm_emissions(m))
  AND (SELECT min(dwell) > 5 FROM hmm_states(m)),
  'markets are calm or nervous, for a week and more')
  FROM (SELECT hmm_fit(x, 2, '{"method": "em"}') AS m FROM returns) f;

-- ---- stored, written, read ----

SELECT never($$SELECT data, method, model::text::bayes_model::text <> model::text
  OR _bayes_model_send(model::text::bayes_model) <> _bayes_model_send(model)
  OR _bayes_model_send((model::jsonb)::bayes_model) <> _bayes_model_send(model) AS wrong
  FROM fits$$,
  'text and back, to the last bit');
SELECT never($$SELECT data, method, (SELECT array_agg(s::text) FROM hmm_states(model) s)
  <> (SELECT array_agg(s::text) FROM hmm_states(back) s) OR (SELECT array_agg(s::text)
  FROM hmm_transitions(model) s) <> (SELECT array_agg(s::text) FROM hmm_transitions(back) s)
  OR (SELECT array_agg(s::text) FROM hmm_emissions(model) s) <> (SELECT array_agg(s::text)
  FROM hmm_emissions(back) s) AS wrong FROM fits,
  LATERAL (SELECT model::text::bayes_model AS back OFFSET 0) b$$,
  'a model read back says the same');
SELECT never($$SELECT data, f.method, bits(model)
  <> (SELECT bits(hmm_fit(x, 2, i.options ORDER BY page)) FROM letters) AS wrong
  FROM fits f, bayes_info(model) i WHERE f.method <> 'gibbs' AND data = 'letters'$$,
  'the options of bayes_info make the same model: letters');
SELECT never($$SELECT data, f.method, bits(model)
  <> (SELECT bits(hmm_fit(duo, 3, i.options ORDER BY day)) FROM eruptions) AS wrong
  FROM fits f, bayes_info(model) i WHERE data IN ('duo full', 'duo tied')$$, 'vectors');
SELECT never($$SELECT data, f.method, bits(model)
  <> (SELECT bits(hmm_fit(mixed, 2, i.options ORDER BY day)) FROM eruptions) AS wrong
  FROM fits f, bayes_info(model) i WHERE data = 'mixed'$$, 'mixed');
SELECT never($$SELECT data, f.method, bits(model)
  <> (SELECT bits(hmm_fit(x, i.components, i.options ORDER BY page)) FROM words) AS wrong
  FROM fits f, bayes_info(model) i WHERE data IN ('words', 'counts')$$, 'whole numbers');
CREATE TABLE one_thread AS SELECT data, method, bits(model) AS b FROM fits;
SET pg_bayes.threads = 2;
SELECT never($$SELECT method, b <> (SELECT bits(hmm_fit(x, 2, o ORDER BY page))
  FROM letters) AS wrong FROM one_thread JOIN methods USING (method) WHERE data = 'letters'$$,
  'two threads make the same as one');
RESET pg_bayes.threads;

-- ---- sequences that a model makes ----

SELECT results_eq($$SELECT count(*), min(t), max(t), count(DISTINCT t), count(x)
  FROM tiny, hmm_sample(m, 1000, 1)$$, 'VALUES (1000::bigint, 1, 1000, 1000::bigint, 0::bigint)',
  'as many steps as were asked for');
SELECT same((SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 7) s),
  (SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 7) s),
  'the same seed, the same sequence');
SELECT isnt((SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 7) s),
  (SELECT array_agg(s)::text FROM tiny, hmm_sample(m, 50, 8) s), 'another, another');
SELECT is_empty('SELECT * FROM tiny, hmm_sample(m, 0, 7)', 'no steps');
-- 100,000 steps: within 6 standard errors.
CREATE TABLE made AS SELECT t, state, lag(state) OVER (ORDER BY t) AS before, symbol
  FROM tiny, hmm_sample(m, 100000, 3);
SELECT never($$SELECT from_state, to_state, abs(p - probability) > 6 * sqrt(0.25 / n) AS wrong
  FROM tiny, hmm_transitions(m), LATERAL (SELECT avg((state = to_state)::int) AS p, count(*) AS n
  FROM made WHERE before = from_state) s$$, 'transitions as the model has them');
SELECT never($$SELECT e.state, e.symbol, abs(p - probability) > 6 * sqrt(0.25 / n) AS wrong
  FROM tiny, hmm_emissions(m) e, LATERAL (SELECT avg((symbol = e.symbol)::int) AS p, count(*) AS n
  FROM made WHERE made.state = e.state) s$$, 'and symbols');
SELECT never($$SELECT e.state, (abs(a - mean[1]) > 6 * sqrt(v / n)
  OR NOT near(v, covariance[1][1], 8 * sqrt(2.0 / n))
  OR NOT near(c, covariance[1][2], 0.1 + abs(c) / 5)) AS wrong FROM fits, hmm_emissions(model) e,
  LATERAL (SELECT avg(x[1]) AS a, avg(x[2]) AS b, covar_pop(x[1], x[2]) AS c, var_pop(x[1]) AS v,
  count(*) AS n FROM hmm_sample(model, 20000, 1) s WHERE s.state = e.state) s
  WHERE data = 'duo full' AND method = 'em'$$, 'vectors have their means and covariances');
SELECT never($$SELECT data, method, t, (symbol IS NULL) <> (data NOT IN ('letters', 'words'))
  OR (x IS NULL) <> (data IN ('letters', 'words')) OR (data = 'long' AND x[1] NOT IN (0, 1))
  OR (data = 'counts' AND x[1] <> floor(x[1])) OR (data = 'mixed' AND x[2] NOT IN (0, 1))
  OR (data = 'exponential' AND x[1] < 0) AS wrong FROM fits, hmm_sample(model, 300, 1)$$,
  'of every kind');
SELECT never($$SELECT t, state < before AS wrong FROM stairs,
  LATERAL (SELECT t, state, lag(state) OVER (ORDER BY t) AS before FROM hmm_sample(m, 500, 2)) s
  WHERE before IS NOT NULL$$, 'what cannot be is not made');
SELECT is((SELECT count(*) FROM fits, LATERAL (SELECT array_agg(symbol ORDER BY t) AS x
  FROM hmm_sample(model, 500, 1)) s WHERE data = 'letters' AND hmm_log_likelihood(model, x) < 0),
  5::bigint, 'a model knows what it has made');

-- ---- linear response ----

CREATE TABLE narrow AS SELECT '{"linear_response": false}'::jsonb AS n;
CREATE TABLE responses AS SELECT data, hmm_fit(x, 2, o || n) AS plain,
    hmm_fit(x, 2, o || '{"linear_response": true}') AS model
  FROM (SELECT 'letters', string_to_array(string_agg(left(array_to_string(x, ''), 200), ''
      ORDER BY page), NULL), '{}'::jsonb FROM letters) AS l(data, x, o),
    narrow GROUP BY data
  UNION ALL SELECT 'mixed', hmm_fit(mixed, 2, o || n),
    hmm_fit(mixed, 2, o || '{"linear_response": true}')
  FROM narrow, eruptions, (VALUES ('{"emission": ["normal", "bernoulli"]}'::jsonb)) AS v(o)
  UNION ALL SELECT 'tied', hmm_fit(duo, 2, o || n),
    hmm_fit(duo, 2, o || '{"linear_response": true}')
  FROM narrow, eruptions,
    (VALUES ('{"covariance": "tied", "topology": "left-to-right"}'::jsonb)) AS v(o);
CREATE VIEW sds AS SELECT data, 'initial' AS what, state, 0 AS other, l.initial_sd AS sd,
    v.initial_sd AS mean_field
  FROM responses, hmm_states(model) AS l JOIN LATERAL hmm_states(plain) AS v USING (state)
  UNION ALL SELECT data, 'transition', from_state, to_state, l.sd, v.sd FROM responses,
    hmm_transitions(model) AS l
    JOIN LATERAL hmm_transitions(plain) AS v USING (from_state, to_state)
  UNION ALL SELECT data, 'emission', state, ascii(symbol), l.sd, v.sd FROM responses,
    hmm_emissions(model) AS l JOIN LATERAL hmm_emissions(plain) AS v USING (state, symbol)
    WHERE symbol IS NOT NULL;
SELECT never('SELECT *, sd IS NULL OR sd < 0.99 * mean_field OR sd > 10 * mean_field AS wrong '
  'FROM sds', 'linear response widens deviations');
SELECT never('SELECT data, max(sd / mean_field) < 1.1 AS wrong FROM sds WHERE mean_field > 0 '
  'GROUP BY data', 'more than a little');
SELECT never('SELECT data, (model::text::bayes_model)::text <> model::text AS wrong FROM responses',
  'text and back');
SELECT never($$SELECT data, plain::jsonb ? 'deviations' OR NOT model::jsonb ? 'deviations'
  OR model::jsonb->'options'->>'linear_response' <> 'true' AS wrong FROM responses$$,
  'stored where it was asked for');
SELECT throws_ok($$SELECT hmm_fit(x, 45, '{"linear_response": true}') FROM eruptions,
  LATERAL (SELECT waiting AS x) AS w$$, '54000', 'option "linear_response" takes posteriors of at '
  'most 2000 natural parameters, but that of this model has 2250', 'of moderate size');

-- ---- what reviews found ----

-- A chain that hardly ever leaves a state: shares 2 : 1, to the last digits; one that stays for
-- ever in either of two has none.
CREATE TABLE rare AS SELECT eps, hmm_fit(ARRAY['a', 'b'], 2, jsonb_build_object('method', 'em',
  'max_iter', 0, 'init', jsonb_build_object('transitions',
  jsonb_build_array(jsonb_build_array(1 - eps, eps), jsonb_build_array(2 * eps, 1 - 2 * eps)))))
  AS m FROM unnest('{0,1e-12,1e-15,0.3}'::float8[]) eps GROUP BY eps;
SELECT never($$SELECT eps, state, eps > 0 AND NOT near(stationary, CASE state WHEN 1 THEN 2.0
  ELSE 1.0 END / 3, 1e-9) OR NOT near(dwell, CASE WHEN eps = 0 THEN 'Infinity'
  ELSE 1 / (state * eps) END, 1e-9) OR (eps = 0) <> (stationary IS NULL) AS wrong
  FROM rare, hmm_states(m)$$, 'rare transitions keep their digits');
-- Symbols and starts do not depend on the order in which sequences come.
CREATE TABLE orders AS SELECT hmm_fit(x[1:500], 2, '{"restarts": 3}' ORDER BY page) AS there,
  hmm_fit(x[1:500], 2, '{"restarts": 3}' ORDER BY page DESC) AS back FROM letters;
SELECT same((SELECT there::jsonb->'symbols' FROM orders), (SELECT back::jsonb->'symbols'
  FROM orders), 'symbols stand in one order');
SELECT never($$SELECT a.state, symbol, NOT near(a.probability, b.probability, 1e-4) AS wrong
  FROM orders, hmm_emissions(there) a JOIN LATERAL hmm_emissions(back) b USING (state, symbol)$$,
  'and have the same probabilities');
-- Many short sequences: a sample has some 2000 steps.
SELECT is((hmm_fit(ARRAY[i % 2, 1, 0], 2, '{"method": "svi", "max_iter": '
  '1}')::jsonb->'options'->>'batch_size')::int, 667, 'samples grow where sequences are short')
  FROM generate_series(1, 5000) i;

-- Linear response may say a deviation that no probability can have: then it is the mean field's.
SELECT never($$SELECT t.from_state, t.to_state, NOT (t.sd ^ 2 <= probability * (1 - probability)
    AND near(t.sd, p.sd)) OR sd_method NOT IN ('linear response', 'mean field') AS wrong
  FROM (SELECT hmm_fit(s, 2, '{"linear_response": true}') AS m FROM (SELECT (
      '{1,0,1,0,0,1,1,1,1,1,1,0,0,0,1,1,0,0,1,0,0,0,0,1,'
      '0,0,0,1,1,1}')::int[]::bool[] AS s) AS v) AS f, hmm_transitions(m) AS t,
    bayes_parameters(m) AS p
  WHERE parameter = 'transition' AND component = from_state AND category = to_state$$,
  'deviations of transitions are possible');
SELECT * FROM finish();
