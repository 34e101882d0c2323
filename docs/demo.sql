-- A demonstration on real data, run by `make demo`. By hand: run tests/lib/data.sql first, with
-- psql in the top directory.
\set QUIET on
\pset footer off
\pset null '-'

\echo
\echo '== Old Faithful: 272 eruptions of a geyser, their length and the wait after them, in minutes'
\echo
\echo 'How many kinds of eruption are there? Fit one to five; the largest evidence bound (elbo)'
\echo 'indicates the best model.'
\echo
SELECT k, round(elbo::numeric, 1) AS elbo, round(bic::numeric, 1) AS bic,
       CASE WHEN elbo = max(elbo) OVER () THEN '<-- best' ELSE '' END AS " "
FROM gmm_select('SELECT x FROM faithful', ARRAY[1, 2, 3, 4, 5])
ORDER BY k;

\echo 'Two. A model is a value: fit it once, store it in a table.'
\echo '  CREATE TABLE models AS SELECT ''faithful'' AS name, gmm_fit(x, 2) AS model FROM faithful;'
\echo
CREATE TEMP TABLE models AS SELECT 'faithful' AS name, gmm_fit(x, 2) AS model FROM faithful;
SELECT component, round(weight::numeric, 3) AS weight,
       round(mean[1]::numeric, 2) AS minutes_of_eruption,
       round(mean[2]::numeric, 1) AS minutes_of_waiting,
       round(sqrt(covariance[2][2])::numeric, 1) AS spread_of_waiting
FROM models, gmm_components(model) WHERE name = 'faithful'
ORDER BY component;

\echo 'In place, as a window function, without storing anything:'
\echo
SELECT cluster, count(*) AS eruptions, min(eruptions) AS shortest, max(eruptions) AS longest
FROM (SELECT eruptions, gmm_cluster(x, 2) OVER () AS cluster FROM faithful) AS clustered
GROUP BY cluster
ORDER BY cluster;

\echo 'Every eruption gets its kind and its probability. The five least certain:'
\echo
SELECT id, eruptions, waiting, gmm_predict(model, x) AS component,
       ARRAY(SELECT round(p::numeric, 3)
             FROM unnest(bayes_probabilities(model, x)) AS p) AS probabilities
FROM faithful, models WHERE name = 'faithful'
ORDER BY (SELECT max(p) FROM unnest(bayes_probabilities(model, x)) AS p)
LIMIT 5;

\echo '== Earthquakes near Fiji: place and depth of 1000'
\echo
\echo 'Four groups, found from a query in one call:'
\echo
SELECT component, round(weight::numeric, 3) AS weight, round(mean[1]::numeric, 1) AS longitude,
       round(mean[2]::numeric, 1) AS latitude,
       round(mean[3]::numeric) AS depth_km, repeat('#', round(weight * 50)::int) AS " "
FROM gmm_fit('SELECT long, lat, depth FROM quakes', 4)
ORDER BY component;

\echo 'As an aggregate with GROUP BY: a model for each class of magnitude, in one statement. Deep'
\echo 'and shallow earthquakes are separated in all.'
\echo
SELECT magnitude, quakes, component, round(weight::numeric, 2) AS weight,
       round(mean[1]::numeric) AS depth_km
FROM (SELECT floor(mag) AS magnitude, count(*) AS quakes, gmm_fit(ARRAY[depth], 2) AS model
      FROM quakes WHERE mag < 6 GROUP BY floor(mag)) AS fits, gmm_components(model)
ORDER BY magnitude, depth_km;

\echo '== The letters of PostgreSQL''s tutorial: 20 pages of English, all else as _'
\echo
\echo 'A hidden Markov model of two states finds the vowels and the consonants, as they alternate:'
\echo
SELECT state, string_agg(symbol, ' ' ORDER BY probability DESC) AS most_probable_symbols
FROM (SELECT hmm_fit(string_to_array(regexp_replace(lower(body), '[^a-z]+', '_', 'g'), NULL), 2)
             AS model FROM tutorial) AS fit, hmm_emissions(model)
WHERE probability > 0.02
GROUP BY state
ORDER BY state;

\echo '== PostgreSQL''s manual: the first 600 characters of its 1115 pages'
\echo
\echo 'A topic model finds what they are about, from words that occur together:'
\echo
SELECT topic, string_agg(term, ' ' ORDER BY rank) AS terms
FROM lda_topics('SELECT words FROM manual', 20, '{"min_documents": 5, "max_share": 0.3}')
GROUP BY topic
ORDER BY topic;

\echo '== Handwritten digits: 1797 pictures of 8 x 8 grey values, without their labels'
\echo
\echo 'Twenty shapes, the best of forty restarts; this takes some seconds, so progress is shown.'
\echo
SET pg_bayes.progress = on;
CREATE TEMP TABLE shapes AS
SELECT gmm_fit(x, 20, '{"covariance": "spherical", "restarts": 40}') AS model FROM digits;
RESET pg_bayes.progress;

SELECT method, rows, dimension, components, iterations, converged,
       round(objective::numeric, 1) AS objective, round(seconds::numeric, 2) AS seconds
FROM shapes, bayes_info(model);

\echo 'Only now look at the labels: which digit is each shape?'
\echo
CREATE TEMP TABLE found AS
SELECT component, count(*) AS pictures, mode() WITHIN GROUP (ORDER BY label) AS digit,
       array_agg(label) AS labels
FROM (SELECT label, gmm_predict(model, x) AS component FROM digits, shapes) AS assigned
GROUP BY component;
SELECT digit, count(*) AS shapes, sum(pictures) AS pictures,
       round(100 * sum(cardinality(array_positions(labels, digit))) / sum(pictures))
         || ' %' AS of_them_that_digit
FROM found
GROUP BY digit
ORDER BY digit;

\echo 'The mean of the largest shape of each digit, drawn:'
\echo
\pset tuples_only on
\pset border 0
SELECT string_agg(line, '   ' ORDER BY digit)
FROM (SELECT DISTINCT ON (digit) digit, mean
      FROM found JOIN (SELECT component, mean FROM shapes, gmm_components(model)) AS c
           USING (component)
      ORDER BY digit, pictures DESC) AS largest,
     generate_series(0, 7) AS r,
     LATERAL (SELECT string_agg(
                substr(' .:-=+*#%@', 1 + least(9, floor(mean[8 * r + i] * 10 / 17))::int, 1), ''
                ORDER BY i) AS line
              FROM generate_series(1, 8) AS i) AS drawn
GROUP BY r
ORDER BY r;
