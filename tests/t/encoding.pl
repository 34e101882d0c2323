# Databases of other encodings than UTF-8: symbols and options are the same there, models pass from
# one to the other, and what an encoding does not have is an error that says so.
use strict;
use warnings;
use utf8;
use Server;
use Test::More;

binmode(Test::More->builder->$_, ':encoding(UTF-8)') for qw(output failure_output todo_output);
my $server = Server->shared;
my %databases = (utf8 => 'UTF8', latin => 'LATIN1', cyrillic => 'KOI8R', ascii => 'SQL_ASCII');
for my $name (sort keys %databases) {
    $server->query("CREATE DATABASE encoding_$name ENCODING '$databases{$name}' LC_COLLATE 'C'
          LC_CTYPE 'C' TEMPLATE template0");
    query($name, 'CREATE EXTENSION pg_bayes');
}

# In a database, by a client that speaks UTF-8.
sub attempt {
    my ($name, $sql) = @_;
    my $script = "\\c encoding_$name\nSET client_encoding = 'UTF8';\n$sql";
    utf8::encode($script);
    my ($out, $err) = $server->attempt($script);
    utf8::decode($_) for $out, $err;
    return ($out, $err);
}
sub query {
    my ($name, $sql) = @_;
    my ($out, $err) = attempt($name, $sql);
    die "$name: $sql\n$err" if $err =~ /ERROR/;
    return $out;
}

my $fit = q{SELECT hmm_fit(x, 2, '{"tol": 1e6, "topology": "ergodic"}') AS model
      FROM (VALUES ('{é,a,ü,é,é,a}'::text[]), ('{a,é,NULL,ü}')) AS v(x)};
my $content = "SELECT (model::jsonb - 'seconds')::text FROM ($fit) AS f";
my $want = query('utf8', $content);
like($want, qr/"symbols": \["a", "é", "ü"\]/, 'symbols are in the model');
for my $name (qw(latin ascii)) {
    is(query($name, $content), $want, "$databases{$name}: the same model");
    is(query($name, "SELECT string_agg(DISTINCT symbol, ' ') FROM ($fit) AS f,
          hmm_emissions(model)"), 'a é ü', 'whose symbols are texts of the database');
    is(query($name, "SELECT hmm_log_likelihood(model, '{é,ü}'::text[]) = hmm_log_likelihood(model,
          '{é,zz}'::text[]) FROM ($fit) AS f"), 'f', 'a symbol is known');
    is(query($name, "SELECT bool_and(model::text::bayes_model = model
          AND model::jsonb::bayes_model = model) FROM ($fit) AS f"), 't',
        'text and jsonb read back to the same bytes');
}

# A model with symbols that the other database cannot write comes there as bytes.
my $file = $server->directory . '/data/model';
query('utf8', "COPY (SELECT model FROM (SELECT hmm_fit(x, 2, '{\"tol\": 1e6}') AS model
      FROM (VALUES ('{é,a,中,é,é,a}'::text[])) AS v(x)) AS f) TO '$file' (FORMAT binary)");
query('latin', "CREATE TABLE other (model bayes_model); COPY other FROM '$file' (FORMAT binary)");
is(query('latin', "SELECT hmm_log_likelihood(model, '{é,a}'::text[]) < 0 FROM other"), 't',
    'a model with a Chinese symbol is read in LATIN1, and scores');
for my $use ('model::text', 'model::jsonb', '(SELECT max(symbol) FROM hmm_emissions(model))') {
    my ($out, $err) = attempt('latin', "SELECT $use FROM other");
    like($err, qr/ERROR:  22P05: character .* has no equivalent in encoding "LATIN1"/,
        "$use: an error names the character");
}
is(query('latin', 'SELECT count(*) FROM other WHERE length(_bayes_model_send(model)) > 100'), '1',
    'its bytes can be sent');

# Terms of documents likewise.
my $topics = q{SELECT lda_fit(x, 2, '{"max_iter": 2, "tol": 1e6}') AS model
      FROM (VALUES ('{é,a,ü,é,é,a}'::text[]), ('{a,é,NULL,ü}'), ('{zz,ü}')) AS v(x)};
$content = "SELECT (model::jsonb - 'seconds')::text FROM ($topics) AS f";
$want = query('utf8', $content);
like($want, qr/"terms": \["a", "zz", "é", "ü"\]/, 'terms are in the model, in the order of UTF-8');
for my $name (qw(latin ascii)) {
    is(query($name, $content), $want, "$databases{$name}: the same model of documents");
    is(query($name, "SELECT string_agg(DISTINCT term, ' ' ORDER BY term) FROM ($topics) AS f,
          lda_topics(model)"), 'a zz é ü', 'whose terms are texts of the database');
    for my $document (q{'{é,é}'::text[]}, q{'{"é": 2}'::jsonb}, q{'é:1,2'::tsvector}) {
        is(query($name, "SELECT lda_proportions(model, $document) <>
              lda_proportions(model, '{}'::text[]) FROM ($topics) AS f"), 't',
            "a term of $document is known");
    }
    is(query($name, "SELECT (model::jsonb - 'seconds')::text = ($content) FROM (SELECT
          lda_fit(d, t, 1, 2, '{\"max_iter\": 2, \"tol\": 1e6}') AS model
          FROM (VALUES (1, '{é,a,ü,é,é,a}'::text[]), (2, '{a,é,NULL,ü}'), (3, '{zz,ü}')) AS v(d, x),
          unnest(x) AS t) AS f"), 't', 'rows of terms');
}

query('utf8', "COPY (SELECT model FROM (SELECT lda_fit(x, 2, '{\"tol\": 1e6}') AS model
      FROM (VALUES ('{é,a,中,é,é,a}'::text[]), ('{a,中}')) AS v(x)) AS f)
      TO '$file' (FORMAT binary)");
query('latin', "TRUNCATE other; COPY other FROM '$file' (FORMAT binary)");
is(query('latin', "SELECT lda_proportions(model, '{é}'::text[]) <> lda_proportions(model,
      '{}'::text[]), lda_perplexity(model, '{é,a}'::text[], NULL) > 1 FROM other GROUP BY model"),
    't|t', 'a model with a Chinese term is read in LATIN1, and knows the others');
for my $use ('model::text', '(SELECT max(term) FROM lda_topics(model))',
    '(SELECT max(term) FROM lda_relevance(model, 0.5))',
    '(SELECT max(term) FROM lda_posterior(model))') {
    my ($out, $err) = attempt('latin', "SELECT $use FROM other");
    like($err, qr/ERROR:  22P05: character .* has no equivalent in encoding "LATIN1"/,
        "$use: an error names the character");
}
is(query('latin', "SELECT dimension FROM (SELECT lda_update('{é,ß}'::text[], model) AS m FROM other
      GROUP BY model) AS u, bayes_info(m)"), '4', 'it can be updated there');

# Keys of tables likewise.
my $factors = q{SELECT nmf_fit(r, c, 1, 1, '{"max_iter": 2, "tol": 1e6}') AS model
      FROM (VALUES ('é', 'ü'), ('zz', 'a'), ('a', 'ü')) AS v(r, c)};
$content = "SELECT (model::jsonb - 'seconds')::text FROM ($factors) AS f";
$want = query('utf8', $content);
for my $name (qw(latin ascii)) {
    is(query($name, $content), $want, "$databases{$name}: the same factors");
    is(query($name, "SELECT string_agg(key, ' ' ORDER BY ordinality) FROM ($factors) AS f,
          nmf_factors(model) WITH ORDINALITY WHERE side = 'row'"), 'a zz é',
        'whose keys are texts of the database');
    is(query($name, "SELECT p.mean = q.mean, p.mean <> r.mean FROM ($factors) AS f,
          nmf_predict(model, 'é', 'ü') AS p, nmf_predict(model, 'é'::text, 'ü'::varchar) AS q,
          nmf_predict(model, 'é', 'a') AS r"), 't|t', 'and are known');
    is(query($name, "SELECT nmf_transform(model, '{\"ü\": 2}'::jsonb) <>
          nmf_transform(model, '{}'::jsonb)
          FROM ($factors) AS f"), 't', 'in cells too');
    is(query($name, "SELECT string_agg(key, ' ' ORDER BY key COLLATE \"C\"), count(p.mean)
          FROM (SELECT pmf_fit('é', c, n, 1, '{\"draws\": 4}') AS model
                FROM (VALUES ('ü', 1), ('a', 2)) AS v(c, n)) AS f,
            pmf_recommend(model, 'é', 3, true), pmf_predict(model, 'é', 'ü') AS p"),
        'a ü|2', 'of ratings as well');
}
query('utf8', "COPY (SELECT nmf_fit('中', x, 1, 1, '{\"tol\": 1e6}')
      FROM (VALUES ('é'), ('a')) AS v(x)) TO '$file' (FORMAT binary)");
query('latin', "TRUNCATE other; COPY other FROM '$file' (FORMAT binary)");
is(query('latin', "SELECT mean > 0 FROM other, nmf_predict(model, 'b', 'é')"), 't',
    'a model with a Chinese key is read in LATIN1, and knows the others');
for my $use ('model::text', '(SELECT max(key) FROM nmf_factors(model))') {
    my ($out, $err) = attempt('latin', "SELECT $use FROM other");
    like($err, qr/ERROR:  22P05: character .* has no equivalent in encoding "LATIN1"/,
        "$use: an error names the character");
}

# Messages.
for my $name (qw(utf8 latin ascii)) {
    my ($out, $err) = attempt($name, q{SELECT hmm_fit(x, 2, '{"é": 1}')
          FROM (VALUES ('{a,b}'::text[])) AS v(x)});
    like($err, qr/ERROR:  22023: unknown option "é"/, "$databases{$name}: an option in a message");
    ($out, $err) = attempt($name,
        "SELECT hmm_log_likelihood(model, '{ö}'::text[]) FROM ($fit) AS f");
    like($err, qr/DETAIL:  The first unknown symbol is "ö"; .* of one additional symbol\.$/m,
        'a symbol in a WARNING, which is whole');
}
for my $name (qw(utf8 latin ascii)) {
    my ($out, $err) = attempt($name, q{SELECT lda_fit('{"ö": -1}'::jsonb, 2)});
    like($err, qr/ERROR:  22023: count of term "ö" of document 1 is -1$/m,
        "$databases{$name}: a term in a message");
    ($out, $err) = attempt($name, "SELECT lda_predict(model, '{ö}'::text[]) FROM ($topics) AS f");
    like($err, qr/DETAIL:  The first unknown term is "ö"; one term of the model is "a"\./,
        'a term in a WARNING');
}
for my $name (qw(utf8 latin ascii)) {
    my ($out, $err) = attempt($name, q{SELECT nmf_fit('ö', 'ä', -1, 2)});
    like($err, qr/ERROR:  22023: number of row "ö" and column "ä" is -1$/m,
        "$databases{$name}: keys in a message");
    ($out, $err) = attempt($name, "SELECT nmf_fit(repeat('ö', 10001), 1, 1, 2)");
    like($err, qr/DETAIL:  It begins with "ö{40}\.\.\."$/m, 'the beginning of a long one');
    ($out, $err) = attempt($name, "SELECT nmf_transform(model, '{\"ö\": 1}'::jsonb)
          FROM ($factors) AS f");
    like($err, qr/DETAIL:  The first unknown key is "ö"; one key of the model is "a"\./,
        'a key in a WARNING');
}
query('utf8', "COPY (SELECT model FROM (SELECT hmm_fit(x, 2, '{\"tol\": 1e6}') AS model
      FROM (VALUES ('{é,中,é,é}'::text[])) AS v(x)) AS f) TO '$file' (FORMAT binary)");
query('cyrillic', "CREATE TABLE other (model bayes_model);
      COPY other FROM '$file' (FORMAT binary)");
my ($out, $err) = attempt('cyrillic',
    "SELECT hmm_log_likelihood(model, '{ж}'::text[]) FROM other");
like($err, qr/DETAIL:  The first unknown symbol is "ж"; one symbol of the model is "$/m,
    'what a message cannot show ends it');
is(query('cyrillic', q{SELECT string_agg(DISTINCT symbol, ' ') FROM (SELECT
      hmm_fit(x, 2, '{"tol": 1e6}') AS model FROM (VALUES ('{ж,a,ж}'::text[])) AS v(x)) AS f,
      hmm_emissions(model)}), 'a ж', 'Cyrillic symbols in KOI8R');

# Plots are made of characters that only Unicode has, which is said before the query runs.
my $mixture = 'FROM (SELECT gmm_fit(x::float8, 1) AS model FROM generate_series(1, 9) AS x) AS f';
for my $name (qw(latin cyrillic)) {
    ($out, $err) = attempt($name, "SELECT bayes_plot('SELECT 1/0', model) $mixture");
    like($err, qr/ERROR:  22P05: a plot cannot be written in encoding $databases{$name}\n.*HINT:/s,
        "$databases{$name} has no plots");
    is(query($name, "SELECT bayes_chart(model) IS NOT NULL, count(*) > 0
          $mixture, bayes_chart_data(model) GROUP BY model"), 't|t', 'but charts');
}
for my $name (qw(utf8 ascii)) {
    like(query($name, "SELECT bayes_plot(model) $mixture"), qr/[\x{2800}-\x{28ff}]/,
        "$databases{$name} has plots");
}

# SQL_ASCII has bytes, of which no one knows what they mean.
($out, $err) = attempt('ascii',
    q{SELECT hmm_fit(ARRAY[convert_from('\xe9', 'SQL_ASCII'), 'a'], 1)});
like($err, qr/ERROR:  22021: invalid byte sequence for encoding "UTF8"/,
    'SQL_ASCII: bytes that are no UTF-8 are refused');

$server->query("DROP DATABASE encoding_$_ WITH (FORCE)") for sort keys %databases;
done_testing;
