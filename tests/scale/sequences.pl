# Sequences over partitions on other servers (option push_down): hidden Markov models of arrays,
# which are those of one table.
#
# How long, for the runner:
# seconds: 45
use strict;
use warnings;
use Partitions;
use Test::More;

# ---- the servers, and one table in two forms ----

my ($one, $two, $here) = Partitions::servers(
    columns => 'id int, x float8[], n int[], v float8[], holes float8[], w text[], c float8[],
    kind text',
    bounds => [150, 220, 300], settings => {log_statement => 'all'});

# States that last, with gaps, NULLs and empty arrays; symbols that only some parts have, in another
# order in each; and one sequence that is longer than a piece of the row store.
$here->query(<<'SQL');
CREATE TABLE plain AS
  SELECT id, CASE WHEN id % 17 > 0 THEN array_agg(x ORDER BY t) FILTER (WHERE t > 0) END AS x,
    CASE WHEN id % 19 > 0 THEN coalesce(array_agg(n ORDER BY t) FILTER (WHERE t > 0), '{}')
      END AS n,
    array_agg(ARRAY[x, y] ORDER BY t) FILTER (WHERE t > 0) AS v,
    array_agg(ARRAY[NULLIF(x, gap), CASE WHEN t % 7 > 0 THEN y END] ORDER BY t)
      FILTER (WHERE t > 0) AS holes,
    array_agg(w ORDER BY t) FILTER (WHERE t > 0) AS w,
    array_agg(ARRAY[exp(x / 4), NULLIF(n, 3)] ORDER BY t) FILTER (WHERE t > 0) AS c,
    (ARRAY['a', 'b', 'c'])[1 + id % 3] AS kind
  FROM (SELECT id, t, s * 1.5 + sin(t * 7.1 + id) * 1.8 AS x,
      s * s - cos(t * 3.3 + id * 2) * 2.5 AS y,
      (s * 2 + (t * id) % 6)::int AS n,
      CASE WHEN t % 5 = 0 THEN s * 1.5 + sin(t * 7.1 + id) * 1.8 END AS gap,
      CASE WHEN t % 11 > 0 THEN (ARRAY['zz', 'mid', 'ä'])[1 + (s + t * id % 4 / 3) % 3]
        || (t * 3 + id) % (4 + id / 150) END AS w
    FROM (SELECT id, t, (t / (4 + id % 5) + id) % 3 AS s FROM generate_series(1, 290) AS id,
      LATERAL generate_series(0, CASE id WHEN 7 THEN 18000 ELSE id % 29 END) AS t) AS r) AS q
  GROUP BY id;
INSERT INTO obs SELECT * FROM plain;
ANALYZE;
SQL

# ---- the same models ----

my %logged = map { ($_ => length $_->log) } $one, $two;
my $session = $here->session;
$session->run('SET client_min_messages = error');

