# What tests of data that do not fit into memory have in common: rows, sequences, documents.
package Spill;
use strict;
use warnings;
use Exporter qw(import);
use Test::More;
use Time::HiRes qw(sleep);

our @EXPORT = qw(settings results_of files_of no_file_is_left limit_of_files_is_kept
    cancels_leave_nothing peak_rise_with memory_stays_near);

# For so many threads, and with so much maintenance_work_mem and work_mem.
sub settings {
    my ($threads, $memory, $work_mem) = @_;
    $work_mem //= '64MB';
    return "SET client_min_messages = error; SET max_parallel_workers_per_gather = 0;
          SET work_mem = '$work_mem'; SET jit = off; SET pg_bayes.threads = $threads;
          SET maintenance_work_mem = '$memory'";
}

# What the statements give: models, hashes, or rows that begin with a number.
sub results_of {
    my ($session, %statements) = @_;
    my %out = map { $_ => $session->run($statements{$_}, 120) } sort keys %statements;
    is_deeply([map { "$_: " . substr($out{$_}, 0, 300) }
        grep { $out{$_} !~ /^(?:\{|\w{32}|1\|)/ } sort keys %out], [], 'all forms fit');
    return %out;
}

# What the server says of a statement, its temporary files among it.
sub files_of {
    my ($session, $statement) = @_;
    my $said = $session->run("SET log_temp_files = 0; SET client_min_messages = log; $statement",
        120);
    $session->run('RESET log_temp_files; SET client_min_messages = error');
    return $said;
}

sub no_file_is_left {
    my ($server, $what) = @_;
    is_deeply([$server->temporary_files], [], $what // 'no file is left');
}

sub limit_of_files_is_kept {
    my ($server, $session, $statements, @names) = @_;
    $session->run("SET temp_file_limit = '512kB'");
    for my $name (@names) {
        like($session->run($statements->{$name}, 60), qr/^ERROR:  53400: /m,
            "$name: temp_file_limit is kept");
        no_file_is_left($server, 'the file is gone');
    }
    $session->run('RESET temp_file_limit');
}

# Statements that would not end, cancelled after so many seconds.
sub cancels_leave_nothing {
    my ($server, $session, $delays, @statements) = @_;
    for my $statement (@statements) {
        for my $delay (@$delays) {
            $session->send($statement);
            sleep $delay;
            kill 'INT', $session->pid;
            like($session->wait(60), qr/57014/, "cancelled after $delay s");
        }
    }
    no_file_is_left($server, 'no file is left by any of them');
}

# The highest that a backend's memory rises above where it was, in MB, undefined where that is not
# known. `before` reads the tables, as pages of shared_buffers count once a process touches them.
sub peak_rise_with {
    my ($server, $memory, $before, $statement) = @_;
    my $fresh = $server->session;
    $fresh->run(settings(1, "${memory}MB", '1MB') . "; $before", 120);
    return $fresh->peak_rise($statement);
}

# Cases: what it is, a statement, and the MB that it may take beside 1 and 8 MB of
# maintenance_work_mem.
sub memory_stays_near {
    my ($server, $before, @cases) = @_;
SKIP: {
        skip 'the peak of a process cannot be reset here', 2 * @cases
            unless defined peak_rise_with($server, 4, $before, 'SELECT 1');
        for my $case (@cases) {
            my ($what, $statement, $beside) = @$case;
            for my $memory (1, 8) {
                my $rise = peak_rise_with($server, $memory, $before, $statement);
                diag(sprintf '%s, maintenance_work_mem %d MB: memory rose by %.1f MB', $what,
                    $memory, $rise);
                cmp_ok($rise, '<', $memory + $beside,
                    "$what: memory stays near maintenance_work_mem = $memory MB");
            }
        }
    }
}

1;
