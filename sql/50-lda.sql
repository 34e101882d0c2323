-- Topic models: latent Dirichlet allocation

DEFINE @lda_documents =
  'document: a tsvector (each lexeme counts as often as it has positions, once if it was stripped; '
  'PostgreSQL keeps at most 255 positions of a lexeme and none beyond 16383: a WARNING says how '
  'many documents are affected), an array of words in any order (NULL elements are left out), a '
  'jsonb object of terms and their counts, from 0 to 1e15, not necessarily whole, or a sparsevec '
  'of pgvector, whose terms are its positions, from 1. A NULL is '
  'skipped, an empty document is not; if there is no document the result is NULL. Neither the '
  'order of documents nor that of terms matters. Errors: 22023 invalid option or argument, a count '
  'that is not a number, negative or not finite, or no terms; 22003 a count above 1e15; 54000 more '
  'than 500000 terms in the vocabulary, more than 4000000 terms read, a term longer than 10000 '
  'bytes, or more parameters than memory allows.';
DEFINE @lda_rows =
  'Each row says how often a term occurs in a document; document is a value of any type that can '
  'be sorted; rows come in any order, and those of one document and term are added up. A row whose '
  'term is NULL, or whose count is NULL or 0, only says that the document exists; a row without '
  'document is skipped. If there is no row the result is NULL. Errors: 22023 invalid option or '
  'argument, a count negative or not finite, or no terms; 22003 a count above 1e15; 54000 more '
  'than 500000 terms in the vocabulary, more than 4000000 terms read, a term longer than 10000 '
  'bytes, or more parameters than memory allows; 42883 documents of a type that cannot be sorted.';
DEFINE @lda_document =
  'document: a tsvector, an array of words, or a jsonb object of counts, as in lda_fit. Terms that '
  'the model does not know are ignored (with a WARNING, once, if it knows none of the terms of a '
  'document); for a document without known terms the result is that of the prior. 22023 or 22003 '
  'for an invalid count, 42804 for a model of another family.';
DEFINE @lda_options = ' options: see docs/lda.md; NULL means none.';
DEFINE @lda_fits =
  'Fits a topic model (latent Dirichlet allocation) of k topics (1 to 10000) to documents. ';
DEFINE @lda_starts =
  'Fits a topic model to documents, starting from the topics of a fitted model, which keep their '
  'numbers and whose terms stay in the vocabulary. 42804 for a model of another family. ';
DEFINE @lda_updates =
  'Learns from more documents: the posterior of the given model is the prior of the new one; '
  'topics keep their numbers, and new terms are added. 42804 for a model of another family, 22023 '
  'for one without a posterior. ';
DEFINE @lda_perplex =
  'The perplexity of documents, exp(-log probability / tokens): the number of equally probable '
  'terms that would be as hard to predict. By document completion: proportions are inferred from '
  'one half of a document''s tokens, and the other half is predicted, after gibbs and collapsed by '
  'averages over at most 20 stored draws. A term that the model does not know has in a topic the '
  'probability of one additional term, a / (a + sum of the Dirichlet parameters), with a = eta. '
  'NULL if there is no token to predict. ';
DEFINE @lda_perplex_options =
  'options: method "completion" (the default, as of bayes_score(model, document)) or '
  '"left-to-right", and for the latter particles and seed; see docs/lda.md. NULL means none. ';

-- ---- aggregates: documents in, a model out ----

CREATE FUNCTION _lda_fit_final(state internal) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'lda_fit_final' @immutable COST 1000000;
COMMENT IS 'Internal. Fits a topic model to the collected documents.';

-- No combine function: documents are sorted, and their terms numbered, by one process. Once the
-- final function has sorted the documents, none can be added, so these are not window functions.
CREATE FUNCTION _lda_fit_transition(state internal, document "any", k "any" [, options "any"])
  RETURNS internal
  AS 'MODULE_PATHNAME', 'lda_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one document; k is the number of topics or a start model.';
