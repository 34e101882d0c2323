-- What tests/t/adversarial.pl calls functions with: rows, and models of every family.
SET client_min_messages = error;
SET statement_timeout = '120s';
CREATE TABLE good AS SELECT id, ARRAY[sin(id), cos(2.5 * id)] AS x,
  ARRAY[id % 2, id / 3 % 2] AS bits FROM generate_series(1, 12) AS id;
CREATE TABLE given AS SELECT gmm_fit(x, 2, '{"method": "em"}') AS em, gmm_fit(x, 2) AS vi,
  gmm_fit(x, 3, '{"method": "kmeans"}') AS kmeans,
  gmm_fit(x[1:1], 1, '{"covariance": "tied", "method": "svi"}') AS narrow,
    gmm_fit(x, 2, '{"prior": {"type": "independent"}}') AS independent,
    gmm_fit(x, 2, '{"method": "gibbs", "draws": 20}') AS sampled,
  bmm_fit(bits, 2) AS bits, bmm_fit(bits, 2, '{"method": "em"}') AS bits_em,
    bmm_fit(bits, 2, '{"method": "collapsed", "draws": 20}') AS bits_sampled,
    bmm_fit(bits, 2, '{"likelihood": "categorical", "categories": 3}') AS categories,
  bmm_fit(bits || id, 2, '{"likelihood": ["bernoulli", "categorical", "normal"]}') AS mixed,
    bmm_fit(bits, 1, '{"likelihood": "poisson", "method": "mcem"}') AS counts,
  dpmm_fit(x, '{"draws": 20}') AS process,
    dpmm_fit(x[1:1], '{"draws": 20, "method": "slice",
    "covariance": "spherical"}') AS process_narrow, dpmm_fit(bits, '{"draws": 20, "method": "gibbs",
    "likelihood": "bernoulli", "estimate": "binder"}') AS process_bits,
  dpmm_fit(bits, '{"method": "vi", "likelihood": ["poisson", "categorical"]}') AS process_vi,
    dpmm_fit(x, '{"draws": 20, "estimate": "bipartition", "concentration": 1}') AS halves FROM good;
ALTER TABLE good ADD word text, ADD series float8[], ADD vectors float8[];
UPDATE good SET word = chr(97 + id % 3), series
  = ARRAY(SELECT sin(id * i) FROM generate_series(1, 6) AS i),
  vectors = ARRAY[x, ARRAY[id, -id]::float8[], x];
CREATE TABLE chains AS SELECT hmm_fit(series, 2, '{"method": "em"}') AS chain,
  hmm_fit(series, 2, '{"method": "vi"}') AS chain_vi,
  hmm_fit(ARRAY[word, chr(97 + id / 4), 'c'], 2, '{"method": "vi"}') AS chain_words,
  hmm_fit(bits, 2, '{"method": "vi"}') AS chain_symbols, hmm_fit(bits::bool[], 2) AS chain_bits,
  hmm_fit(vectors, 2, '{"method": "vi"}') AS chain_vectors, hmm_fit(series, 1) AS chain_narrow
  FROM good;
CREATE TABLE libraries AS SELECT lda_fit(ARRAY[word, 'c', chr(97 + id)], 2) AS topics,
  lda_fit(ARRAY[word, 'c', chr(97 + id)], 3, '{"method": "em"}') AS topics_em,
  lda_fit(ARRAY[word, 'c', chr(97 + id)], 2, '{"method": "svi"}') AS topics_svi,
  lda_fit(ARRAY[word, 'c', chr(97 + id)], 2, '{"method": "gibbs", "draws": 20}') AS topics_sampled,
  lda_fit('{"x": 1}'::jsonb, 1) AS topic FROM good;
CREATE TABLE factors AS SELECT nmf_fit(word, id, id % 5, 2) AS cells,
  nmf_fit(bits::float8[], 2, '{"method": "em"}') AS arrays_em,
  nmf_fit(id, word, 1, 3, '{"method": "squared"}') AS cells_squared,
  nmf_fit(id % 4, 'c', id, 1, '{"method": "em"}') AS one_column,
  nmf_fit(word, id, id % 5, 2, '{"method": "svi", "batch_size": 2}') AS cells_svi FROM good;
