-- Hidden Markov models: every way to ask for what cannot be, and what is said about it. SQLSTATEs
-- as the comments of the functions promise; messages name sequence, step, element or key.
SELECT plan(237);
\ir ../lib/hmm_errors.sql

-- ---- arguments, sequences, weights, known states, models to start from ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT hmm_fit(x, 0) FROM words$q$, '22023 k is 0, but must be a whole number from 1 to '
    '1000'),
  ($q$SELECT hmm_fit(x, 1001) FROM words$q$, '22023 k is 1001, but must be a whole number from 1 '
    'to 1000'),
  ($q$SELECT hmm_fit(x, -1) FROM words$q$, '22023 k is -1, but must be a whole number from 1 to '
    '1000'),
  ($q$SELECT hmm_fit(x, NULL::int) FROM words$q$, '22004 k must not be NULL'),
  ($q$SELECT hmm_fit(x, NULL::bayes_model) FROM words$q$, '22004 start must not be NULL'),
  ($q$SELECT hmm_update(x, NULL) FROM words$q$, '22004 prior must not be NULL'),
  ($q$SELECT hmm_fit(x, id) FROM words$q$, '22023 k must be the same for all rows of one fit'),
  ($q$SELECT hmm_fit(x, 2, jsonb_build_object('seed', id)) FROM words$q$,
    '22023 options must be the same for all rows of one fit'),
  ($q$SELECT hmm_fit(CASE WHEN id > 3 THEN x END, 2, CASE id WHEN 2 THEN '{}'::jsonb
    ELSE '{"seed": 2}' END) FROM words$q$, '22023 options must be the same for all rows of one '
    'fit'),
  ($q$SELECT hmm_fit(x, 2, '{}', -1) FROM words$q$, '22023 weight of sequence 1 is -1'),
  ($q$SELECT hmm_fit(x, 2, '{}', CASE id WHEN 3 THEN 'NaN'::float8 ELSE 1 END) FROM words$q$,
    '22023 weight of sequence 3 is NaN'),
  ($q$SELECT hmm_fit(x, 2, '{}', CASE id WHEN 3 THEN 'Infinity'::float8 ELSE 1 END) FROM words$q$,
    '22023 weight of sequence 3 is Infinity'),
  ($q$SELECT hmm_fit(x, 2, '{}', CASE id WHEN 1 THEN NULL WHEN 4 THEN 1e200 ELSE 1 END)
    FROM words$q$, '22023 weight of sequence 4 is 1e+200'),
  ($q$SELECT hmm_fit(x, 2, '{}', 0) FROM words$q$, '22023 all weights are zero'),
  ($q$SELECT hmm_fit(x, 2, '{"on_error": "null"}', 0) FROM words$q$, 'no error'),
  ($q$SELECT hmm_fit(x, 2, '{"method": "gibbs"}', CASE WHEN id < 3 THEN 1 ELSE 2 END) FROM words$q$,
    '22023 method gibbs takes no weights, but the weight of sequence 3 is 2.0'),
  ($q$SELECT hmm_fit(x, 2, '{"method": "gibbs"}', CASE id WHEN 2 THEN NULL WHEN 5 THEN 0.5
    ELSE 1 END) FROM words$q$, '22023 method gibbs takes no weights, but the weight of sequence '
    '4 is 0.5'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY[1, 'Infinity', 2]::float8[] ELSE n END, 2)
    FROM words$q$, '22023 step 2 of sequence 4 is Infinity'),
  ($q$SELECT hmm_fit(CASE id WHEN 1 THEN NULL WHEN 2 THEN '{}'
    WHEN 4 THEN ARRAY[1, '-Infinity', 2]::float8[] ELSE n END, 2) FROM words$q$,
    '22023 step 2 of sequence 4 is -Infinity'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY[1, 2, 1e151] ELSE n END, 2) FROM words$q$,
    '22003 step 3 of sequence 4 is 1e+151, too large to compute with'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY[1, 2, NULL] ELSE n END, 2, '{"missing": "error"}')
    FROM words$q$, '22004 step 3 of sequence 4 is missing'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY['a', NULL] ELSE x END, 2, '{"missing": "error"}')
    FROM words$q$, '22004 step 2 of sequence 4 is missing'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{{1,2,3},{4,NULL,6}}' ELSE v END, 2,
    '{"missing": "error"}') FROM words$q$, '22004 element 2 of step 2 of sequence 4 is missing'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{{1,NULL,3},{4,NaN,6}}' ELSE v END, 2) FROM words$q$,
    '22023 element 2 of step 2 of sequence 4 is NaN'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{NULL,1,NaN}' ELSE n END, 2) FROM words$q$,
    '22023 step 3 of sequence 4 is NaN'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{NULL,1,NaN}' ELSE s::numeric[] END, 2,
    '{"emission": "categorical"}') FROM words$q$, '22023 step 3 of sequence 4 is NaN'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{{1,2,3},{4,Infinity,6}}' ELSE v END, 2) FROM words$q$,
    '22023 element 2 of step 2 of sequence 4 is Infinity'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{{1,2,3},{4,-1e300,6}}' ELSE v END, 2) FROM words$q$,
    '22003 element 2 of step 2 of sequence 4 is -1e+300, too large to compute with'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{{1,2},{4,6}}' ELSE v END, 2) FROM words$q$,
    '2202E sequence 4 is of vectors of 2 elements, but sequence 1 of vectors of 3 elements'),
  ($q$SELECT hmm_fit(CASE id WHEN 1 THEN NULL WHEN 4 THEN '{1,2,3}' ELSE v END, 2) FROM words$q$,
    '2202E sequence 4 is of single values, but sequence 2 of vectors of 3 elements'),
  ($q$SELECT hmm_fit(CASE id WHEN 1 THEN NULL WHEN 4 THEN '{{1}}' ELSE n END, 2) FROM words$q$,
    '2202E sequence 4 is of vectors of 1 element, but sequence 2 of single values'),
  ($q$SELECT hmm_fit(ARRAY[v], 2) FROM words$q$, '2202E sequence 1 is an array of 3 dimensions'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY[v] ELSE v END, 2) FROM words$q$,
    '2202E sequence 4 is an array of 3 dimensions'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY[x] ELSE x END, 2) FROM words$q$,
    '2202E sequence 4 is of vectors of 6 elements, but sequence 1 of single values'),
  ($q$SELECT hmm_fit(ARRAY[x], 2) FROM words$q$,
    '2202E sequence 1 is a two-dimensional array of names'),
  ($q$SELECT hmm_fit(ARRAY[array_fill(1.5, '{1601}')], 2) FROM words$q$,
    '54000 observations of sequence 1 have 1601 elements, but the limit is 1600'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{1,2.5}' ELSE s::float8[] END, 2,
    '{"emission": "poisson"}') FROM words$q$,
    '22023 step 2 of sequence 4 is 2.5, but must be a whole number from 0 to 2^53'),
  ($q$SELECT hmm_fit(CASE id WHEN 1 THEN NULL WHEN 2 THEN '{}' WHEN 4 THEN '{1,2.5}'
    ELSE s::float8[] END, 2, '{"emission": "poisson"}') FROM words$q$,
    '22023 step 2 of sequence 2 is 2.5, but must be a whole number from 0 to 2^53'),
  ($q$SELECT hmm_fit(CASE id WHEN 1 THEN NULL WHEN 4 THEN '{{1,2,0},{4,-1,0},{5,0.5,3}}' ELSE v END,
    2, '{"emission": ["normal", "normal", "bernoulli"]}') FROM words$q$,
    '22023 element 3 of step 3 of sequence 3 is 3.0, but must be 0 or 1'),
  ($q$SELECT hmm_fit(ARRAY(SELECT (id * 1000 + i)::text FROM generate_series(1, 1000) i), 1)
    FROM generate_series(1, 11) id$q$, '54000 sequences have more than 10000 distinct symbols'),
  ($q$SELECT hmm_fit(ARRAY(SELECT id * 1000 + i FROM generate_series(1, 1000) i), 1)
    FROM generate_series(1, 11) id$q$, '54000 sequences have more than 10000 distinct symbols'),
  ($q$SELECT hmm_fit(ARRAY[repeat('x', 10001)], 1)$q$,
    '54000 a symbol is 10001 bytes long, but the limit is 10000'),
  ($q$SELECT hmm_fit(ARRAY[NULL]::float8[], 1)$q$, '22023 all observations are missing'),
  ($q$SELECT hmm_fit(ARRAY[NULL]::float8[], 1, '{"on_error": "null"}')$q$, 'no error'),
  ($q$SELECT hmm_fit('{{NULL,NULL},{NULL,NULL}}'::float8[], 1)$q$,
    '22023 all observations are missing'),
  ($q$SELECT hmm_fit('{{NULL,1},{NULL,2}}'::float8[], 1)$q$,
    '22023 element 1 is missing in every row'),
  ($q$SELECT hmm_fit(x, s[1:3], 2) FROM words$q$,
    '2202E sequence 1 has 6 steps, but 3 known states'),
  ($q$SELECT hmm_fit(CASE id WHEN 1 THEN NULL ELSE x END, CASE id WHEN 4 THEN s || 1 ELSE s END, 2)
    FROM words$q$, '2202E sequence 4 has 6 steps, but 7 known states'),
  ($q$SELECT hmm_fit(x, '{}', 2) FROM words$q$, '2202E sequence 1 has 6 steps, but 0 known states'),
  ($q$SELECT hmm_fit(x, ARRAY[s], 2) FROM words$q$,
    '2202E states of sequence 1 are an array of 2 dimensions'),
  ($q$SELECT hmm_fit(x, CASE id WHEN 4 THEN '{1,2,1,3,1,1}' ELSE s END, 2) FROM words$q$,
    '22023 state of step 4 of sequence 4 is 3, but there are 2 states'),
  ($q$SELECT hmm_fit(x, CASE id WHEN 4 THEN '{1,2,1,-1,1,1}' ELSE s END, 2) FROM words$q$,
    '22023 state of step 4 of sequence 4 is -1, but there are 2 states'),
  ($q$SELECT hmm_fit(x, CASE id WHEN 4 THEN '{2,1,1,1,1,1}' ELSE '{1,1,1,1,2,2}'::int[] END, 2,
    '{"topology": "left-to-right"}') FROM words$q$,
    '22023 sequence 4 is impossible under the model'),
  ($q$SELECT hmm_fit(x, CASE id WHEN 4 THEN '{2,1,1,1,1,1}' ELSE '{1,1,1,1,2,2}'::int[] END, 2,
    '{"topology": "left-to-right", "on_error": "null"}') FROM words$q$, 'no error'),
  ($q$SELECT hmm_fit(x, s, NULL) FROM words$q$, '22004 k must not be NULL'),
  ($q$SELECT hmm_fit(x, (SELECT gmm FROM given)) FROM words$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_update(x, (SELECT gmm FROM given)) FROM words$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_update(x, (SELECT names FROM given)) FROM words$q$,
    '22023 this model has no posterior: it was fitted by method em'),
  ($q$SELECT hmm_update(x, (SELECT gibbs FROM given)) FROM words$q$,
    '22023 this model has no posterior: it was fitted by method gibbs'),
  ($q$SELECT hmm_update(x, (SELECT vi FROM given), '{"method": "em"}') FROM words$q$,
    '22023 option "method" is "em", but must be one of vi, svi'),
  ($q$SELECT hmm_update(x, (SELECT vi FROM given), '{"prior": {}}') FROM words$q$,
    '22023 option "prior" does not apply to an update by method vi with symbols'),
  ($q$SELECT hmm_update(x, (SELECT vi FROM given), '{"init": {}}') FROM words$q$,
    '22023 option "init" does not apply to an update by method vi with symbols'),
  ($q$SELECT hmm_update(x, (SELECT vi FROM given), '{"restarts": 3}') FROM words$q$,
    '22023 option "restarts" does not apply to an update by method vi with symbols'),
  ($q$SELECT hmm_fit(x, (SELECT vi FROM given), '{"topology": "ergodic"}') FROM words$q$,
    '22023 option "topology" does not apply to a fit that starts from a model by method vi with '
    'symbols'),
  ($q$SELECT hmm_fit(x, (SELECT vi FROM given), '{"emission": "categorical"}') FROM words$q$,
    '22023 option "emission" does not apply to a fit that starts from a model by method vi with '
    'symbols'),
  ($q$SELECT hmm_fit(x, CASE WHEN id > 3 THEN names ELSE vi END) FROM words, given$q$,
    '22023 start must be the same for all rows of one fit'),
  ($q$SELECT hmm_fit(n, (SELECT names FROM given)) FROM words$q$,
    '22023 the start model knows none of the symbols'),
  ($q$SELECT hmm_fit(x, (SELECT numbers FROM given)) FROM words$q$,
    '22023 observations are of type text, but must be numbers'),
  ($q$SELECT hmm_fit(v, (SELECT numbers FROM given)) FROM words$q$,
    '2202E sequence 1 is of vectors of 3 elements, but the model of single values'),
  ($q$SELECT hmm_fit(n, (SELECT vectors FROM given)) FROM words$q$,
    '2202E sequence 1 is of single values, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_fit(v, (SELECT names FROM given)) FROM words$q$,
    '2202E sequence 1 is a two-dimensional array of names'),
  ($q$SELECT hmm_fit('{{1,2}}'::float8[], (SELECT vectors FROM given)) FROM words$q$,
    '2202E sequence 1 is of vectors of 2 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_fit(ARRAY['no', 'what'], (SELECT names FROM given))$q$,
    '22023 the start model knows none of the symbols'),
  ($q$SELECT hmm_fit('{0.5}'::float8[], (SELECT booleans FROM given))$q$,
    '22023 step 1 of sequence 1 is 0.5, but must be 0 or 1'),
  ($q$SELECT hmm_fit('{1,2,-1}'::float8[], (SELECT counts FROM given))$q$,
    '22023 step 3 of sequence 1 is -1.0, but must be a whole number from 0 to 2^53'),
  ($q$SELECT hmm_fit('{7,8}'::float8[], (SELECT codes FROM given))$q$,
    '22023 the start model knows none of the symbols'),
  ($q$SELECT hmm_fit(ARRAY[array_fill(1.5, '{1600}'), array_fill(2.5, '{1600}')], 1000)$q$,
    '54000 a model of 1000 states would be larger than a value can be (1 GB)')) AS c(statement,
    said);
