# Documents over partitions on other servers (option push_down): what is kept beside the rows there,
# from one pass to the next. Models are those of one table; a session that has lost its rows begins
# anew.
#
# How long, for the runner:
# seconds: 40
use strict;
use warnings;
use Partitions;
use Test::More;

# ---- the servers, and one table in two forms ----

my ($one, $two, $here) = Partitions::servers(
    columns => 'id int, words text[], lexemes tsvector, counts jsonb, tags text[],
    name text, v float8[], w float8[]',
    bounds => [500, 700, 1000], settings => {log_statement => 'all'});

# Documents of three subjects, with terms that only some parts have, NULLs and empty documents.
$here->query(<<'SQL');
CREATE TABLE plain AS
  SELECT i AS id, CASE WHEN i % 41 > 0 THEN words END AS words, array_to_tsvector(
      (SELECT array_agg(DISTINCT w) FROM unnest(words) AS w)) AS lexemes,
    (SELECT jsonb_object_agg(w, n) FROM (SELECT w, sum(0.25 + length(w) % 3) AS n
      FROM unnest(words) AS w GROUP BY w) AS c) AS counts, words[1:3] AS tags,
    'n' || i * 7919 % 1000 || 'x' || i AS name,
    ARRAY(SELECT (2 + sin(i * j)) * (1 + (i + j) % 3 * 2) * (j % 5 + 1) + (i * j) % 2
      FROM generate_series(1, 8) AS j) AS v,
    CASE WHEN i % 43 > 0 THEN ARRAY(SELECT CASE WHEN (i + j) % 5 > 0
        THEN ((i * j) % 7 * (1 + (i + j) % 2 * 3))::float8 END
      FROM generate_series(1, 8) AS j) END AS w
  FROM (SELECT i, ARRAY(
      SELECT (CASE WHEN j % 5 = 0 THEN 'common' ELSE 'subject' || (i + j / 6 % 2) % 3 END)
        || (i * 7 + j * 13 + i * j) % 11 FROM generate_series(1, i % 23) AS j)
      || CASE WHEN i % 9 = 0 THEN ARRAY[CASE WHEN i < 500 THEN 'early' ELSE 'späť' END,
        'rare' || i % 200] ELSE '{}' END AS words
    FROM generate_series(1, 950) AS i) AS s;
INSERT INTO obs SELECT * FROM plain;
ANALYZE;
SQL

# ---- the same models ----

my %logged = map { ($_ => length $_->log) } $one, $two;
my $session = $here->session;
$session->run('SET client_min_messages = error');

sub call {
    my ($function, $query, $from, $options) = @_;
    return "$function('" . (sprintf($query =~ s/%(?!s)/%%/gr, $from) =~ s/'/''/gr)
        . "', 3, '{$options}')";
}

sub same {
    my ($name, $function, $query, $options) = @_;
    my $said = $session->run('SELECT difference(' . call($function, $query, 'plain', $options)
            . ', ' . call($function, $query, 'obs', "$options, \"push_down\": true") . ')');
    ok($said =~ /^[\d.e-]+$/ && $said < 1e-9, "$name: the model of one table") or diag $said;
}

my $fixed = '"max_iter": 7, "tol": 0, "restarts": 2';
same("lda, $_", 'lda_model', 'SELECT words FROM %s', "\"method\": \"$_\", $fixed") for qw(vi em);
same('lexemes', 'lda_model', 'SELECT id, lexemes FROM %s WHERE id % 5 > 0', $fixed);
same('fractional counts', 'lda_model', 'SELECT counts FROM %s', $fixed);
same('a chosen vocabulary', 'lda_model', 'SELECT words FROM %s',
    "$fixed, \"min_documents\": 3, \"max_share\": 0.4, \"max_terms\": 25");
same('a given vocabulary', 'lda_model', 'SELECT words FROM %s',
    "$fixed, \"vocabulary\": [\"subject04\", \"subject13\", \"subject22\", \"early\", \"absent\"]");
same('seeded topics', 'lda_model', 'SELECT words FROM %s',
    "$fixed, \"prior\": {\"terms\": [{\"subject04\": 20}, null, {\"common1\": 5}]}");
same('one partition', 'lda_model', 'SELECT words FROM %s WHERE id < 300', $fixed);

for my $method (qw(vi em)) {
    for my $init (qw(nndsvd random)) {
        same("nmf, $method, $init", 'nmf_model', 'SELECT name, v FROM %s',
            "\"method\": \"$method\", \"init\": \"$init\", $fixed");
    }
    same("missing cells, $method", 'nmf_model', 'SELECT name, w FROM %s WHERE id % 3 > 0',
        "\"method\": \"$method\", \"absent\": \"missing\", $fixed");
}
same('NULLs', 'nmf_model', 'SELECT name, w FROM %s', $fixed);
same('a hierarchical prior', 'nmf_model', 'SELECT name, v FROM %s',
    "\"hierarchical\": true, $fixed");
same('learned priors', 'nmf_model', 'SELECT name, v FROM %s',
    "\"prior\": {\"a\": \"learned\", \"d\": \"learned\"}, $fixed");
same('rows on one server', 'nmf_model', 'SELECT name, v FROM %s WHERE id BETWEEN 500 AND 699',
    $fixed);
# Rows without a name are numbered part by part.
my $columns_of = sub {
    return "SELECT string_agg(key || ' ' || factor || ' ' || round(value::numeric, 6), ','
        ORDER BY length(key), key, factor), count(*)
        FROM " . call('nmf_factorize', 'SELECT v FROM %s', @_) . " WHERE side = 'column'";
};
is($session->run($columns_of->('obs', "\"push_down\": true, $fixed")),
    $session->run($columns_of->('plain', $fixed)), 'rows without names');
