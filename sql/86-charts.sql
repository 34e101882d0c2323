-- Pictures of models.

DEFINE @of_charts =
  'kind: which picture, NULL for the default of the family. Of models that are distributions over '
  'rows: ellipses (of the components in two columns), columns (the density of every column, by '
  'component) and density (over two columns); with draws band (where densities lie, by level); of '
  'hmm transitions; of regressions coefficients and, where these are changes of a logarithm, '
  'ratios, of other models parameters and weights, with intervals; of conjugate models posterior; '
  'of lda and nmf terms (the labels of greatest weight), parts (labels by component) and map '
  '(which are alike); of fits trace; of draws trace, ranks, ess and, where they have clusters, '
  'clusters. With a query its rows are shown too, in ellipses, columns and density, and there '
  'are: similarity of mixtures (how probable it is that two rows are in one component), states '
  'and forecast of hmm (rows are the steps of one sequence), predictions and residuals of linreg '
  'and of glm but of yes or no, rootogram of glm of counts (numbers of rows by response, observed '
  'and expected), calibration of logreg, probit and glm of yes or no, confusion of nb (their '
  'queries begin with the response or the label), residuals of pmf (keys of row and column, and '
  'the number), shares of lda (the topics of documents by time or another group, which comes '
  'before the document). options: columns, names or numbers from 1 (two for ellipses and density; '
  'by default those in which components differ most); level of intervals (0.95); terms of a '
  'component (1 to 50, 10 if not given); of every chart title, subtitle, x and y (titles of the '
  'axes), names (an array: of components, in their order) and width (of a panel, 100 to 2000 '
  'pixels; plots and data have no use for it); rows of the query that are shown (1 to 5000, 1000 '
  'if not given; for similarity 1 to 64, 60), a sample by seed (1), or the first steps, or the '
  'last before a forecast of steps more (1 to 1000, 20 if not given); of documents all. At most '
  '24 components, 16 panels and 48 groups are shown. Errors: 22023 for an invalid option or an '
  'unknown kind, 42804 for a kind that the model does not have, with those that it has; 22004 for '
  'a NULL query; 54000 for more groups.';

DEFINE @chart_items = TABLE (panel int, title text, mark text, series text, path int, x float8,
  x_label text, y float8, y_label text, lower float8, upper float8, value float8,
  x_time timestamp);
-- They have the date of the day.
DEFINE @dated = LANGUAGE C STABLE PARALLEL SAFE;

DEFINE @of_chart_items =
  'For each mark (point, line, area, bar, interval, cell, name) of a panel its series '
  '(component, topic, chain), its place as a number or a label, the bounds of an interval, and '
  'the value of a cell (of points of calibration the number of rows); on an axis of time x_time, '
  'the time of the session''s zone; the points of a line come in its order, and those of one path '
  'are joined. No rows for a NULL model. ';

DEFINE @of_several =
  'Of conjugate models kind posterior: the posteriors of one parameter over each other, called '
  'A, B, ... or as option names says, with the probability that the first of two is the greater; '
  'of others criteria: BIC and objective by the number of components, a line for each method and '
  'form of covariances: SELECT bayes_chart(array_agg(model)) FROM gmm_select(...), with option '
  'models. NULLs are left out; NULL without models. Errors: 42804 for models of different '
  'families and for another kind, 22023 for an invalid option, 22003 for improper posteriors.';

CREATE FUNCTION bayes_chart(model bayes_model, kind text DEFAULT NULL, options jsonb DEFAULT NULL)
  RETURNS jsonb
  AS 'MODULE_PATHNAME' @immutable COST 10000;
COMMENT IS 'A picture of a model as a Vega-Lite specification (version 6) with its data inline, '
  'which notebooks, dashboards and bayes_page show. At most 200,000 bytes, else 54000. NULL for '
  'a NULL model. '
  @of_charts;

CREATE FUNCTION bayes_chart(
  models bayes_model[], kind text DEFAULT NULL, options jsonb DEFAULT NULL
) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'bayes_chart_models' @immutable COST 10000;
COMMENT IS 'The same of several models of one family. '
  @of_several;

CREATE FUNCTION bayes_chart(
  query bayes_query, model bayes_model, kind text DEFAULT NULL, options jsonb DEFAULT NULL
) RETURNS jsonb
  AS 'MODULE_PATHNAME', 'bayes_chart_rows' @volatile COST 100000;
COMMENT IS 'A picture of the rows of a query under a model, as a Vega-Lite specification. The '
  'query runs as the caller. NULL for a NULL model. '
  @of_charts;

