# Documents with little memory: those that lie in a file give the same model to the last bit, with
# any number of threads; sorts and files leave nothing behind, and memory is bounded.
#
# How long, for the runner:
# seconds: 40
use strict;
use warnings;
use Effort;
use Memory;
use Server;
use Spill;
use Test::More;

my $server = Server->shared;
$server->query(<<'SQL');
CREATE TABLE many AS SELECT id,
  ARRAY(SELECT 't' || (id * i * i + 7 * i + id / 10 * (i % 3)) % 997
  FROM generate_series(1, 30 + id % 60) AS i) AS words FROM generate_series(1, 3500) AS id;
CREATE TABLE rows AS SELECT id, term, count(*) FROM many, unnest(words) AS term GROUP BY 1, 2;
CREATE TABLE models AS SELECT lda_fit(words, 5, '{"restarts": 1, "max_iter": 2, "tol": 1e6}')
  AS model FROM many WHERE id <= 200;
CREATE FUNCTION timeless(model bayes_model) RETURNS text LANGUAGE sql RETURN (model::jsonb
  - 'seconds')::text;
VACUUM ANALYZE;
SQL
my $session = $server->session;

# ---- the same model wherever the documents lie ----

my $brief = '"max_iter": 4, "tol": 0';
my $quick = "$brief, \"restarts\": 1";
my $few = '"chains": 1, "draws": 6, "warmup": 3';
# Starting points take most of the time of such short fits, so that only some find theirs.
my %statements = (
    (map { ($_ => "SELECT timeless(lda_fit(words, model, '{\"method\": \"$_\", $quick}'))
          FROM many, models") } qw(vi svi em cvb0)),
    collapsed => "SELECT timeless(lda_fit(words, model, '{\"method\": \"collapsed\", $few}'))
          FROM many, models",
    gibbs => "SELECT timeless(lda_fit(words, 5, '{\"method\": \"gibbs\", $few}')) FROM many",
    rows => "SELECT timeless(lda_fit(id, term, count, model, '{$quick}')) FROM rows, models",
    'words as rows' => "SELECT timeless(lda_fit('no. ' || id, term, 1, model, '{$quick}'))
          FROM many, models, unnest(words) AS term",
    'the vocabulary' => "SELECT timeless(lda_fit(words, 5,
          '{\"min_documents\": 50, \"max_terms\": 900, $quick}')) FROM many",
    relation => "SELECT md5(string_agg(t::text, ' ')) FROM models,
          lda_topics('SELECT id, words FROM many', options => '{$quick}', start => model) AS t",
    update => "SELECT timeless(lda_update(words || ('z' || id % 3), model, '{$brief}')) FROM many,
          models",
);
$session->run(settings(1, '256MB'));
my %want = results_of($session, %statements);
is($want{rows}, $want{vi}, 'rows are documents');
is($want{'words as rows'}, $want{vi}, 'rows of single words too');
unlike(files_of($session, $statements{rows}), qr/temporary file/,
    'documents that fit into memory need no file');
# The labels of samplers have to fit into memory: 2 MB of it.
my @names = sort keys %statements;
$session->run(settings(2, '3MB'));
is_deeply([grep { $session->run($statements{$_}, 120) ne $want{$_} } @names], [],
    'with 3MB and two threads the same to the last bit');
$session->run(settings(1, '1MB'));
is_deeply([grep { $session->run($statements{$_}, 120) ne $want{$_} } grep { !/gibbs|collapsed/ }
    @names], [], 'and with 1MB');
for my $name (qw(vi rows relation)) {
    like(files_of($session, $statements{$name}), qr/temporary file: path/,
        "$name: what does not fit lies in a file");
}
no_file_is_left($server, 'no temporary files are left');

# ---- errors, limits and cancels ----

my %failing = (
    'the last document' => q{SELECT lda_fit(CASE WHEN id < 3500 THEN jsonb_build_object('a' || id,
          id, 'b', 2) ELSE '{"a": -1}' END, 3 ORDER BY id) FROM many},
    'the last row' => "SELECT lda_fit(id, term, CASE WHEN id < 3500 THEN 1 ELSE -1 END, 3) FROM
          (SELECT * FROM rows ORDER BY id) AS r",
    'a sum' => "SELECT lda_fit(id, term, 1e15, 3) FROM many, unnest(words) AS term",
    'a query' => "SELECT lda_topics('SELECT 1 / (3500 - id), words FROM many', 3)",
    'an option' => q{SELECT lda_fit(words, 3, '{"prior": {"terms": [{"x": 1}, null, null]}}')
          FROM many},
    'the vocabulary' => "SELECT lda_fit(words, 3, '{\"min_documents\": 3500}') FROM many",
    'after the fit' => "SELECT 1 / (length(lda_fit(words, model, '{\"tol\": 1e6}')::text) * 0)
          FROM many, models",
);
$session->run('SET client_min_messages = warning');
for my $what (sort keys %failing) {
    my $said = $session->run($failing{$what}, 120);
    like($said, qr/^ERROR:  22/m, "error in $what");
    unlike($said, qr/WARNING/, 'and nothing else');
    no_file_is_left($server);
    $said = $session->run("DO \$do\$ BEGIN PERFORM r FROM ($failing{$what}) AS s(r);
          EXCEPTION WHEN OTHERS THEN RAISE NOTICE 'caught %', SQLSTATE; END \$do\$;", 120);
    unlike($said, qr/WARNING/, 'within a transaction that goes on neither');
    no_file_is_left($server, 'and then too the file is gone');
}
my $said = $session->run(q{SELECT lda_fit(words, 3, '{"min_documents": 3500, "on_error": "null"}')
      IS NULL FROM many}, 120);
like($said, qr/^t$/m, 'on_error = null: a NULL');
is_deeply([$said =~ /^(WARNING:  \w+: (?:no model|temporary file).*)/mg],
    ['WARNING:  01000: no model: none of the 997 terms of the documents is left'],
    'with one WARNING, and files are closed');
$session->run("BEGIN; DECLARE c CURSOR FOR SELECT id % 5, lda_fit(words, 2, '{$quick}') FROM many,
      generate_series(1, 5) GROUP BY 1; FETCH 1 FROM c; CLOSE c; COMMIT", 120);
no_file_is_left($server, 'nor does a cursor leave one');
$session->run('SET client_min_messages = error');
limit_of_files_is_kept($server, $session, \%statements, qw(vi rows relation));
my $endless = '"max_iter": 1000000, "tol": 0';
cancels_leave_nothing($server, $session, [0.02, 0.1, 0.3, 0.8],
    "SELECT lda_fit(words, 3, '{$endless}') FROM many",
    "SELECT lda_fit(id, term, count, 3, '{$endless}') FROM rows",
    "SELECT lda_topics('SELECT words FROM many', 3, '{\"method\": \"svi\", $endless}')");
is($session->run(q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
    '0', 'nor any memory context of ours');
is($session->run($statements{update}, 120), $want{update}, 'and the session goes on');

# ---- terms beyond the limits ----

for my $case (['600000', 'documents have 600001 distinct terms, but the limit is 500000'],
    ['4100000', 'documents have more than 4000000 distinct terms']) {
    my ($terms, $complaint) = @$case;
    $said = $session->run("SELECT lda_fit(ARRAY[i::text, 'a'], 2)
          FROM generate_series(1, $terms) AS i", 120);
    like($said, qr/^ERROR:  54000: \Q$complaint\E$/m, "$terms terms are refused");
    like($said, qr/^HINT:  .*(?:min_documents and max_terms|vocabulary)/m, 'with what to do');
}

# ---- memory ----

# 8 MB, and what finds the starting point of documents holds of the first million tokens.
memory_stays_near($server, "SELECT max(words[1]) FROM many; SELECT max(term) FROM rows;
      SELECT lda_fit(words, 3, '{$quick}') FROM many WHERE id <= 100",
    ['documents', "SELECT timeless(lda_fit(words, 3, '{\"method\": \"svi\", $quick}'))
          FROM many, generate_series(1, 4)", 44],
    ['rows', "SELECT timeless(lda_fit(id * 10 + i, term, count, model, '{\"method\": \"svi\",
          $quick}')) FROM rows, models, generate_series(1, 3) AS i", 12]);

# ---- many fits in one session ----

my %many = (
    'all methods' => q{SELECT pg_column_size(lda_fit(words, 2,
          jsonb_build_object('method', m) || CASE WHEN m IN ('gibbs', 'collapsed')
          THEN '{"draws": 10}' ELSE '{"max_iter": 5, "restarts": 1}' END::jsonb)) FROM many,
          unnest('{vi,svi,em,cvb0,gibbs,collapsed}'::text[]) AS m WHERE id <= 20 GROUP BY m},
    'rows' => q{SELECT pg_column_size(lda_fit(id, term, count, 2,
          '{"max_iter": 5, "restarts": 1}')) FROM rows WHERE id <= 20 GROUP BY id % 3},
    'relations' => q{SELECT count(*) FROM lda_topics('SELECT words FROM many WHERE id <= 20', 2,
          '{"max_iter": 5, "restarts": 1}'); SELECT count(*) FROM models, lda_topics(model, 20);
          SELECT count(*) FROM models, lda_relevance(model, 0.5, 20);
          SELECT count(*) FROM models, lda_posterior(model)},
    'documents' => q{SELECT count(lda_proportions(model, words)), sum(lda_predict(model, words)),
          count((SELECT array_agg(sd) FROM lda_top_topics(model, words, 1000)))
          FROM many, models WHERE id <= 200;
          SELECT count(*) FROM many, models, lda_top_topics(model, words) WHERE id <= 200},
    'evaluation' => q{SELECT count(*) FROM models, lda_typical_documents('SELECT id, words FROM many
          WHERE id <= 100', model); SELECT count(*) FROM models, lda_typical_documents('SELECT id,
          term, count FROM rows WHERE id <= 20', model); SELECT lda_perplexity(model, id, term,
          count, NULL) FROM rows, models WHERE id <= 20},
    'refused' => q{SELECT lda_fit(CASE WHEN id < 150 THEN '{"a": 1}' ELSE '{"a": -1}' END::jsonb, 2)
          FROM many WHERE id <= 200; SELECT lda_topics('SELECT words FROM many WHERE id < 20', 2,
          '{"min_documents": 100}'); SELECT lda_predict(model, '{"a": -1}'::jsonb) FROM models},
);
memory_is_flat($server, settings(1, '64MB'), effort(80), 10, %many);

done_testing;
