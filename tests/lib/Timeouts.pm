# Statements beside those of Cancels that may be late for a timeout: over large models, pages of
# many charts, and fits over foreign tables of the same server. Some end by themselves before it.
package Timeouts;
use strict;
use warnings;
use Cancels;

my $endless = $Cancels::endless;
my $tables = <<'SQL';
CREATE TABLE broad AS SELECT i AS id,
  ARRAY(SELECT sin(i * j * 0.37) FROM generate_series(1, 1600) AS j) AS x
FROM generate_series(1, 1700) AS i;
CREATE TABLE large AS SELECT 'columns' AS name,
  gmm_fit(x, 1, '{"restarts": 1, "max_iter": 1, "tol": 1e6}') AS model FROM broad;
INSERT INTO large SELECT 'scales', gmm_fit(x[1:500], 2, '{"prior": {"type": "independent"},
  "restarts": 1, "max_iter": 1, "tol": 1e6}') FROM broad;
INSERT INTO large SELECT 'components', gmm_fit(x[1:100], 1000, '{"covariance": "diagonal",
  "restarts": 1, "max_iter": 1, "tol": 1e6}') FROM broad;
INSERT INTO large SELECT 'draws', gmm_fit(x[1:100], 4,
  '{"method": "gibbs", "draws": 100, "warmup": 10, "chains": 2}') FROM broad;
INSERT INTO large SELECT 'categories', bmm_fit(ARRAY(SELECT (id * j * j + j) % 97
    FROM generate_series(1, 60) AS j), 60, '{"likelihood": "categorical", "method": "vi",
  "restarts": 1, "max_iter": 1, "tol": 1e6}') FROM broad;
INSERT INTO large SELECT 'states', hmm_fit(y, 400, '{"restarts": 1, "max_iter": 1, "tol": 1e6}')
FROM (SELECT array_agg(chr(97 + i * i % 26)) AS y FROM generate_series(1, 500) AS i) AS s;
INSERT INTO large SELECT 'clusters', dpmm_fit(x[1:100], '{"method": "vi", "truncation": 200,
  "restarts": 1, "max_iter": 1, "tol": 1e6}') FROM broad;
INSERT INTO large SELECT 'features', words FROM classifiers;
INSERT INTO large SELECT 'classes', columns FROM classifiers;
INSERT INTO large SELECT 'terms', model FROM shelves;
INSERT INTO large SELECT 'factors', model FROM factors;
INSERT INTO large SELECT 'ratings', model FROM ratings;
INSERT INTO large SELECT 'coefficients', linreg_fit(sums) FROM statistics;
INSERT INTO large SELECT 'labels', dirichlet_categorical_fit(i) FROM generate_series(1, 100000) i;
INSERT INTO large SELECT 'given', bayes_condition(model, array_fill(NULL::float8, '{1599}') || 0.5)
FROM large WHERE name = 'columns';
CREATE TABLE pictures AS SELECT array_fill(bayes_chart(model, 'columns'), '{400}') AS charts
FROM large WHERE name = 'classes';
CREATE EXTENSION postgres_fdw;
CREATE USER MAPPING FOR CURRENT_USER SERVER itself;
CREATE TABLE obs (id int, x float8[], words text[]) PARTITION BY RANGE (id);
CREATE TABLE obs_other AS SELECT id, x[1:8], ARRAY(SELECT 't' || (id * i) % 301
  FROM generate_series(1, 20) AS i) AS words FROM rows;
CREATE FOREIGN TABLE obs_there PARTITION OF obs FOR VALUES FROM (0) TO (100000) SERVER itself
  OPTIONS (table_name 'obs_other');
CREATE TABLE obs_here PARTITION OF obs FOR VALUES FROM (100000) TO (200000);
INSERT INTO obs SELECT id + 100000, x, words FROM obs_other WHERE id <= 3000;
ANALYZE;
SQL

# Statements over them, which may also end by themselves.
my $row = 'ARRAY(SELECT sin(j * 1.9) FROM generate_series(1, d) AS j)';
my $half = 'ARRAY(SELECT CASE WHEN j % 2 = 0 THEN sin(j * 1.9) END
    FROM generate_series(1, d) AS j)';