my $bits = "SELECT md5((" . call('lda_model', 'SELECT words FROM %s', 'obs',
    "\"push_down\": true, $fixed") . "::jsonb - 'seconds')::text)";
is($session->run($bits), $here->query("SET client_min_messages = error; $bits"),
    'a fit of given partitions has the same bits in every run');
is($session->run('SELECT string_agg(topic || term, chr(32) ORDER BY topic, rank) FROM '
        . call('lda_topics', 'SELECT words FROM %s', 'obs', "\"push_down\": true, $fixed")),
    $session->run('SELECT string_agg(topic || term, chr(32) ORDER BY topic, rank) FROM '
        . call('lda_topics', 'SELECT words FROM %s', 'plain', $fixed)), 'the topics');
is($session->run('SELECT ' . call('lda_model', 'SELECT words FROM %s WHERE id < 0', 'obs',
        '"push_down": true')), '', 'no documents give no model');
for my $server ($one, $two) {
    my @read = grep { /FROM public\.(?:obs|nothing)/ && !/_bayes_(?:keep_rows|make_pass)\(/ }
        substr($server->log, $logged{$server}) =~ /^.*SELECT.*$/mg;
    is("@read", '', 'documents stay where they are');
}

# ---- what is refused, or collected ----

sub said {
    my ($sql) = @_;
    my ($out, $err) = $here->attempt($sql);
    return "$out$err";
}
like(said("SELECT nmf_model('SELECT name, tags[1], 1 FROM obs', 2, '{\"push_down\": true}')"),
    qr/cannot be pushed down: a row may have cells on several servers/, 'cells: refused');
like(said("SELECT nmf_model('SELECT name, v FROM obs', 2, '{\"push_down\": true,
        \"method\": \"squared\"}')"), qr/method squared needs rows one at a time; these do/,
    'squared: refused');
like(said("SELECT nmf_model('SELECT name, v FROM obs WHERE id IN (499, 500, 700)', 2,
        '{\"push_down\": true}')"), qr/22023: the table has 3 rows and 8 columns/, 'few rows');
like(said("SELECT nmf_model('SELECT id % 500, v FROM obs', 2, '{\"push_down\": true}')"),
    qr/22023: row "\d+" is on two servers.*DETAIL:  They are server "/s, 'a row in two places');
for my $method (qw(gibbs collapsed cvb0 svi)) {
    like(said("SELECT lda_model('SELECT tags FROM obs', 2,
            '{\"push_down\": true, \"method\": \"$method\"}')"),
        qr/22023: query cannot be pushed down: method $method needs rows one at a time; these do/,
        "$method: refused");
}
my $rows = 'SELECT id, tags[1], 1 FROM obs';
like(said("SELECT lda_model('$rows', 2, '{\"push_down\": true}')"),
    qr/22023: query cannot be pushed down: a document may have rows on several servers/,
    'rows of document, term and count: refused');
like(said("SELECT lda_model('$rows', 2, '{\"push_down\": \"auto\", $fixed}')"),
    qr/^\{"pg_bayes".*NOTICE:  00000: rows are collected on this server: a document/s,
    '... or collected');
like(said("SELECT lda_model('SELECT words FROM obs', 2, '{\"push_down\": \"auto\", $fixed}')"),
    qr/NOTICE:  00000: fit is pushed down: 2 servers and this one, 927 rows/, 'auto says so');
is(said("SELECT lda_model('SELECT tags FROM obs', 2, '{\"push_down\": true,
        \"vocabulary\": [\"absent\"], \"min_documents\": 2}')") =~ s/^LOCATION.*\n//mr,
    said("SELECT lda_model('SELECT tags FROM plain', 2,
        '{\"vocabulary\": [\"absent\"], \"min_documents\": 2}')") =~ s/^LOCATION.*\n//mr,
    'no term is left: the same is said');

# ---- a session that has lost its documents, and their numbers ----

# Their local step begins anew, so the fit goes on, if not with the same bits.
my $long = '"tol": 1e-9, "max_iter": 400, "restarts": 1, "push_down": true';
my %fit = (
    (map { ("lda, $_" => 'SELECT ' . call('lda_model', 'SELECT words FROM %s', 'obs',
                "\"method\": \"$_\", $long")) } qw(vi em)),
    (map { ("nmf, $_" => 'SELECT ' . call('nmf_model', 'SELECT name, v FROM %s', 'obs',
                "\"method\": \"$_\", \"init\": \"random\", $long")) } qw(vi em)),
    # What is held out is the same again.
    'lda_select' => "SELECT (SELECT model FROM lda_select('SELECT words FROM obs', '{3}',
        '{$long, \"models\": true}'))",
    'nmf_select' => "SELECT (SELECT model FROM nmf_select('SELECT name, v FROM obs', '{3}',
        '{$long, \"init\": \"random\", \"models\": true}'))",
);
sub objective { return $session->run("$_[0]::jsonb -> 'objective'") }
my %before = map { ($_ => objective($fit{$_})) } sort keys %fit;
my ($request) = $one->log =~ /_bayes_make_pass\(\d+, \$1.*?(?i:parameters): \$1 = '([^']+)'/s;
$request =~ tr{A-Za-z0-9+/=}{}cd;

