# Fits of all models over partitions on other servers (option push_down): the model of one table, to
# 1e-9, after as many iterations. Two servers, and tables of the server of the fit; some are empty.
#
# How long, for the runner:
# seconds: 60
use strict;
use warnings;
use Partitions;
use Test::More;

my ($one, $two, $here) = Partitions::servers(columns => $Partitions::columns,
    bounds => \@Partitions::bounds);
$here->query("$Partitions::rows; INSERT INTO obs SELECT * FROM plain; ANALYZE");

# Is the pushed fit that of one table? `start`: a query over %s that makes a model to start from.
my $session = $here->session;
$session->run('SET client_min_messages = error');
sub same {
    my ($name, $function, $query, $arguments, $given, $start) = @_;
    if (defined $start) {
        $session->run("DROP TABLE IF EXISTS start; CREATE TABLE start AS SELECT $start AS model");
        $arguments = ', start => (SELECT model FROM start)';
    }
    my $of = sub { "$function('" . ($query =~ s/%s/$_[0]/gr =~ s/'/''/gr)
        . "'$arguments, options => '{$given$_[1]}'::jsonb)" };
    my $said = $session->run('SELECT largest_difference(' . $of->('plain', '') . ', '
            . $of->('obs', ($given eq '' ? '' : ', ') . '"push_down": true') . ')');
    ok($said =~ /^([\d.e-]+) / && $1 < 1e-9, "$name: the model of one table") or diag $said;
}
sub said {
    my ($sql) = @_;
    my ($out, $err) = $here->attempt($sql);
    return "$out$err";
}

# ---- mixtures that start from a model ----

my $few = '"max_iter": 4, "tol": 0';
for my $method (qw(vi em map)) {
    same("gmm by $method from a model", 'gmm_model', 'SELECT x, y, z FROM %s', '',
        "$few, \"restarts\": 2", "gmm_model('SELECT z, x, y FROM plain WHERE id < 3000', 3,
            '{\"method\": \"$method\", \"max_iter\": 5}')");
    same("bmm by $method from a model, new labels", 'bmm_model', 'SELECT x, g, u, n FROM %s', '',
        "$few, \"restarts\": 2", "bmm_model('SELECT n, g, x, u FROM plain WHERE g <> ''red''', 3,
            '{\"method\": \"$method\", \"max_iter\": 5, \"likelihood\": {\"n\": \"poisson\"}}')");
}
same('gmm of arrays from a model', 'gmm_model', 'SELECT v, w FROM %s WHERE id > 2000', '',
    "$few, \"covariance\": \"diagonal\"", "gmm_model('SELECT v FROM plain WHERE id < 3000', 2)");
like(said("SELECT count(*) FROM gmm_fit('SELECT v FROM obs', options => '{\"push_down\": true}',
        start => gmm_model('SELECT v FROM plain WHERE id < 900', 2, '{\"method\": \"collapsed\",
        \"draws\": 4}'))"),
    qr/22023: query cannot be pushed down: method collapsed needs rows one at a time/,
    'a model by a sampler hands its method on');
like(said("SELECT gmm_model('SELECT x FROM obs', NULL, '{\"push_down\": true}',
        gmm_model('SELECT x, z FROM plain', 2))"), qr/22023: rows have no column "z"/,
    'columns of another model');
like(said("SELECT gmm_model('SELECT v FROM obs', NULL, '{\"push_down\": true}',
        gmm_model('SELECT x FROM plain', 2))"),
    qr/2202E: rows have 2 elements, but the start model has 1/, 'arrays of another length');

# ---- minibatches by content ----

my $svi = '"method": "svi", "max_iter": 60, "tol": 0, "batch_size": 300, "restarts": 2';
same('gmm by svi', 'gmm_model', 'SELECT x, y, z FROM %s', ', 3', "$svi, \"minibatch\": \"hash\"");
same('bmm by svi', 'bmm_model', 'SELECT x, g, w FROM %s', ', 3',
    "$svi, \"minibatch\": \"hash\", \"weight\": \"w\"");
is($session->run("SELECT (bayes_info(gmm_model('SELECT x, y FROM obs', 2,
        '{\"push_down\": true, $svi}'))).options->>'minibatch'"), 'hash',
    'elsewhere they always are');
like(said("SELECT gmm_model('SELECT x FROM obs', 2, '{\"push_down\": true, $svi,
        \"minibatch\": \"groups\"}')"),
    qr/cannot be pushed down: option minibatch is "groups"; elsewhere it is "hash"/,
    'groups of neighbours are refused');

# ---- views, subqueries and records ----