sub call {
    my ($function, $query, $from, $options, $start) = @_;
    $start //= 3;
    return "$function('" . (sprintf($query =~ s/%(?!s)/%%/gr, $from) =~ s/'/''/gr)
        . "', $start, options => '{$options}')";
}

sub same {
    my ($name, $query, $options, $start) = @_;
    my $said = $session->run('SELECT difference('
            . call('hmm_model', $query, 'plain', $options, $start) . ', '
            . call('hmm_model', $query, 'obs', "$options, \"push_down\": true", $start) . ')');
    ok($said =~ /^[\d.e-]+$/ && $said < 1e-9, "$name: the model of one table") or diag $said;
}

# Only a first restart begins alike in both: others are drawn as paths in one table.
my $fixed = '"max_iter": 4, "tol": 0, "restarts": 1';
for my $method (qw(em vi map)) {
    my $how = "\"method\": \"$method\", $fixed";
    same("$method, normal", 'SELECT id, x FROM %s', "$how, \"emission\": \"normal\"");
    same("$method, vectors", 'SELECT id, v FROM %s', $how);
    same("$method, missing elements", 'SELECT id, holes FROM %s', $how);
    same("$method, symbols", 'SELECT id, w FROM %s', $how);
    same("$method, counts", 'SELECT id, n FROM %s', "$how, \"emission\": \"poisson\"");
    same("$method, a product", 'SELECT id, c FROM %s',
        "$how, \"emission\": [\"log_normal\", \"poisson\"]");
    same("$method, product of normals", 'SELECT id, holes FROM %s',
        "$how, \"emission\": [\"normal\", \"normal\"]");
}
same('integers are symbols', 'SELECT id, n FROM %s', $fixed);
same('booleans', 'SELECT id, ARRAY[n[1] > 2, n[2] > 1, id % 3 > 0] FROM %s', $fixed);
same('categories', 'SELECT id, n FROM %s', "$fixed, \"emission\": \"categorical\"");
same('diagonal covariances', 'SELECT id, v FROM %s', "$fixed, \"covariance\": \"diagonal\"");
same('a topology', 'SELECT id, v FROM %s', "$fixed, \"topology\": \"left-to-right\"");
same('WHERE', "SELECT kind, w FROM %s WHERE kind <> 'b' AND id > 20", $fixed);
same('one partition', 'SELECT id, v FROM %s WHERE id BETWEEN 150 AND 219', $fixed);
same('an expression', 'SELECT id, x || x FROM %s WHERE id % 17 > 1',
    "$fixed, \"emission\": \"normal\"");
$session->run('CREATE TABLE start AS SELECT '
    . call('hmm_model', 'SELECT id, w FROM %s WHERE id < 140', 'plain', $fixed) . ' AS words, '
    . call('hmm_model', 'SELECT id, v FROM %s WHERE id < 140', 'plain', $fixed) . ' AS vectors');
same("from a model of $_->[0]", "SELECT id, $_->[1] FROM %s", '"max_iter": 3, "tol": 0',
    "start => (SELECT $_->[0] FROM start)") for ['words', 'w'], ['vectors', 'v'];

my $relation = sub {
    return 'SELECT string_agg(s::text, chr(32) ORDER BY state) FROM (SELECT state,
        round(initial::numeric, 7), round(visits::numeric, 5) FROM '
        . call('hmm_fit', 'SELECT id, v FROM %s', @_) . ') AS s';
};
is($session->run($relation->('obs', "\"push_down\": true, $fixed")),
    $session->run($relation->('plain', $fixed)), 'the states of hmm_fit');
my $selection = sub {
    return 'SELECT string_agg(s::text, chr(32)) FROM (SELECT k, method, objective::numeric(20, 6),
        parameters, elbo::numeric(20, 6), bic::numeric(20, 6), best, model IS NULL
        FROM ' . call('hmm_select', @_, "'{1, 2, 3}'") . ') AS s';
};
for (['w', ''], ['v', '"method": "em", "models": true, '], ['x', '"emission": "normal", ']) {
    my $how = "$_->[1]$fixed";
    my $found = $session->run($selection->("SELECT id, $_->[0] FROM %s", 'obs',
        "\"push_down\": true, $how"));
    like($found, qr/^\(1,.* \(2,.* \(3,/, 'a selection where the rows are');
    is($found, $session->run($selection->("SELECT id, $_->[0] FROM %s", 'plain', $how)),
        '... is that of one table');
}
my $bits = 'SELECT md5((' . call('hmm_model', 'SELECT id, w FROM %s', 'obs',
    "\"push_down\": true, $fixed") . "::jsonb - 'seconds')::text)";
is($session->run($bits), $here->query("SET client_min_messages = error; $bits"),
    'a fit of given partitions has the same bits in every run');
is($session->run('SELECT ' . call('hmm_model', 'SELECT id, x FROM %s WHERE id < 0', 'obs',
        '"push_down": true')), '', 'no sequences give no model');
for my $server ($one, $two) {
    my @read = grep { /FROM public\.(?:obs|nothing)/ && !/_bayes_(?:keep_rows|make_pass)\(/ }
        substr($server->log, $logged{$server}) =~ /^.*SELECT.*$/mg;
    is("@read", '', 'sequences stay where they are');
}

# ---- what is refused, or collected ----

sub said {
    my ($sql) = @_;
    my ($out, $err) = $here->attempt($sql);
    return "$out$err";
}
my $refused = '22023: query cannot be pushed down:';
for my $method (qw(gibbs svi)) {
    like(said("SELECT hmm_model('SELECT id, x FROM obs', 2,
            '{\"push_down\": true, \"method\": \"$method\"}')"),
        qr/$refused method $method needs rows one at a time; these do not: vi, em, map/,
        "$method: refused");
}
my $steps = "SELECT hmm_model('SELECT id, kind FROM obs ORDER BY id', 2, '{\"push_down\": %s}')";
like(said(sprintf $steps, 'true'), qr/$refused its rows are steps, and the steps of a sequence may/,
    'rows that are steps: refused');
like(said(sprintf $steps, '"auto"'),
    qr/^\{"pg_bayes".*NOTICE:  00000: rows are collected on this server: its rows are steps/s,
    '... or collected');
like(said("SELECT hmm_model('SELECT id, array_agg(n[1]) FROM obs GROUP BY id', 2,
        '{\"push_down\": true}')"), qr/$refused/, 'sequences that the query makes: refused');
like(said("CREATE TYPE step AS (a float8, b text);
    CREATE FOREIGN TABLE steps (id int, s step[]) SERVER one OPTIONS (table_name 'obs');
    SELECT hmm_model('SELECT id, s FROM steps', 2, '{\"push_down\": true}')"),
    qr/$refused the steps of its sequences are records/, 'records: refused');
like(said("SELECT hmm_model('SELECT id, v FROM obs', 2, '{\"push_down\": \"auto\", $fixed}')"),
    qr/NOTICE:  00000: fit is pushed down: 2 servers and this one, 280 rows/, 'auto says so');
like(said("SELECT * FROM hmm_select('SELECT id, v FROM obs', '{1, 2}',
        '{\"push_down\": true, \"init\": {\"means\": [[1, 2]]}}')"),
    qr/22023: option "init.means" is an array of 1 x 2/,
    'options are checked for every number of states');
like(said("SELECT * FROM hmm_decode('SELECT id, v FROM obs', 2, '{\"push_down\": true}')"),
    qr/22023: unknown option "push_down"/, 'hmm_decode needs the sequences');

# What a server finds wrong with its sequences is said as if they were here.
like(said("SELECT hmm_model('SELECT id, x FROM obs', 2,
        '{\"push_down\": true, \"emission\": \"poisson\"}')"),
    qr/22023: step 1 of sequence \d+ is .*, but must be/, 'a value that no emission allows');
like(said("SELECT hmm_model('SELECT id, holes FROM obs', 2,
        '{\"push_down\": true, \"missing\": \"error\"}')"),
    qr/element 1 of step 5 of sequence \d+ is missing/, 'a missing element');
$here->query("INSERT INTO obs (id, x) VALUES (299, '{NULL, NULL}'), (6001, '{{1, 2}, {3, 4}}')");
like(said("SELECT hmm_model('SELECT id, x FROM obs', 2, '{\"push_down\": true}')"),
    qr/: sequences are of (?:single values|vectors of 2 elements) and of .*DETAIL:  The first of/s,
    'sequences of two kinds');
like(said("SELECT hmm_model('SELECT id, x FROM obs WHERE id = 299', 2, '{\"push_down\": true}')"),
    qr/22023: all observations are missing/, 'nothing is observed');

done_testing();