CREATE TABLE posteriors AS SELECT beta_bernoulli_fit(id % 3 = 0) AS success,
  gamma_poisson_fit(id) AS events, normal_inverse_gamma_fit(id) AS measured,
  dirichlet_categorical_fit(word) AS words FROM good;
CREATE FUNCTION density(x float8[]) RETURNS float8 IMMUTABLE
  RETURN CASE WHEN x[1] > 0 THEN -x[1] ELSE '-Infinity' END;
CREATE FUNCTION wild_density(x float8[]) RETURNS float8 IMMUTABLE RETURN x[1] * x[2] * 1e300;
CREATE TABLE ratings AS SELECT pmf_fit(word, id, id % 5, 2, '{"draws": 20}') AS rated,
  pmf_fit(id, word, id, 3, '{"draws": 20, "prior": {"hierarchical": true}}') AS rated_hierarchical,
  pmf_fit(id % 4, 'c', id, 1, '{"draws": 20, "means": false, "rated": false, "repeated": "last"}')
  AS rated_forgotten FROM good;
CREATE TABLE classifiers AS SELECT nb_fit(word, x) AS classes,
  nb_fit(word, x, '{"covariance": "full", "missing": "skip"}') AS classes_full,
  nb_fit(id % 2, bits, '{"likelihood": ["bernoulli", "categorical"]}') AS classes_bits,
  nb_fit(1, r) AS one_class, nb_fit(id > 5, jsonb_build_object('n', id, word, true, 'k', word))
  AS classes_words, nb_fit(word, to_tsvector('simple', word || ' c')) AS classes_lexemes
  FROM (SELECT good.*, r FROM good, LATERAL (SELECT id, word, id > 3 AS late) AS r) AS good;
CREATE TABLE rests AS SELECT bayes_condition(sampled, '{0.5,NULL}'::float8[]) AS normals,
  bayes_condition(mixed, '{1,NULL,NULL}'::float8[]) AS mixed,
  bayes_condition(c.classes, '{0.5,0.25}'::float8[]) AS classes FROM given, classifiers AS c;
CREATE TABLE regressions AS SELECT linreg_fit(id, x) AS line, linreg_fit(id, x, '{"method": "em"}')
  AS line_em, linreg_fit(id, x, '{"method": "vi", "ard": true}') AS line_vi,
  linreg_fit(id, x, '{"method": "gibbs", "draws": 20}') AS line_sampled,
  linreg_fit(id, '{}'::float8[]) AS line_level, linreg_fit(id, ROW(word, id)) AS line_labels,
  linreg_stats(id, x) AS sums, linreg_stats(id, ROW(word, id)) AS sums_labels FROM good;
CREATE TABLE responses AS SELECT glm_fit(id, x, '{"response": "negative_binomial"}') AS counts,
  glm_fit(id, ROW(word, id), '{"response": "poisson", "exposure": "f2"}') AS counts_exposed,
  glm_fit(id, x, '{"response": "gamma"}') AS amounts,
  glm_fit(id, x, '{"response": "ordinal"}') AS levels,
  glm_fit(word, x, '{"response": "categorical"}') AS classes FROM good WHERE id > 0;
CREATE TABLE answers AS SELECT logreg_fit(id > 5, x) AS logistic,
  logreg_fit(id % 2, r, '{"missing": "error"}') AS logistic_strict, probit_fit(id % 2 = 0, x)
  AS probit, probit_fit(id % 2, x, '{"method": "em"}') AS probit_em,
  probit_fit(id % 3 = 0, x, '{"method": "gibbs", "draws": 20}') AS probit_sampled
  FROM (SELECT good.*, r FROM good, LATERAL (SELECT id, word, id > 3 AS late) AS r) AS good;