for my $table (qw(plain obs)) {
    $session->run("CREATE VIEW ${table}_some AS SELECT id AS name, x + 1 AS a, g, w, n, u
          FROM $table WHERE y > -3;
        CREATE VIEW ${table}_nested AS SELECT a * 2 AS b, g, w, name FROM ${table}_some
          WHERE name % 5 > 0;
        CREATE VIEW ${table}_closed WITH (security_barrier) AS SELECT x, z FROM $table;
        CREATE VIEW ${table}_sum AS SELECT n, sum(x) AS x FROM $table GROUP BY n");
}
for my $server ($one, $two) { $server->query('CREATE TABLE two (x float8, g text)') }
$here->query("CREATE TABLE two (x float8, g text) PARTITION BY LIST (g);
    CREATE FOREIGN TABLE two_a PARTITION OF two FOR VALUES IN ('low') SERVER one
      OPTIONS (table_name 'two');
    CREATE FOREIGN TABLE two_b PARTITION OF two DEFAULT SERVER two OPTIONS (table_name 'two');
    INSERT INTO two SELECT x, g FROM plain; CREATE TABLE plain_two AS TABLE two;
    ALTER TABLE two RENAME TO obs_two");
for my $case (['a view', 'SELECT a, g FROM %s_some'],
    ['a view, with conditions', 'SELECT g, a - 1 AS a FROM %s_some WHERE a < 9 AND n > 0'],
    ['a view of a view', 'SELECT b, g FROM %s_nested WHERE name < 12000 ORDER BY b'],
    ['a subquery', 'SELECT b, c FROM (SELECT x AS b, n + 1.5 AS c FROM %s WHERE u) AS s'],
    ['whole rows of a table', 'SELECT t FROM %s_two AS t WHERE x > 0'],
    ['whole rows of a view', 'SELECT v FROM %s_nested AS v'],
    ['whole rows of a subquery', 'SELECT r FROM (SELECT g, x, z FROM %s WHERE id > 99) AS r'],
    ['rows made by ROW', 'SELECT ROW(x, g, z) FROM %s'],
    ['rows with weights', 'SELECT ROW(x, g) AS r, w + 0.5 AS times FROM %s', '"weight": "times"']) {
    my ($name, $query, $more) = @$case;
    same($name, 'bmm_model', $query, ', 3', "$few, \"restarts\": 1" . ($more ? ", $more" : ''));
}
my %refused = ('SELECT x, z FROM obs_closed' => 'a view of the query is a security barrier',
    'SELECT x FROM obs_sum' => 'the query aggregates',
    'SELECT x FROM (SELECT x FROM obs LIMIT 5) AS s' => 'the query has LIMIT or OFFSET',
    'SELECT x FROM (SELECT x, random() AS r FROM obs) AS s'
        => 'the query calls a volatile function',
    'SELECT CASE WHEN x > 0 THEN ROW(x, z) ELSE ROW(z, x) END FROM obs'
        => 'its rows are records that an expression makes; select their columns');
for my $query (sort keys %refused) {
    like(said("SELECT gmm_model('$query', 1, '{\"push_down\": true}')"),
        qr/22023: query cannot be pushed down: \Q$refused{$query}\E/, "$query: refused");
    # Rows are collected with the options that were given.
    like(said("SELECT (bayes_info(gmm_model('$query', 1, '{\"push_down\": \"auto\",
            \"method\": \"em\", \"max_iter\": 3}'))).method"),
        qr/^em.*NOTICE:  00000: rows are collected on this server: \Q$refused{$query}\E/s,
        "$query: auto");
    like(said("SELECT gmm_model('$query', 1, '{\"push_down\": \"auto\", \"metod\": 1}')"),
        qr/22023: unknown option "metod"/, "$query: auto, a misspelt option");
}

# ---- Dirichlet process mixtures by vi ----

my $vi = "\"method\": \"vi\", $few, \"truncation\": 6, \"restarts\": 3";
same('dpmm', 'dpmm_model', 'SELECT x, z FROM %s WHERE id % 3 > 0', '', $vi);
same('dpmm, missing elements', 'dpmm_model', 'SELECT x, y FROM %s', '', $vi);
same('dpmm, columns of all kinds', 'dpmm_model', 'SELECT x, g, u, n FROM %s', '',
    "$vi, \"likelihood\": {\"n\": \"poisson\"}");
same('dpmm of arrays', 'dpmm_model', 'SELECT v FROM %s', '', "$vi, \"covariance\": \"diagonal\"");
same('dpmm, few rows', 'dpmm_model', 'SELECT x FROM %s WHERE id IN (5, 6, 7001, 7002, 12000)', '',
    $vi);
same('dpmm from a model by vi', 'dpmm_model', 'SELECT x, g FROM %s', '', $few,
    "dpmm_model('SELECT g, x FROM plain WHERE g <> ''red''', '{$vi}')");
same('dpmm from a model by a sampler', 'dpmm_model', 'SELECT x, z FROM %s', '', $vi,
    "dpmm_model('SELECT x, z FROM plain WHERE id < 400', '{\"method\": \"collapsed\",
        \"draws\": 20, \"chains\": 1}')");
like(said("SELECT dpmm_model('SELECT x FROM obs', '{\"push_down\": true}')"),
    qr/22023: query cannot be pushed down: method collapsed needs rows one at a time; .*: vi/,
    'the default method of dpmm is a sampler');

# ---- regressions and classifiers ----

my $passes = '"max_iter": 6, "tol": 0';
same('logreg', 'logreg_model', 'SELECT u, x, z, g, n FROM %s', '', $passes);
same('logreg of arrays, without intercept', 'logreg_model', 'SELECT u, v FROM %s WHERE x > 0', '',
    "$passes, \"intercept\": false");
same('logreg with weights and NULLs', 'logreg_model', 'SELECT u, y, n, w FROM %s', '',
    "$passes, \"weight\": \"w\"");
same('logreg of whole rows', 'logreg_model',
    'SELECT u, t FROM (SELECT u, ROW(x, n) AS t FROM %s) AS s', '', $passes);
# Fewer passes than end it: the last ones differ by rounding alone, which decides what converged.
my $start = '"max_iter": 3, "tol": 0';
same("glm of $_", 'glm_model', 'SELECT n, x, g FROM %s', '', "$start, \"response\": \"$_\"")
    for qw(poisson negative_binomial student_t categorical ordinal);
same('glm of labels', 'glm_model', 'SELECT g, x, u FROM %s', '',
    "$start, \"response\": \"categorical\"");
same('glm of given levels', 'glm_model', 'SELECT n % 3, x, u FROM %s', '',
    "$start, \"response\": \"ordinal\", \"levels\": [2, 0, 1]");
same("glm of $_ by slice", 'glm_model', 'SELECT n, x, u FROM %s', '',
    "\"response\": \"$_\", \"method\": \"slice\", \"chains\": 2, \"draws\": 12")
    for qw(poisson ordinal);
same('glm with trials and an offset', 'glm_model', 'SELECT n, x, g, y FROM %s', '',
    "$start, \"response\": \"binomial\", \"trials\": 100, \"offset\": \"y\"");
same('glm of learned degrees', 'glm_model', 'SELECT n, x, u FROM %s', '',
    "$start, \"response\": \"student_t\", \"df\": \"learned\"");
same('glm with products of columns', 'glm_model', 'SELECT n, x, g, u, z FROM %s', '',
    "$start, \"response\": \"poisson\", \"terms\": [\"g*u\", \"x:x\", \"g:x\"]");
same("probit by $_", 'probit_model', 'SELECT n > 1, x, g FROM %s', '',
    "$passes, \"method\": \"$_\"")
    for qw(laplace em vi);
same('linreg', 'linreg_model', 'SELECT z, x, g, n, u FROM %s', '', '');
same('linreg of arrays with weights', 'linreg_model', 'SELECT z, v, w FROM %s WHERE n < 3', '',
    '"weight": "w"');
same("linreg by $_", 'linreg_model', 'SELECT z, x, y FROM %s', '', "\"method\": \"$_\"")
    for qw(em vi laplace);
same('nb', 'nb_model', 'SELECT g, x, y, u, n FROM %s', '', '"likelihood": {"n": "poisson"}');
same('nb of arrays with weights', 'nb_model', 'SELECT n, v, w FROM %s', '', '"weight": "w"');
for my $refused (['logreg_model', 'SELECT u, x FROM obs', '"method": "gibbs"',
        'method gibbs needs rows one at a time; these do not: laplace'],
    ['probit_model', 'SELECT u, x FROM obs', '"method": "gibbs"', 'laplace, em, vi'],
    ['nb_model', 'SELECT n, x FROM plain', '', 'the rows of "plain" are on this server']) {
    my ($function, $query, $more, $why) = @$refused;
    like(said("SELECT $function('$query', '{\"push_down\": true" . ($more ? ", $more" : '')
            . "}'::jsonb)"), qr/22023: query cannot be pushed down: .*\Q$why\E/,
        "$function: refused");
}
like(said("SELECT linreg_model('SELECT z, x FROM obs', '{\"push_down\": \"auto\"}'::jsonb)
        IS NULL"),
    qr/NOTICE:  00000: fit is pushed down: 2 servers and this one, 12500 rows/,
    'sums are pushed down under auto');
for my $table (qw(plain obs)) {
    my ($out, $err) = $here->attempt("SELECT count(*) FROM logreg_fit('SELECT u, x, u::int AS same
            FROM $table', '{\"push_down\": \"auto\", $passes}'::jsonb)");
    like($err, qr/WARNING:  .* column "same" equals the response in every row/,
        "a predictor that is the response, $table");
}

done_testing();