my $bounds = "array_fill(-0.9, ARRAY[d]), array_fill(0.9, ARRAY[d])";
my %questions = (
    'anomaly' => "bayes_anomaly(model, $row)",
    'anomaly of several models' => "bayes_anomaly(ARRAY[model, model], $row)",
    'density' => "bayes_log_density(model, $row)",
    'density given others' => "bayes_log_density(model, $row, $half)",
    'prediction' => "bayes_predict(model, $row)::text",
    'condition' => "bayes_condition(model, $half) IS NULL",
    'conditional' => "(SELECT count(*) FROM bayes_conditional(model, $half))",
    'imputation' => "bayes_impute(model, $half)::text",
    'probability' => "bayes_probability(model, $bounds)",
    'probability given others' => "bayes_probability(model, $bounds, $half)",
    'surprise' => "bayes_surprise(model, $row)::text",
    'similarity' => "bayes_similarity(model, $row, $row)",
    'drift' => "bayes_drift(model, $row)::text",
    'information' => "(SELECT count(*)
          FROM bayes_mutual_information(model, '{\"draws\": 3}'))",
);
my %accessors = ('to text' => 'length(model::text)', 'to jsonb' => 'model::jsonb IS NULL',
    'from jsonb' => 'model::jsonb::bayes_model IS NULL',
    'from text' => 'model::text::bayes_model IS NULL', 'compact' => 'bayes_compact(model) IS NULL',
    'parameters' => '(SELECT count(*) FROM bayes_parameters(model))',
    'compare' => '(SELECT count(*) FROM bayes_compare(model, model))',
    'match' => '(SELECT count(*) FROM bayes_match(model, model))',
    'sample' => '(SELECT count(*) FROM bayes_sample(model, 10, 1))',
    'chart' => 'bayes_chart(model) IS NULL', 'plot' => 'bayes_plot(model) IS NULL',
    'chart data' => '(SELECT count(*) FROM bayes_chart_data(model))');
sub of_large {
    my ($of, $model, @which) = @_;
    return map { ("$_ of many $model" => "SELECT $of->{$_} FROM large,
          LATERAL (SELECT dimension AS d FROM bayes_info(model)) AS i WHERE name = '$model'") }
        @which;
}
our %kinds = (
    (map { of_large(\%questions, $_, sort keys %questions) } qw(columns scales components draws)),
    of_large(\%questions, 'given', qw(anomaly condition probability information)),
    (map { of_large(\%accessors, $_, grep { $_ ne 'sample' } sort keys %accessors) }
        qw(columns components categories states features terms)),
    of_large(\%accessors, 'draws', sort keys %accessors),
    of_large(\%accessors, 'clusters', 'sample', 'chart', 'compare', 'from jsonb'),
    (map { of_large(\%accessors, $_, 'to jsonb', 'from jsonb', 'to text', 'chart', 'compact') }
        qw(factors ratings coefficients labels classes scales)),
    'hmm, a thousand states' => "SELECT hmm_fit(x, 1000, '{$endless}') FROM sequences
          WHERE id <= 20",
    'hmm, a thousand states by em' => "SELECT hmm_fit(x, 1000, '{\"method\": \"em\", $endless}')
          FROM sequences WHERE id <= 20",
    'hmm, paths through many states' => "SELECT count(hmm_decode(model,
          ARRAY(SELECT chr(97 + i * i % 26) FROM generate_series(1, 5000) AS i))) FROM large
          WHERE name = 'states'",
    (map { ("gmm $_, many columns" => "SELECT gmm_fit(x, 2, '{\"method\": \"$_\", $endless}')
          FROM broad") } qw(em map vi svi kmeans)),
    'linreg, many columns' => "SELECT linreg_fit(id, x, '{\"method\": \"vi\"}') FROM broad",
    'logreg, many columns' => "SELECT logreg_fit(id % 3 = 0, x, '{\"tol\": 0}') FROM broad",
    'gmm select, many columns' => "SELECT * FROM gmm_select('SELECT x FROM broad', '{1,2}',
          '{\"covariance\": [\"tied\", \"full\"], $endless}')",
    'page of a large title' => "SELECT length(bayes_page(repeat('<', 20000000), charts))
          FROM pictures",
    'page of many charts' => 'SELECT length(bayes_page(NULL, charts)) FROM pictures',
    'page of a large chart' => "SELECT length(bayes_page('t', jsonb_build_object('a', t)))
          FROM repeat('<\"', 40000000) AS t",
    'chart of rows' => "SELECT bayes_chart('SELECT x FROM broad', model, 'columns') IS NULL
          FROM large WHERE name = 'columns'",
    'similarity of rows' => "SELECT bayes_chart('SELECT x[1:100] FROM broad', model, 'similarity')
          IS NULL FROM large WHERE name = 'draws'",
    (map { ("gmm $_, pushed down" => "SELECT * FROM gmm_fit('SELECT x FROM obs', 8,
          '{\"method\": \"$_\", \"push_down\": true, $endless}')") } qw(em vi svi)),
    'lda, pushed down' => "SELECT * FROM lda_topics('SELECT id, words FROM obs', 100,
          '{\"push_down\": true, $endless}')",
    'bmm, pushed down' => "SELECT bmm_model('SELECT x FROM obs', 20,
          '{\"push_down\": true, \"likelihood\": \"normal\", $endless}')",
    'linreg, pushed down' => "SELECT linreg_model('SELECT id, x FROM obs',
          '{\"push_down\": true}')",
);

# Makes these tables, and those of Cancels: all, or those that these are made of and ask for.
sub make_tables {
    my ($server, $all) = @_;
    Cancels::make_tables($server, $all ? () : qw(rows sequences volumes shelves cells factors
        ratings classifiers statistics));
    my ($host, $database) = ($server->host, $server->database);
    $server->query($tables =~ s{(CREATE USER MAPPING)}{CREATE SERVER itself
        FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '5432', dbname '$database',
        extensions 'pg_bayes'); $1}r);
}

1;
