# Selection of the number of topics and factors over partitions on other servers (option push_down):
# the same documents and rows are held out as of one table, and what is found of them is the same,
# to 1e-9. Two servers, and tables of the server of the fit; some are empty.
#
# How long, for the runner:
# seconds: 60
use strict;
use warnings;
use Partitions;
use Test::More;

my ($one, $two, $here) = Partitions::servers(columns => 'id int, key text,
    d text[], rare text[], v float8[], short float8[]',
    bounds => [700, 1000, 1300], settings => {log_statement => 'all'});

# Documents of three subjects, some of them NULL, no two equal, with and without words that few
# have; rows of three factors.
$here->query(<<'SQL');
CREATE TABLE plain AS SELECT id, key, d, array_append(d, 'own' || id / 3) AS rare, v,
  v[1:2] AS short FROM (SELECT i AS id, 'row ' || i AS key,
  CASE WHEN i % 37 > 0 THEN (SELECT array_agg('w' || CASE WHEN j % 5 < 3
      THEN 20 * (i % 3) + floor(20 * abs(sin(i * 1.3 + j * 7.1)))
      ELSE floor(60 * abs(sin(i * 2.7 + j * 3.9))) END)
    FROM generate_series(1, 15 + i * 7 % 11) AS j) END AS d,
  CASE WHEN i % 41 > 0 THEN (SELECT array_agg(CASE WHEN (i + j) % 53 = 0 THEN NULL
      ELSE floor(4 * abs(sin(i * 1.7 + j * 2.3)) + 5 * (j % 3 = i % 3)::int) END)
    FROM generate_series(1, 9) AS j) END AS v
FROM generate_series(1, 1250) AS i) AS s;
INSERT INTO obs SELECT * FROM plain; ANALYZE
SQL
cmp_ok($here->query('SELECT count(*) - count(DISTINCT d) FROM plain WHERE d IS NOT NULL'), '<', 5,
    'documents differ');