-- The figure depends on the number of threads and on the width of vectors.
SELECT matches(
  complaint($$SELECT hmm_fit(ARRAY(SELECT (id * 1000 + i)::text FROM generate_series(1, 1000) i),
    1000)
              FROM generate_series(1, 10) id$$),
  '^54000 fitting 1000 states takes about [1-9][0-9]{3} MB in addition to the sequences, but the '
    'limit is 1024 MB$',
  'parameters that would fill the memory');

-- ---- a model and a sequence; windows; a query ----

SELECT is(complaint(statement), said, statement) FROM (VALUES
  ($q$SELECT hmm_decode(gmm, '{a}'::text[]) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_probabilities(gmm, '{a}'::text[]) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_filter(gmm, '{a}'::text[]) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_log_likelihood(gmm, '{a}'::text[]) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_paths(gmm, '{a}'::text[], 1) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_predict(gmm, '{a}'::text[]) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_states(gmm) FROM given$q$, '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_transitions(gmm) FROM given$q$, '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_emissions(gmm) FROM given$q$, '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_posterior(gmm) FROM given$q$, '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_sample(gmm, 1, 1) FROM given$q$, '42804 model is of family gmm, expected hmm'),
  ($q$SELECT gmm_components(names) FROM given$q$, '42804 model is of family hmm, expected gmm'),
  ($q$SELECT hmm_posterior(names) FROM given$q$,
    '22023 this model has no posterior: it was fitted by method em'),
  ($q$SELECT hmm_posterior(gibbs) FROM given$q$,
    '22023 this model has no posterior: it was fitted by method gibbs'),
  ($q$SELECT bayes_draws(vi) FROM given$q$, '22023 model has no posterior draws'),
  ($q$SELECT hmm_decode(numbers, '{{1,2}}'::float8[]) FROM given$q$,
    '2202E the sequence is of vectors of 2 elements, but the model of single values'),
  ($q$SELECT hmm_decode(vectors, '{1,2,3}'::float8[]) FROM given$q$,
    '2202E the sequence is of single values, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_probabilities(vectors, '{{1,2}}'::float8[]) FROM given$q$,
    '2202E the sequence is of vectors of 2 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_filter(vectors, '{{{1,2,3}}}'::float8[]) FROM given$q$,
    '2202E the sequence is an array of 3 dimensions'),
  ($q$SELECT hmm_log_likelihood(names, '{{a,b}}'::text[]) FROM given$q$,
    '2202E the sequence is of vectors of 2 elements, but the model of symbols'),
  ($q$SELECT hmm_decode(numbers, '{a}'::text[]) FROM given$q$,
    '22023 observations are of type text, but those of the model are numbers'),
  ($q$SELECT hmm_paths(vectors, '{{a,b,c}}'::text[], 1) FROM given$q$,
    '22023 observations are of type text, but those of the model are numbers'),
  ($q$SELECT hmm_predict(numbers, '{1,Infinity}'::float8[]) FROM given$q$,
    '22023 step 2 is Infinity'),
  ($q$SELECT hmm_predict(numbers, '{1,1e200}'::float8[]) FROM given$q$,
    '22003 step 2 is 1e+200, too large to compute with'),
  ($q$SELECT hmm_predict(numbers, '{1,NULL,NaN}'::real[]) FROM given$q$, '22023 step 3 is NaN'),
  ($q$SELECT hmm_predict(codes, '{1,7,NULL,NaN}'::real[]) FROM given$q$, '22023 step 4 is NaN'),
  ($q$SELECT hmm_decode(vectors, '{{1,NULL,3},{1,2,NaN}}'::float8[]) FROM given$q$,
    '22023 element 3 of step 2 is NaN'),
  ($q$SELECT hmm_decode(vectors, '{{1,2,3},{1,2,-Infinity}}'::float8[]) FROM given$q$,
    '22023 element 3 of step 2 is -Infinity'),
  ($q$SELECT hmm_decode(booleans, '{0,1,2}'::int[]) FROM given$q$,
    '22023 step 3 is 2.0, but must be 0 or 1'),
  ($q$SELECT hmm_filter(mixed, '{{1,2,1},{1,2,0.5}}'::float8[]) FROM given$q$,
    '22023 element 3 of step 2 is 0.5, but must be 0 or 1'),
  ($q$SELECT hmm_log_likelihood(counts, '{1,2,1.5}'::float8[]) FROM given$q$,
    '22023 step 3 is 1.5, but must be a whole number from 0 to 2^53'),
  ($q$SELECT hmm_decode(times, '{1,-2}'::float8[]) FROM given$q$,
    '22023 step 2 is -2.0, but must be a number of at least 0'),
  ($q$SELECT hmm_paths(names, '{a}'::text[], 0) FROM given$q$,
    '22023 n is 0, the number of paths must be from 1 to 1000'),
  ($q$SELECT hmm_paths(names, '{a}'::text[], 1001) FROM given$q$,
    '22023 n is 1001, the number of paths must be from 1 to 1000'),
  ($q$SELECT hmm_paths(names, array_fill('a'::text, '{1000000}'), 1000) FROM given$q$,
    '54000 the 1000 best paths of 1000000 steps through 2 states need too much memory'),
  ($q$SELECT hmm_sample(names, -1, 1) FROM given$q$,
    '22023 n is -1, the number of steps cannot be negative'),
  ($q$SELECT hmm_sample(names, 100000001, 1) FROM given$q$,
    '54000 n is 100000001, but the limit is 100000000 steps'),
  ($q$SELECT hmm_sample(names, '{a}'::text[], 0, 1, 1) FROM given$q$,
    '22023 horizon is 0, the number of steps must be from 1 to 100000'),
  ($q$SELECT hmm_sample(names, '{a}'::text[], 1, -1, 1) FROM given$q$,
    '22023 draws is -1, the number of paths cannot be negative'),
  ($q$SELECT hmm_sample(names, '{a}'::text[], 10001, 10000, 1) FROM given$q$,
    '54000 10000 draws of 10001 steps are too many, the limit is 100000000 steps in all'),
  ($q$SELECT hmm_sample(gmm, '{a}'::text[], 1, 1, 1) FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_predict(names, '{a}'::text[], 1, 1) FROM given$q$,
    '22023 level is 1, but must be between 0 and 1'),
  ($q$SELECT hmm_decode(gmm, 'a'::text) OVER () FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_filter(CASE WHEN i > 2 THEN names ELSE vi END, 'a'::text) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 model must be the same for all rows of a '
    'partition'),
  ($q$SELECT hmm_surprise(CASE WHEN i > 2 THEN names ELSE vi END, 'a'::text) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 model must be the same for all rows of a '
    'partition'),
  ($q$SELECT hmm_surprise(gmm, 'a'::text) OVER () FROM given$q$,
    '42804 model is of family gmm, expected hmm'),
  ($q$SELECT hmm_surprise(vectors, ROW(1, CASE i WHEN 3 THEN 'Infinity' ELSE 1::float8 END, 1))
    OVER (ORDER BY i) FROM given, generate_series(1, 3) i$q$,
    '22023 element 2 of step 3 is Infinity'),
  ($q$SELECT hmm_surprise(booleans, i) OVER (ORDER BY i) FROM given, generate_series(0, 3) i$q$,
    '22023 step 3 is 2.0, but must be 0 or 1'),
  ($q$SELECT hmm_decode(CASE WHEN i > 2 THEN names ELSE vi END, 'a'::text) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 model must be the same for all rows of a '
    'partition'),
  ($q$SELECT hmm_probabilities(CASE WHEN i > 2 THEN NULL ELSE vi END, 'a'::text) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 model must be the same for all rows of a '
    'partition'),
  ($q$SELECT hmm_decode(CASE WHEN i > 2 THEN vi END, 'a'::text) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 model must be the same for all rows of a '
    'partition'),
  ($q$SELECT hmm_decode(numbers, 'a'::text) OVER () FROM given$q$,
    '22023 observations are of type text, but those of the model are numbers'),
  ($q$SELECT hmm_decode(numbers, ROW(1, 2)) OVER () FROM given$q$,
    '2202E observations are records, but the model is of single values'),
  ($q$SELECT hmm_decode(numbers, ROW(1)) OVER () FROM given$q$,
    '2202E observations are records, but the model is of single values'),
  ($q$SELECT hmm_decode(numbers, now()) OVER () FROM given$q$,
    '22023 observations are of type timestamp with time zone, but those of the model are numbers'),
  ($q$SELECT hmm_decode(vectors, 1) OVER () FROM given$q$,
    '2202E observations are single values, but the model is of vectors of 3 elements'),
  ($q$SELECT hmm_decode(vectors, ROW(1, 2)) OVER () FROM given$q$,
    '2202E step 1 is of vectors of 2 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_decode(vectors, ROW(1, 2, 3, 4)) OVER () FROM given$q$,
    '2202E step 1 is of vectors of 4 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_decode(vectors, ROW('{1,2}'::float8[])) OVER () FROM given$q$,
    '2202E step 1 is of vectors of 2 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_decode(vectors, ROW('{{1,2,3}}'::float8[])) OVER () FROM given$q$,
    '2202E row 1 is an array of 2 dimensions'),
  ($q$SELECT hmm_decode(vectors, ROW('{}'::float8[])) OVER () FROM given$q$,
    '2202E row 1 is an empty array'),
  ($q$SELECT hmm_decode(vectors, ROW('{a,b,c}'::text[])) OVER () FROM given$q$,
    '22023 elements of an array must be numbers'),
  ($q$SELECT hmm_decode(vectors, ROW(1, 'a'::text, 3)) OVER () FROM given$q$,
    '22023 element 2 of an observation is of type text, but elements of vectors are numbers'),
  ($q$SELECT hmm_decode(vectors, ROW('{1,2}'::float8[], 3)) OVER () FROM given$q$,
    '2202E an observation is a record of an array and other columns'),
  ($q$SELECT hmm_decode(vectors, ROW()) OVER () FROM given$q$,
    '2202E step 1 is of vectors of 0 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_filter(vectors, ROW(1, 2, i / (i - 3.0))) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22012 division by zero'),
  ($q$SELECT hmm_filter(vectors, ROW(1, CASE i WHEN 3 THEN 'Infinity' ELSE 1::float8 END, 1))
    OVER (ORDER BY i) FROM given, generate_series(1, 3) i$q$,
    '22023 element 2 of step 3 is Infinity'),
  ($q$SELECT hmm_decode(vectors, CASE i WHEN 3 THEN ROW(1, 2, 3, 4) ELSE ROW(1, 2, 3) END)
    OVER (ORDER BY i) FROM given, generate_series(1, 3) i$q$,
    '2202E step 3 is of vectors of 4 elements, but the model of vectors of 3 elements'),
  ($q$SELECT hmm_decode(numbers, CASE i WHEN 3 THEN 'Infinity' ELSE 1::float8 END) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 step 3 is Infinity'),
  ($q$SELECT hmm_decode(numbers, CASE i WHEN 3 THEN 'NaN' ELSE 1::numeric END) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 step 3 is NaN'),
  ($q$SELECT hmm_decode(codes, CASE i WHEN 3 THEN 'NaN' ELSE 1::numeric END) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22023 step 3 is NaN'),
  ($q$SELECT hmm_filter(vectors, ROW(NULL::int, CASE i WHEN 3 THEN 'NaN' ELSE 1::real END, 1))
    OVER (ORDER BY i) FROM given, generate_series(1, 3) i$q$,
    '22023 element 2 of step 3 is NaN'),
  ($q$SELECT hmm_probabilities(numbers, CASE i WHEN 3 THEN 1e200 ELSE 1 END) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, '22003 step 3 is 1e+200, too large to compute with'),
  ($q$SELECT hmm_filter(booleans, i) OVER (ORDER BY i) FROM given, generate_series(0, 3) i$q$,
    '22023 step 3 is 2.0, but must be 0 or 1'),
  ($q$SELECT hmm_decode(mixed, ROW(1, 2, i)) OVER (ORDER BY i)
    FROM given, generate_series(0, 3) i$q$, '22023 element 3 of step 3 is 2.0, but must be 0 or 1'),
  ($q$SELECT hmm_decode(names, 'a'::text) FROM given$q$,
    '42809 window function hmm_decode requires an OVER clause'),
  ($q$SELECT hmm_decode(names, '{a}') FROM given$q$,
    '42809 window function hmm_decode requires an OVER clause'),
  ($q$SELECT hmm_decode(NULL::bayes_query, 2)$q$, '22004 query must not be NULL'),
  ($q$SELECT hmm_decode('SELECT id, x FROM words', NULL::int)$q$,
    '22004 the number of components, states, topics or factors is missing'),
  ($q$SELECT hmm_decode('SELECT id, x FROM words', 0)$q$,
    '22023 k is 0, but must be a whole number from 1 to 1000'),
  ($q$SELECT hmm_decode('SELECT id, x FROM words', 2, '{"metod": "em"}')$q$,
    '22023 unknown option "metod"'),
  ($q$SELECT hmm_decode('', 2)$q$, '22023 query is empty'),
  ($q$SELECT hmm_decode('SELECT 1; SELECT 2', 2)$q$, '22023 query has several statements'),
  ($q$SELECT hmm_decode('DELETE FROM words', 2)$q$, '22023 query is not a SELECT'),
  ($q$SELECT hmm_decode('SELECT id, x FROM words FOR UPDATE', 2)$q$, '22023 query locks rows'),
  ($q$SELECT hmm_decode('WITH gone AS (DELETE FROM words RETURNING id, x) SELECT id, x FROM gone',
    2)$q$, '22023 query changes data'),
  ($q$SELECT hmm_decode('SELECT FROM words', 2)$q$,
    '22023 query returns 0 columns, but must return two or more'),
  ($q$SELECT hmm_decode('SELECT x FROM words', 2)$q$,
    '22023 query returns 1 column, but must return two or more'),
  ($q$SELECT hmm_decode('SELECT id, x, 1 FROM words', 2)$q$,
    '22023 query returns 3 columns, the second of which is an array'),
  ($q$SELECT hmm_decode('SELECT id, id, x FROM words', 2)$q$,
    '22023 column "x" is of type text[]'),
  ($q$SELECT hmm_decode('SELECT x, id AS observation FROM words', 2)$q$,
    '22023 the rows of sequence "{b,c,a,b,c,a}" are not contiguous'),
  ($q$SELECT hmm_decode('SELECT nullif(id % 2, 1), id FROM words', 2)$q$,
    '22023 the rows of the sequence without a name are not contiguous'),
  ($q$SELECT hmm_decode('SELECT id, NULL FROM words', 2)$q$,
    '22023 column "?column?" is NULL in every row'),
  ($q$SELECT hmm_decode('SELECT id, x FROM nowhere', 2)$q$,
    '42P01 relation "nowhere" does not exist'),
  ($q$SELECT hmm_decode('SELECT 1 / (id - 5), x FROM words', 2)$q$, '22012 division by zero'),
  ($q$SELECT hmm_decode('SELECT id, CASE WHEN id = 5 THEN ''{1,Infinity}'' ELSE n END FROM words',
    2)$q$, '22023 step 2 of sequence 5 is Infinity'),
  ($q$SELECT hmm_decode('SELECT id, CASE WHEN id = 5 THEN v ELSE n END FROM words', 2)$q$,
    '2202E sequence 5 is of vectors of 3 elements, but sequence 1 of single values'),
  ($q$SELECT hmm_decode('SELECT id, $1 FROM words', 2)$q$, '42P02 there is no parameter $1'))
    AS c(statement, said);

-- ---- details and hints ----

SELECT is(advice(statement), said, statement) FROM (VALUES
  ($q$SELECT hmm_fit(x, 2, '{"metod": "em"}') FROM words$q$, 'Did you mean "method"?'),
  ($q$SELECT hmm_fit(x, 2, '{"emision": "normal"}') FROM words$q$, 'Did you mean "emission"?'),
  ($q$SELECT hmm_fit(x, 2, '{"method": "gibs"}') FROM words$q$, 'Did you mean "gibbs"?'),
  ($q$SELECT hmm_fit(x, 2, '{"init": {"transition": [[1, 0], [0, 1]]}}') FROM words$q$,
    'Did you mean "init.transitions"?'),
  ($q$SELECT hmm_fit(x, 2, '{"prior": {"transitions": 2}}') FROM words$q$,
    'Did you mean "prior.transition"?'),
  ($q$SELECT hmm_fit(x, 2, '{"init": {"initial": [1, 1]}}') FROM words$q$,
    'Divide them by their sum.'),
  ($q$SELECT hmm_fit(x, 2, '{"emission": "normal"}') FROM words$q$,
    'Leave it out, or cast the elements.'),
  ($q$SELECT hmm_fit(x, 2, '[]') FROM words$q$,
    'Write options as ''{"method": "em", "restarts": 10}''.'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN ARRAY['a', NULL] ELSE x END, 2, '{"missing": "error"}')
    FROM words$q$, 'NULL is a missing observation, which option missing = error refuses. | '
    'Without this option missing observations are summed out.'),
  ($q$SELECT hmm_fit(CASE id WHEN 4 THEN '{Infinity}' ELSE n END, 2) FROM words$q$,
    'An observation is a finite number; a NULL is a missing one.'),
  ($q$SELECT hmm_fit(ARRAY[x], 2) FROM words$q$,
    'Vectors must be numbers; observations that are names stand in a one-dimensional array, one '
    'for each step. | To observe several names at once, make one of them: a || ''/'' || b.'),
  ($q$SELECT hmm_fit(ARRAY(SELECT (id * 1000 + i)::text FROM generate_series(1, 1000) i), 1)
    FROM generate_series(1, 11) id$q$, 'If observations are measurements, not names, give option '
    'emission; else combine rare symbols into one.'),
  ($q$SELECT hmm_fit(n, 2, '{"categories": 2}') FROM words$q$,
    'No element is categorical. | Leave it out, or make elements categorical by option '
    '"emission".'),
  ($q$SELECT hmm_fit(x, s[1:3], 2) FROM words$q$,
    'There is one for each step, NULL where it is not known.'),
  ($q$SELECT hmm_fit(ARRAY['no', 'what'], (SELECT names FROM given))$q$,
    'Its states carry no information about these sequences. | Fit without a start model.'),
  ($q$SELECT hmm_posterior(names) FROM given$q$,
    'Only variational methods estimate a posterior distribution of the parameters. | Fit with '
    'option method "vi" or "svi".'),
  ($q$SELECT hmm_posterior(gibbs) FROM given$q$,
    'A sampled posterior is represented by its draws. | See bayes_draws(model).'),
  ($q$SELECT hmm_decode(vectors, 1) OVER () FROM given$q$,
    'Give a vector as a record: ROW(a, b), or ROW(x) where x is an array of numbers.'),
  ($q$SELECT hmm_decode(CASE WHEN i > 2 THEN vi END, 'a'::text) OVER (ORDER BY i)
    FROM given, generate_series(1, 3) i$q$, 'It differs from the value in the first row. | To use '
    'one model for each value, PARTITION BY it.'),
  ($q$SELECT hmm_paths(names, array_fill('a'::text, '{1000000}'), 1000) FROM given$q$,
    'The limit is maintenance_work_mem, or 1 GB if that is more. | Ask for fewer paths, or shorten '
    'the sequence.'),
  ($q$SELECT hmm_decode('SELECT id FROM words', 2)$q$,
    'The first column is the name of the sequence; the second is the sequence, an array, or the '
    'other columns are one step of it. | Select a name for the sequence and then the sequence, an '
    'array: SELECT id, array_agg(x ORDER BY t) FROM ... GROUP BY id. Or a row for each step, a '
    'name and the step''s columns: SELECT id, a, b FROM ... ORDER BY id, t.')
  ) AS c(statement, said);

-- ---- sequences that cannot be ----

SELECT is(hmm_log_likelihood(m, '{1,0,0}'::int[]) < -20, true, 'what hardly can be is improbable')
  FROM strict;
CREATE TABLE stopped AS SELECT hmm_fit(x, s, 2,
  '{"method": "em", "topology": "left-to-right", "emission": "bernoulli", "minimum": 1e-12}') AS m
  FROM (VALUES ('{t,t,f}'::boolean[], '{1,1,2}'::int[])) v(x, s);
SELECT lives_ok(format('SELECT %s(m, ''{f,t,f}''::boolean[]) FROM stopped', f),
  f || ' of what is next to impossible') FROM
  unnest('{hmm_decode,hmm_probabilities,hmm_filter,hmm_log_likelihood,hmm_predict}'::text[]) f;

-- ---- NULL instead of an error ----

SELECT ok((SELECT hmm_fit(ARRAY[NULL]::float8[], 1, '{"on_error": "null"}')) IS NULL,
  'a fit that cannot be is NULL');
SELECT results_eq($$SELECT sequence, t, state, probability
  FROM hmm_decode('SELECT i, ARRAY[NULL, NULL]::float8[] FROM generate_series(1, 2) i', 2,
  '{"on_error": "null"}')$$, $$VALUES ('1', 1::bigint, NULL::int, NULL::float8),
  ('1', 2, NULL, NULL), ('2', 1, NULL, NULL), ('2', 2, NULL, NULL)$$,
  'a relation has its steps without states');
SELECT results_eq($$SELECT id % 3, hmm_fit(CASE WHEN id % 3 = 1 THEN '{NULL}' ELSE n END, 2,
  '{"on_error": "null"}') IS NULL FROM words GROUP BY 1 ORDER BY 1$$,
  'VALUES (0, false), (1, true), (2, false)', 'one bad group does not stop the others');
SELECT is(complaint($q$SELECT hmm_fit(x, 2, '{"on_error": "null", "tol": -1}') FROM words$q$),
  '22023 option "tol" is -1, but must be a number from 0 to 1000000',
  'a bad option is an error all the same');
SELECT is(hmm_fit('{Infinity}'::float8[], 2, '{"on_error": "null"}'), NULL,
  'an observation that is none is not');

SELECT is(complaint($q$SELECT hmm_fit(ARRAY[NULL, NULL]::text[], 2)$q$),
  '22023 all observations are missing', 'nothing but missing names');
SELECT is(complaint($q$SELECT hmm_fit(ARRAY[1, 2, 3], 2,
  '{"emission": "poisson", "init": {"means": [-1, 2]}}')$q$),
  '22023 option "init.means" contains -1.0 for state 1, which cannot be the mean of element 1',
  'a mean that cannot be');
SELECT is(complaint($q$SELECT hmm_fit(ARRAY['a', 'b'], 1,
  '{"init": {"probabilities": [{"a": 0.4, "b": 0.4}]}}')$q$),
  '22023 option "init.probabilities" names all symbols for state 1, but their probabilities do not '
  'sum to 1', 'probabilities that leave some');

-- ---- a forged model ----

SELECT is(complaint(format('SELECT %L::bayes_model', jsonb_set(names::jsonb, path::text[],
  value::jsonb))) ~ '^22P02 invalid bayes_model: ', true, format('%s = %s is refused', path, value))
  FROM given, (VALUES ('{vectors}', 'true'), ('{vectors}', '1'), ('{weight}', '0'),
    ('{visits}', '[1]'), ('{visits,0}', '-1'), ('{transition_counts}', '[1, 2]'),
    ('{transition_counts,0,0}', '-1'), ('{symbols}', '["a"]'), ('{symbols,0}', '1'),
    ('{symbols,1}', '"a"'), ('{symbols,0}', '"c"'),
    ('{point}', '{}'), ('{point,initial}', '[0.5, 0.6]'), ('{point,initial,0}', '-1'),
      ('{point,initial}', '[1]'), ('{point,transition,0,0}', '7'), ('{point,transition}', '[]'),
      ('{components}', '0'), ('{components}', '1001'), ('{dimension}', '2')) c(path, value)
      WHERE NOT (path = '{symbols,1}' AND names::jsonb->'symbols'->>1 = 'a')
      AND NOT (path = '{symbols,0}' AND value = '"c"' AND names::jsonb->'symbols'->>0 = 'c');
SELECT is(complaint(format('SELECT %L::bayes_model',
  jsonb_set(vi::jsonb, path::text[], value::jsonb))) ~ '^22P02 invalid bayes_model: ', true,
  format('%s = %s is refused', path, value))
  FROM given, (VALUES ('{posterior,initial}', '[0, 0]'), ('{posterior,initial,0}', '-1'),
    ('{posterior,transition}', '[[0, 0], [1, 1]]'), ('{posterior}', '{}')) c(path, value);

-- ---- the session goes on ----

BEGIN;
SAVEPOINT before;
DO $$ BEGIN PERFORM * FROM hmm_decode('SELECT id, CASE WHEN id < 5 THEN n ELSE ''{Infinity}'' END '
  'FROM words', 2); EXCEPTION WHEN invalid_parameter_value THEN NULL; END $$;
SELECT is((SELECT count(*) FROM hmm_decode('SELECT id, n FROM words', 2)), 60::bigint,
  'in the transaction of the error');
ROLLBACK TO before;
SELECT is((SELECT count(*) FROM hmm_decode('SELECT id, x FROM words', 2)), 60::bigint,
  'after a rollback to a savepoint');
COMMIT;

SELECT * FROM finish();
