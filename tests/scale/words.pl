# What fits over partitions on other servers (option push_down) say, and what they take: errors,
# warnings and memory are those of a fit of one table.
#
# How long, for the runner:
# seconds: 30
use strict;
use warnings;
use Partitions;
use Test::More;

my ($one, $two, $here) = Partitions::servers(columns => $Partitions::columns,
    bounds => \@Partitions::bounds);
$here->query("$Partitions::rows; INSERT INTO obs SELECT * FROM plain; ANALYZE");

sub said {
    my ($sql) = @_;
    my ($out, $err) = $here->attempt($sql);
    return "$out\n$err" =~ s/^(?:LOCATION|CONTEXT).*\n//mgr;
}

# ---- options that are wrong ----

for my $case (['gmm_model', '"method": "EM"'], ['hmm_model', '"method": "EM"'],
    ['gmm_model', '"method": "svi", "minibatch": 5'],
    ['gmm_model', '"method": "svi", "minibatch": true'],
    ['bmm_model', '"method": "svi", "minibatch": ["x"]'],
    ['gmm_model', '"method": "svi", "minibatch": "hsh"']) {
    my ($function, $options) = @$case;
    my $columns = $function eq 'hmm_model' ? 'id, v' : 'x, z';
    my ($there, $local) = map { said("SELECT $function('SELECT $columns FROM $_->[0]', 2,
            '{$options$_->[1]}')") } ['obs', ', "push_down": true'], ['plain', ''];
    like($there, qr/22023: option "(?:method|minibatch)" is/, "$options is refused");
    is($there, $local, '... as in a fit of one table');
}
is($here->query("SET client_min_messages = error; SELECT (bayes_info(gmm_model('SELECT x FROM obs',
        2, '{\"push_down\": true, \"method\": \"svi\", \"minibatch\": null,
        \"max_iter\": 3}'))).options->>'minibatch'"), 'hash', 'null is no choice');

# ---- what columns are ----

# Columns of identifiers, frequencies, few values, one value, and measurements.
for my $columns ('id + 5000 AS number, x', 'n AS freq, x', 'id % 5 AS fifth, x', '7 AS same, x, z',
    'id % 2 AS odd, x', 'id, x', 'id % 6000 AS repeated, x', 'x, z') {
    my ($there, $local) = map { said("SET pg_bayes.threads = 1; SELECT count(*) FROM
            gmm_fit('SELECT $columns FROM $_->[0]', 2, '{\"max_iter\": 2$_->[1]}')") }
        ['obs', ', "push_down": true'], ['plain', ''];
    is($there, $local, "$columns: the same is said");
    unlike($local, qr/column "/, '... of measurements nothing') if $columns eq 'x, z';
    like($local, qr/column "/, '... and something')
        if $columns =~ /number|freq|fifth|same/;
}
my $start = "gmm_model('SELECT x, z FROM plain', 2, '{\"max_iter\": 2}')";
unlike(said("SELECT count(*) FROM gmm_fit('SELECT 5.0::float8 AS x, z FROM $_->[0]',
        options => '{\"max_iter\": 2$_->[1]}', start => $start)"), qr/ERROR|column "/,
    "from a model nothing is said of columns, $_->[0]")
    for ['plain', ''], ['obs', ', "push_down": true'];

# Positions of lexemes that PostgreSQL has left out.
my $terms = q{CASE WHEN id % 3 = 0 THEN ''a:1 b:16383''::tsvector ELSE ''a:1 c:2''::tsvector END};
my ($there, $local) = map { said("SELECT count(*) FROM lda_topics('SELECT id, $terms FROM $_->[0]
        WHERE id < 40', 2, '{\"max_iter\": 1$_->[1]}')") }
    ['obs', ', "push_down": true'], ['plain', ''];
like($_, qr/13 of 39 documents have terms whose counts may be too small/, 'it is said of all')
    or diag $_ for $there, $local;

# ---- what cannot be sent ----

my @many = map { "c$_" } 1 .. 99;
my $list = join ', ', map { "$_ float8" } @many;
for my $server ($one, $two) {
    $server->query("CREATE TABLE wide ($list); INSERT INTO wide SELECT "
            . join(', ', map { "sin(i * $_)" } 1 .. 99) . ' FROM generate_series(1, 200) AS i');
}
$here->query("CREATE FOREIGN TABLE wide ($list) SERVER one OPTIONS (table_name 'wide')");
my $fit = "SELECT (bayes_info(gmm_model('SELECT %s FROM wide', 1,
    '{\"push_down\": %s, \"covariance\": \"diagonal\"}'))).rows";
my $reason = 'a row has 99 columns, and more than 97 cannot be sent; make them one array';
like(said(sprintf $fit, join(', ', @many), 'true'),
    qr/22023: query cannot be pushed down: $reason/, 'too many columns');
like(said(sprintf $fit, 'wide', '"auto"'),
    qr/^200\n.*NOTICE:  00000: rows are collected on this server: $reason/s, '... are collected');
is(said("SET client_min_messages = error; " . sprintf $fit, join(', ', @many[0 .. 96]), 'true'),
    "200\n", 'just as many as can be sent');
is(said("SELECT gmm_model('SELECT x FROM obs WHERE false', 2, '{\"push_down\": true}') IS NULL"),
    said("SELECT gmm_model('SELECT x FROM plain WHERE false', 2) IS NULL"),
    'no row satisfies the condition');

# ---- sequences of two kinds ----

for (['one', $one, 'text', "ARRAY['a', 'b']"], ['two', $two, 'int', 'ARRAY[1, 2]']) {
    my ($name, $server, $type, $array) = @$_;
    $server->query("CREATE TABLE steps (id int, s ${type}[]);
        INSERT INTO steps SELECT i, $array FROM generate_series(1, 20) AS i");
}
$here->query("CREATE TABLE steps (id int, s text[]) PARTITION BY LIST (id);
    CREATE FOREIGN TABLE steps_one PARTITION OF steps FOR VALUES IN (1) SERVER one
      OPTIONS (table_name 'steps');
    CREATE FOREIGN TABLE steps_two PARTITION OF steps DEFAULT SERVER two
      OPTIONS (table_name 'steps')");
like(said("SELECT hmm_model('SELECT id, s FROM steps', 2, '{\"push_down\": true}')"),
    qr/22023: sequences are of whole numbers and of texts\nDETAIL:  The first .* of server "two"/,
    'texts on one server, numbers on the other');

# ---- memory ----

# Many parts of one server share what a fit of one table may take; what does not fit is in files.
$here->query("CREATE TABLE parts (i int, a float8, b float8, c float8, d float8)
      PARTITION BY HASH (i)");
$here->query("CREATE TABLE parts_$_ PARTITION OF parts FOR VALUES WITH (MODULUS 32, REMAINDER $_)")
    for 0 .. 31;
$here->query("INSERT INTO parts SELECT i, sin(i), cos(i * 3), sin(i * 7.0), cos(i * 11.0)
      FROM generate_series(1, 800000) AS i");
my $session = $here->session;
my $files = $session->run("SET log_temp_files = 0; SET client_min_messages = log;
    SET maintenance_work_mem = '4MB'; SET trace_sort = off;
    SELECT (bayes_info(gmm_model('SELECT a, b, c, d FROM parts', 1, '{\"method\": \"em\",
      \"max_iter\": 2, \"push_down\": true}'))).rows", 60);
like($files, qr/^800000$/m, 'a fit of 32 parts');
my $bytes = 0;
$bytes += $1 while $files =~ /temporary file: .*, size (\d+)/g;
cmp_ok($bytes, '>', 12e6, '... leaves most of 26 MB in files');
cmp_ok($bytes, '<', 26e6, '... but not all');

done_testing();