CREATE FUNCTION _lda_fit_transition(
  state internal, document "any", term "any", count "any", k "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'lda_fit_transition' @immutable;
COMMENT IS 'Internal. Adds one row of document, term and count.';

CREATE AGGREGATE lda_fit(document "any", k int [, options jsonb]) (
  SFUNC = _lda_fit_transition, @state, FINALFUNC = _lda_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_fits
  @lda_documents;
COMMENT IS 'The same with options.'
  @lda_options;

CREATE AGGREGATE lda_fit(document anyelement, term text, count float8, k int [, options jsonb]) (
  SFUNC = _lda_fit_transition, @state, FINALFUNC = _lda_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_fits
  @lda_rows;
COMMENT IS 'The same with options.'
  @lda_options;

CREATE AGGREGATE lda_fit(document "any", start bayes_model [, options jsonb]) (
  SFUNC = _lda_fit_transition, @state, FINALFUNC = _lda_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_starts
  @lda_documents;
COMMENT IS 'The same with options.'
  @lda_options;

CREATE AGGREGATE lda_fit(
  document anyelement, term text, count float8, start bayes_model [, options jsonb]
) (
  SFUNC = _lda_fit_transition, @state, FINALFUNC = _lda_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_starts
  @lda_rows;
COMMENT IS 'The same with options.'
  @lda_options;

CREATE FUNCTION _lda_update_transition(
  state internal, document "any", prior "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'lda_update_transition' @immutable;
COMMENT IS 'Internal. Adds one document.';
CREATE FUNCTION _lda_update_transition(
  state internal, document "any", term "any", count "any", prior "any" [, options "any"]
) RETURNS internal
  AS 'MODULE_PATHNAME', 'lda_update_transition' @immutable;
COMMENT IS 'Internal. Adds one row of document, term and count.';

CREATE AGGREGATE lda_update(document "any", prior bayes_model [, options jsonb]) (
  SFUNC = _lda_update_transition, @state, FINALFUNC = _lda_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_updates
  @lda_documents;
COMMENT IS 'The same with options.'
  @lda_options;

CREATE AGGREGATE lda_update(
  document anyelement, term text, count float8, prior bayes_model [, options jsonb]
) (
  SFUNC = _lda_update_transition, @state, FINALFUNC = _lda_fit_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_updates
  @lda_rows;
COMMENT IS 'The same with options.'
  @lda_options;

-- ---- how good a model is ----

CREATE FUNCTION _lda_perplexity_transition(
  state internal, model "any", document "any", options "any"
) RETURNS internal
  AS 'MODULE_PATHNAME', 'lda_perplexity_transition' @immutable;
COMMENT IS 'Internal. Adds one document.';
CREATE FUNCTION _lda_perplexity_transition(
  state internal, model "any", document "any", term "any", count "any", options "any"
) RETURNS internal
  AS 'MODULE_PATHNAME', 'lda_perplexity_transition' @immutable;
COMMENT IS 'Internal. Adds one row of document, term and count.';
CREATE FUNCTION _lda_perplexity_final(state internal) RETURNS float8
  AS 'MODULE_PATHNAME', 'lda_perplexity_final' @immutable COST 1000000;
COMMENT IS 'Internal. Evaluates the collected documents.';

CREATE AGGREGATE lda_perplexity(model bayes_model, document "any", options jsonb) (
  SFUNC = _lda_perplexity_transition, @state, FINALFUNC = _lda_perplexity_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_perplex
  @lda_perplex_options
  @lda_document;

CREATE AGGREGATE lda_perplexity(
  model bayes_model, document anyelement, term text, count float8, options jsonb
) (
  SFUNC = _lda_perplexity_transition, @state, FINALFUNC = _lda_perplexity_final,
  FINALFUNC_MODIFY = SHAREABLE
);
COMMENT IS @lda_perplex
  @lda_perplex_options
  'Each row says how often a term occurs in a document, as in lda_fit: rows come in any order, and '
  'those of one document and term are added up. 22023 or 22003 for an invalid count, 42804 for a '
  'model of another family, 42883 for documents of a type that cannot be sorted.';

-- ---- a relation: a query in, a relation out ----

DEFINE @lda_query =
  'query: one SELECT of a document (tsvector, text[] or jsonb), of a name and a document, or of '
  'document, term and count; it is run as the caller, read-only. 22023 for any other query. Other '
  'errors: as the aggregate lda_fit.';

CREATE FUNCTION lda_topics(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS TABLE (topic int, rank int, term text, probability float8)
  AS 'MODULE_PATHNAME', 'lda_topics_query' @volatile COST 1000000 ROWS 100;
COMMENT IS 'Fits a topic model of k topics to the documents of a query and returns the ten most '
  'probable terms of each topic: topics and ranks from 1, and the probability of the term in the '
  'topic. '
  @lda_query
  @from_start
  @lda_options;

CREATE FUNCTION lda_model(
  query bayes_query, k int DEFAULT NULL, options jsonb DEFAULT NULL, start bayes_model DEFAULT NULL
) RETURNS bayes_model
  AS 'MODULE_PATHNAME', 'lda_model_query' @volatile COST 1000000;
COMMENT IS 'Fits a topic model of k topics to the documents of a query and returns the model.'
  ' Query, options and errors are those of lda_topics(query, ...); NULL if there are no rows.'
  @lda_options;

CREATE FUNCTION lda_select(query bayes_query, ks int[], options jsonb DEFAULT NULL)
  RETURNS TABLE (k int, perplexity float8, tokens float8, objective float8, iterations int,
    converged boolean, model bayes_model, standard_error float8, best boolean, reason text)
  AS 'MODULE_PATHNAME' @volatile COST 1000000 ROWS 10;
COMMENT IS 'Fits a topic model for every k to nine tenths of the documents of a query, chosen by a '
  'hash of their contents, and measures how well it predicts the others. perplexity: of the '
  'held-out documents, by document completion, without terms that do not occur in the nine tenths; '
  'tokens: the number of tokens that were predicted; model: fitted to the nine tenths, NULL unless '
  'option models is true; standard_error: of the perplexity, from its variation between documents; '
  'best: the smallest k whose perplexity is within one standard error of the lowest, that of the '
  'difference of the two over the same documents (not standard_error, which is larger), with an '
  'explanation in reason. query and errors: as lda_topics; 22023 also for fewer than ten documents.'
  @lda_options;

CREATE FUNCTION lda_coherence(query bayes_query, model bayes_model, top int DEFAULT 10)
  RETURNS TABLE (topic int, umass float8, npmi float8)
  AS 'MODULE_PATHNAME' @volatile COST 100000 ROWS 10;
COMMENT IS 'The coherence of every topic in the documents of a query: how often its ten most '
  'probable terms occur in the same documents. umass (Mimno and others 2011): the sum over pairs '
  'of log((D(l, m) + 1) / D(l)), at most about 0; npmi, the mean of normalized pointwise mutual '
  'information, from -1 to 1. query: as lda_topics, usually the documents of the fit. 42804 for a '
  'model of another family, 22004 if it is NULL, 22023 for any other query. top: the number of '
  'terms, 2 to 1000; 22023 for another number.';

CREATE FUNCTION lda_typical_documents(query bayes_query, model bayes_model, top int DEFAULT 10)
  RETURNS TABLE (topic int, rank int, document text, proportion float8, sd float8)
  AS 'MODULE_PATHNAME' @volatile COST 100000 ROWS 100;
COMMENT IS 'The ten most typical documents of every topic, among those of a query: topics and '
  'ranks from 1, the document''s name, its expected proportion of the topic and the posterior '
  'standard deviation of the proportion, as in lda_top_topics. The order '
  'is by ln(proportion) - 2 sd / proportion, then by name: the proportions of short documents are '
  'uncertain, so a large one alone does not make them typical. query: one SELECT of a name and a '
  'document (tsvector, text[] or jsonb), or of document, term and count; it is run as the caller, '
  'read-only. 22023 for any other query, 22004 if an argument is NULL, 42804 for a model of '
  'another family. top: the number of documents of each topic; 22023 below 1, or above 1000000 '
  'divided by the number of topics.';

-- ---- a model as relations ----

CREATE FUNCTION lda_topics(model bayes_model, top int DEFAULT 10)
  RETURNS TABLE (topic int, rank int, term text, probability float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 100;
COMMENT IS 'The ten most probable terms of every topic: topics and ranks from 1, and the '
  'probability of the term in the topic (posterior mean; after em the estimate). 42804 for a model '
  'of another family.'
  ' top: the number of terms of each topic (all, if there are fewer); 22023 below 1.';

CREATE FUNCTION lda_relevance(model bayes_model, lambda float8, top int DEFAULT 10)
  RETURNS TABLE (topic int, rank int, term text, probability float8, relevance float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 100;
COMMENT IS 'The ten most relevant terms of every topic (Sievert and Shirley 2014): relevance is '
  'lambda log p(term | topic) + (1 - lambda) log(p(term | topic) / p(term)), where p(term) is the '
  'average over the topics by their weights. lambda, from 0 to 1: 1 is the order of probability, '
  'smaller values prefer terms that are rare in other topics; 0.6 is a good choice. 22023 for '
  'another lambda, 42804 for a model of another family. top: the number of terms of each topic; '
  '22023 below 1.';

CREATE FUNCTION lda_topic_weights(model bayes_model)
  RETURNS TABLE (topic int, weight float8, alpha float8, eta float8, effective_terms float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 10;
COMMENT IS 'The topics, numbered from 1: weight, the expected share of all tokens of the fit; '
  'alpha, the parameter of the Dirichlet prior of a document''s proportions, and eta, that of the '
  'topic''s terms, given or learned; effective_terms, exp(entropy) of the topic: the number of '
  'equally probable terms with the same entropy. 42804 for a model of another family.';

CREATE FUNCTION lda_posterior(model bayes_model)
  RETURNS TABLE (topic int, term text, lambda float8)
  AS 'MODULE_PATHNAME' @strict COST 100 ROWS 1000;
COMMENT IS 'The posterior of every topic, a Dirichlet over the terms, of a model fitted by vi or '
  'svi: its parameters. 22023 for a model without a posterior, 42804 for a model of another '
  'family.';

-- ---- a model and a document ----

CREATE FUNCTION lda_proportions(model bayes_model, document "any") RETURNS float8[]
  AS 'MODULE_PATHNAME' @strict COST 1000;
COMMENT IS 'The expected proportions of the K topics in a document; they sum to 1. Inference is '
  'variational, given the topics'' posterior means. '
  @lda_document;

CREATE FUNCTION lda_predict(model bayes_model, document "any") RETURNS int
  AS 'MODULE_PATHNAME' @strict COST 1000;
COMMENT IS 'The topic with the largest expected proportion in a document, from 1. '
  @lda_document;

CREATE FUNCTION lda_top_topics(model bayes_model, document "any", top int DEFAULT 3)
  RETURNS TABLE (topic int, rank int, proportion float8, sd float8)
  AS 'MODULE_PATHNAME' @strict COST 1000 ROWS 3;
COMMENT IS 'The three topics with the largest expected proportions in a document: topics and '
  'ranks from 1, the proportion, and its posterior standard deviation. '
  @lda_document
  ' top: the number of topics (all, if there are fewer); 22023 below 1.';

CREATE FUNCTION lda_similarity(model bayes_model, document "any", other "any")
  RETURNS float8
  AS 'MODULE_PATHNAME' @strict COST 2000;
COMMENT IS 'How similar the expected proportions of two documents are: 1 - their Hellinger '
  'distance, 1 for equal proportions, 0 for documents without a common topic. '
  @lda_document;