my $session = $here->session;
$session->run('SET client_min_messages = error');
# The rows in the order in which the parts have them; a table need not keep that in which they come.
$session->run('CREATE TABLE numbered AS SELECT row_number() OVER () AS n, * FROM obs_b;
    INSERT INTO numbered SELECT 1000 + row_number() OVER (), * FROM obs_c;
    INSERT INTO numbered SELECT 2000 + row_number() OVER (), * FROM obs_d;
    CREATE VIEW in_order AS SELECT * FROM numbered ORDER BY n');
# Are the models, and what is found of them, those of one table? `query`: over %s.
sub same {
    my ($name, $function, $query, $options, %how) = @_;
    my ($score, $units) = $function eq 'lda_select' ? qw(perplexity tokens)
        : qw(log_likelihood cells);
    my $of = sub { "$function('" . ($query =~ s/%s/$_[0]/gr =~ s/'/''/gr)
        . "', '{4,2,3}', '{\"models\": true, \"max_iter\": @{[$how{max_iter} // 6]}, \"tol\": 0,
        \"restarts\": @{[$how{restarts} // 1]}$options$_[1]}'::jsonb)" };
    my $said = $session->run(<<"SQL", 60);
WITH one AS MATERIALIZED (SELECT * FROM ${\$of->($how{plain} // 'plain', '')}),
  parts AS MATERIALIZED (SELECT * FROM ${\$of->('obs', ', "push_down": true')})
SELECT count(*) || ' ' || bool_and(o.$units = p.$units AND o.best = p.best
    AND o.reason IS NOT DISTINCT FROM p.reason AND o.converged = p.converged)
  || ' ' || max(greatest(difference(o.model, p.model), abs(o.$score / p.$score - 1),
    CASE WHEN o.standard_error <> p.standard_error
      THEN abs(o.standard_error / p.standard_error - 1) ELSE 0 END))
  || ' ' || string_agg(largest_difference(o.model, p.model), '; ')
FROM one AS o JOIN parts AS p USING (k)
SQL
    ok($said =~ /^3 true ([\d.e-]+) / && $1 < 1e-9, "$name: as of one table") or diag $said;
}
sub said {
    my ($sql) = @_;
    my ($out, $err) = $here->attempt($sql);
    return "$out\n$err" =~ s/^(?:LOCATION|CONTEXT).*\n//mgr;
}

# ---- topics ----

same("topics by $_", 'lda_select', 'SELECT d FROM %s', ", \"method\": \"$_\"") for qw(vi em);
same('topics with restarts, a learned prior', 'lda_select', 'SELECT id, d FROM %s',
    ', "prior": {"alpha": "asymmetric", "eta": "learned"}', restarts => 3);
same('topics of some words', 'lda_select', 'SELECT d FROM %s WHERE id % 7 > 0',
    ', "max_terms": 40, "min_documents": 3');
same('topics of a given vocabulary', 'lda_select', 'SELECT d FROM %s',
    ', "vocabulary": ["none", ' . join(', ', map { "\"w$_\"" } 3 .. 55) . ']');
# Of three words, many documents are equal; copies are held out one by one.
for my $case (['obs', ', "push_down": true'], ['plain', '']) {
    my $fitted = $session->run("SELECT (bayes_info(model)).rows FROM lda_select('SELECT d
        FROM $case->[0]', '{2}', '{\"max_iter\": 3, \"models\": true,
        \"vocabulary\": [\"w1\", \"w21\", \"w41\"]$case->[1]}')");
    cmp_ok(abs($fitted - 0.9 * 1217), '<', 5, "a tenth of copies is held out, $case->[0]");
}
# Words that only a few documents have, which may be held out.
same('topics of rare words', 'lda_select',
    'SELECT rare FROM %s WHERE id > 400', ', "method": "em"');
# One document on a server, which is held out sooner or later.
for my $id (700 .. 706) {
    same("topics with one document on a server, $id", 'lda_select',
        "SELECT d FROM %s WHERE id < 30 OR id = $id", '', max_iter => 3);
    same("factors with one row on a server, $id", 'nmf_select',
        "SELECT id, v FROM %s WHERE id < 30 OR id = $id", '');
}

# ---- factors ----

same("factors by $_", 'nmf_select', 'SELECT id, v FROM %s', ", \"method\": \"$_\"") for qw(vi em);
same("rows without a key, by $_", 'nmf_select', 'SELECT v FROM %s', ", \"method\": \"$_\"",
    plain => 'in_order') for qw(vi em);
same('absent cells are missing', 'nmf_select', 'SELECT key, v FROM %s WHERE id > 300',
    ', "absent": "missing"', restarts => 2);
same('a hierarchical prior', 'nmf_select', 'SELECT id, v FROM %s', ', "hierarchical": true');

# ---- what travels ----

# The request for a pass over what is held out, and its answer, are as long for more rows.
my $from = length $one->log;
$session->run("SELECT count(*) FROM nmf_select('SELECT id, v FROM obs WHERE id < $_', '{2}',
    '{\"max_iter\": 2, \"push_down\": true}')") for 200, 700;
my @lengths = map { length } substr($one->log, $from) =~ /(?i:parameters): \$1 = '([^']+)'/g;
my ($few, $many) = (@lengths[0 .. @lengths / 2 - 1], 0)[-3, -1];
is(scalar @lengths % 2, 0, 'as many requests');
is($lengths[@lengths / 2 - 2], $lengths[-2], 'the last pass, for any number of rows');

# ---- what is said ----

for my $case (['lda_select', 'SELECT d FROM %s WHERE id < 10'],
    ['nmf_select', 'SELECT key, short FROM %s WHERE id < 10'],
    ['lda_select', 'SELECT d FROM %s WHERE false'], ['nmf_select', 'SELECT v FROM %s WHERE false'],
    ['lda_select', 'SELECT d FROM %s', ', "method": "vii"'],
    ['nmf_select', 'SELECT v FROM %s', ', "tol": -1']) {
    my ($function, $query, $options) = (@$case, '');
    my ($there, $local) = map {
        said("SELECT k FROM $function('" . ($query =~ s/%s/$_->[0]/r)
                . "', '{2}', '{\"max_iter\": 3$_->[1]$options}')")
    } ['obs', ', "push_down": true'], ['plain', ''];
    is($there, $local, "$query$options: as of one table");
}
like(said("SELECT lda_select('SELECT d FROM obs WHERE id < 10', '{2}', '{\"push_down\": true}')"),
    qr/22023: there are 9 documents, too few to choose k/, 'too few documents');
like(said("SELECT nmf_select('SELECT id, short FROM obs WHERE id < 10', '{2}',
    '{\"push_down\": true}')"), qr/22023: there are 9 rows, too few to choose k/, 'too few rows');
for my $case (["lda_select('SELECT d FROM obs', '{2}', '{\"push_down\": true,
        \"method\": \"collapsed\"}')", 'method collapsed needs rows one at a time'],
    ["nmf_select('SELECT id, v FROM obs', '{2}', '{\"push_down\": true, \"method\": \"squared\"}')",
        'method squared needs rows one at a time'],
    ["nmf_select('SELECT id, 1, 2.0 FROM obs', '{2}', '{\"push_down\": true}')",
        'a row may have cells on several servers']) {
    like(said("SELECT $case->[0]"), qr/22023: query cannot be pushed down: $case->[1]/,
        "$case->[1]: refused");
}
like(said("SELECT k FROM lda_select('SELECT d FROM obs', '{1,2}', '{\"push_down\": \"auto\",
        \"max_iter\": 2}')"), qr/fit is pushed down: 2 servers and this one, 1217 rows/, 'auto');

done_testing();