# The second server answers the seventh pass of a transaction as if its session had no documents.
# What counts writes nothing, as the transaction is read-only.
$two->query("ALTER AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) RENAME TO real_pass;
    CREATE FUNCTION turn() RETURNS int LANGUAGE sql AS 'SELECT set_config(''test.turn'',
      (coalesce(nullif(current_setting(''test.turn'', true), ''''), ''0'')::int + 1)::text,
      true)::int';
    CREATE FUNCTION nothing(bayes_pass, boolean) RETURNS bayes_pass LANGUAGE sql AS 'SELECT \$1';
    CREATE FUNCTION forgetful(bayes_pass, part int, request bayes_pass) RETURNS bayes_pass
    LANGUAGE sql AS \$\$
      SELECT public.real_pass(part,
          CASE WHEN public.turn() = 7 THEN '$request' ELSE request END)
        WITHIN GROUP (ORDER BY true) FROM (VALUES (1)) AS v \$\$;
    CREATE AGGREGATE _bayes_make_pass(int, bayes_pass ORDER BY boolean) (
      SFUNC = nothing, STYPE = bayes_pass, FINALFUNC = forgetful)");
for my $name (sort keys %fit) {
    my $reads = () = $two->log =~ /_bayes_keep_rows\(1, \$1/g;
    my $passes = () = $two->log =~ /_bayes_make_pass\(1, \$1/g;
    my $after = objective($fit{$name});
    cmp_ok(abs($after - $before{$name}), '<', 2e-3 * abs($before{$name}),
        "$name: documents that are lost are read again, and the fit goes on");
    cmp_ok(scalar(() = $two->log =~ /_bayes_keep_rows\(1, \$1/g), '>', $reads + 1,
        '... twice in all');
    cmp_ok(scalar(() = $two->log =~ /_bayes_make_pass\(1, \$1/g), '>', $passes + 9,
        '... after the seventh pass');
}

done_testing();
