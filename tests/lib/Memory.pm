# Memory that stays flat over many runs of a statement.
package Memory;
use strict;
use warnings;
use Exporter qw(import);
use Test::More;

our @EXPORT = qw(memory_is_flat);

# Each statement runs in a session of its own with these settings, so many times: the backend grows
# by at most `each` kB a time, and no memory context of ours is left. A statement called "refused"
# must end with as many errors of class 22 as it has parts, the others with none: nothing is flat
# that does not run.
sub memory_is_flat {
    my ($server, $settings, $times, $each, %statements) = @_;
    for my $name (sort keys %statements) {
        my $session = $server->session;
        $session->run($settings);
        my $run = sub { $session->run($statements{$name}, 60) };
        my $said = $run->();
        is(join(' ', $said =~ /^ERROR:  (\w\w)\w{3}:/mg), $name eq 'refused' ? '22 22 22' : '',
            "$name: it runs, or is refused") or diag($said);
        $run->() for 1 .. 4;
        my $growth = $session->growth_kb($times, $each * $times / 4, $run);
        diag("$times times $name: memory grew by $growth kB");
        cmp_ok($growth, '<=', $each * $times, "memory is flat over many times: $name");
        is($session->run(
            q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'pg_bayes%'}),
            '0', 'no memory context is left');
    }
}

1;