CREATE FUNCTION bayes_chart_data(
  model bayes_model, kind text DEFAULT NULL, options jsonb DEFAULT NULL
) RETURNS @chart_items
  AS 'MODULE_PATHNAME' @immutable COST 10000 ROWS 1000;
COMMENT IS 'The numbers of the picture that bayes_chart makes of a model, as rows, for tools that '
  'draw relations. '
  @of_chart_items
  @of_charts;

CREATE FUNCTION bayes_chart_data(
  models bayes_model[], kind text DEFAULT NULL, options jsonb DEFAULT NULL
) RETURNS @chart_items
  AS 'MODULE_PATHNAME', 'bayes_chart_data_models' @immutable COST 10000 ROWS 1000;
COMMENT IS 'The same of several models of one family. '
  @of_several;

CREATE FUNCTION bayes_chart_data(
  query bayes_query, model bayes_model, kind text DEFAULT NULL, options jsonb DEFAULT NULL
) RETURNS @chart_items
  AS 'MODULE_PATHNAME', 'bayes_chart_data_rows' @volatile COST 100000 ROWS 1000;
COMMENT IS 'The numbers of the picture that bayes_chart makes of the rows of a query under a '
  'model, as rows. '
  @of_chart_items
  @of_charts;

CREATE FUNCTION bayes_plot(
  model bayes_model, kind text DEFAULT NULL, options jsonb DEFAULT NULL, width int DEFAULT NULL
) RETURNS text
  AS 'MODULE_PATHNAME' @immutable COST 10000;
COMMENT IS 'The picture that bayes_chart makes of a model in characters, for psql: lines of at '
  'most width characters (30 to 1000, 72 if not given). NULL for a NULL model. '
  @of_charts;

CREATE FUNCTION bayes_plot(
  models bayes_model[], kind text DEFAULT NULL, options jsonb DEFAULT NULL,
  width int DEFAULT NULL
) RETURNS text
  AS 'MODULE_PATHNAME', 'bayes_plot_models' @immutable COST 10000;
COMMENT IS 'The same of several models of one family. '
  @of_several;

CREATE FUNCTION bayes_plot(
  query bayes_query, model bayes_model, kind text DEFAULT NULL, options jsonb DEFAULT NULL,
  width int DEFAULT NULL
) RETURNS text
  AS 'MODULE_PATHNAME', 'bayes_plot_rows' @volatile COST 100000;
COMMENT IS 'The picture that bayes_chart makes of the rows of a query under a model in characters, '
  'for psql: lines of at most width characters (30 to 1000, 72 if not given). NULL for a NULL '
  'model. '
  @of_charts;

DEFINE @of_pages =
  'It loads vega, vega-lite and vega-embed, of exact versions, from jsdelivr.net, or from option '
  'scripts: a directory beside the page or an address with vega.min.js, vega-lite.min.js and '
  'vega-embed.min.js. psql -At -c "SELECT bayes_page(...)" -o page.html. NULL for NULL charts. '
  '22023 for an invalid option, and for a chart that is no JSON object; 54000 for a page of more '
  'than 1000 MB.';

CREATE FUNCTION bayes_page(model bayes_model, options jsonb DEFAULT NULL)
  RETURNS text
  AS 'MODULE_PATHNAME', 'bayes_page_model' @dated COST 100000;
COMMENT IS 'One HTML page about a model, to be sent round: what it was fitted to and how the fit '
  'ended, up to eight charts of the model, and its parameters, the first 200, with intervals. psql '
  '-At -c "SELECT bayes_page(model) FROM ..." -o model.html. options: title, subtitle, names (of '
  'components, in their order), level of intervals (0.95), scripts as for a page of charts. NULL '
  'for a NULL model. 22023 for an invalid option.';

CREATE FUNCTION bayes_page(title text, chart jsonb, options jsonb DEFAULT NULL)
  RETURNS text
  AS 'MODULE_PATHNAME' @dated COST 1000;
COMMENT IS 'One HTML page that shows a chart of bayes_chart, with the date. '
  @of_pages;

CREATE FUNCTION bayes_page(title text, charts jsonb[], options jsonb DEFAULT NULL)
  RETURNS text
  AS 'MODULE_PATHNAME', 'bayes_page_charts' @dated COST 1000;
COMMENT IS 'One HTML page that shows several charts, side by side where there is room, with the '
  'date. NULLs among them are left out. '
  @of_pages;
