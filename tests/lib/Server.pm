# Throwaway servers for whole-server tests in Perl.
#
#   my $server = Server->new(settings => {work_mem => '1MB'});
#                                    a server of one's own, with pg_bayes; gone when the object is
#   my $server = Server->shared;     the runner's server, a fresh database with the data tables
#   $server->query('SELECT 1')                                   '1'; dies on error
#   my ($out, $err) = $server->attempt('SELECT 1/0');            never dies
#   my $session = $server->session;                              one backend, used asynchronously:
#   $session->send('SELECT pg_sleep(10)'); ...; $session->wait(20);
#   $session->pid, $session->private_kb                          its process, its memory
package Server;
use strict;
use warnings;
use List::Util ();
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use IPC::Open3;
use Symbol qw(gensym);

our $root = abs_path(dirname(__FILE__) . '/../..');
my $databases = 0;

# Options: settings (hash), extension => 0 to leave pg_bayes out, data => 1 to load the data tables.
sub new {
    my ($class, %options) = @_;
    # Tests that need threads get them, however few processors there are.
    my $settings = {'pg_bayes.max_threads' => 64, %{$options{settings} // {}}};
    my @arguments = map { ('--set', "$_=$settings->{$_}") } sort keys %$settings;
    my $owner = $$;  # a copy: $$ itself would be looked up after the fork
    open(my $pipe, '-|', "$root/tests/lib/server", 'start', @arguments, '--owner', $owner)
        or die "server: $!";
    my $text = join '', <$pipe>;
    close($pipe) or die "no server";
    my ($host) = $text =~ /PGHOST='([^']*)'/;
    my ($directory) = $text =~ /PG_BAYES_SERVER='([^']*)'/;
    my $self = bless {
        directory => $directory, host => $host, database => 'postgres', owner => $owner,
    }, $class;
    $self->query('CREATE EXTENSION pg_bayes') if $options{extension} // 1;
    if ($options{data}) {
        my ($out, $err) = $self->psql(undef, '-f', 'tests/lib/data.sql');
        die $err if $err ne '';
    }
    return $self;
}

# The server that the environment names, as the test runner leaves it; one of its own where there is
# no runner.
sub shared {
    my ($class) = @_;
    return $class->new(data => 1) unless $ENV{PG_BAYES_SERVER};
    my $self = bless {
        directory => $ENV{PG_BAYES_SERVER}, host => $ENV{PGHOST}, database => 'postgres',
    }, $class;
    my $database = "t_$$" . '_' . ++$databases;
    $self->query("CREATE DATABASE $database TEMPLATE bayes");
    $self->{database} = $database;
    $self->{drop} = $database;
    $self->{owner} = $$;
    return $self;
}

sub host { $_[0]{host} }
sub directory { $_[0]{directory} }    # data directory: <directory>/data
sub database { $_[0]{database} }

sub environment {
    my ($self) = @_;
    return (%ENV, PGHOST => $self->{host}, PGPORT => 5432, PGUSER => 'postgres',
        PGDATABASE => $self->{database}, PATH => "$self->{directory}/bin:$ENV{PATH}");
}

# Runs a program (psql, pg_dump, ...) against the server, in the top directory: (stdout, stderr,
# exit status).
sub run {
    my ($self, $input, @command) = @_;
    local %ENV = $self->environment;
    my $errors = gensym;
    my $pid = open3(my $in, my $out, $errors, 'sh', '-c', 'cd "$0" && exec "$@"', $root, @command);
    # Both pipes are read as they fill, or a program with much to say on one would wait for ever.
    my $writer = fork() // die "fork: $!";
    if ($writer == 0) {
        local $SIG{PIPE} = 'IGNORE';
        print {$in} $input if defined $input;
        close $in;
        require POSIX;
        POSIX::_exit(0);
    }
    close $in;
    my %text = ($out => '', $errors => '');
    my @open = ($out, $errors);
    while (@open) {
        my $bits = '';
        vec($bits, fileno($_), 1) = 1 for @open;
        select($bits, undef, undef, undef);
        @open = grep {
            my $more = 1;
            $more = sysread($_, $text{$_}, 65536, length $text{$_}) if vec($bits, fileno($_), 1);
            $more;
        } @open;
    }
    waitpid($writer, 0);
    waitpid($pid, 0);
    return ($text{$out}, $text{$errors}, $? >> 8);
}

sub psql {
    my ($self, $input, @arguments) = @_;
    return $self->run($input, 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', @arguments);
}

# (output, error text); the error text has the SQLSTATE: "ERROR:  22023: message ...".
sub attempt {
    my ($self, $sql) = @_;
    my ($out, $err) = $self->psql("\\set VERBOSITY verbose\n$sql");
    chomp $out;
    return ($out, $err);
}

sub query {
    my ($self, $sql) = @_;
    my ($out, $err, $status) = $self->psql($sql);
    die "$sql\n$err" if $status != 0;
    chomp $out;
    return $out;
}

# Runs a file of SQL, named from the top directory; dies on error.
sub include {
    my ($self, $file) = @_;
    my (undef, $err, $status) = $self->psql(undef, '-f', $file);
    die "$file\n$err" if $status != 0;
}

sub session {
    my ($self) = @_;
    return Server::Session->new($self);
}

# The server's log so far.
sub log {
    my ($self) = @_;
    open(my $file, '<', "$self->{directory}/log") or die "log: $!";
    local $/;
    return scalar <$file>;
}

# pg_ctl: $server->ctl('restart'), $server->ctl('stop', '-m', 'immediate'), $server->ctl('start').
sub ctl {
    my ($self, @action) = @_;
    system("$root/tests/lib/server", 'ctl', $self->{directory}, @action) == 0
        or die "pg_ctl @action";
}

# pg_upgrade into a new cluster, which takes the place of this one.
sub upgrade {
    my ($self) = @_;
    system("$root/tests/lib/server", 'upgrade', $self->{directory}) == 0 or die 'pg_upgrade';
}

# Temporary files that the server has on disk. On a shared server those of backends that work for
# other tests, that is in other databases, do not count; a file has the number of its process in its
# name.
sub temporary_files {
    my ($self) = @_;
    my ($out) = $self->run(undef, 'find', "$self->{directory}/data/base", '-path', '*pgsql_tmp/*');
    my @files = split /\n/, $out;
    return @files unless @files && $self->{drop};
    my %others = map { $_ => 1 } split /\n/, $self->query(
        "SELECT pid FROM pg_stat_activity WHERE datname <> '$self->{database}'");
    # Those that are still there belong to somebody who was there when the server was asked.
    return grep { -e && !(m{/pgsql_tmp(\d+)\.[^/]*$} && $others{$1}) } @files;
}

sub DESTROY {
    my ($self) = @_;
    return unless defined $self->{owner} && $self->{owner} == $$;
    local ($?, $@);
    if ($self->{drop}) {
        $self->{database} = 'postgres';
        eval { $self->query("DROP DATABASE IF EXISTS $self->{drop} WITH (FORCE)") };
    } else {
        system("$root/tests/lib/server", 'stop', $self->{directory});
    }
}

# One psql and its backend.
package Server::Session;
use strict;
use warnings;
use IPC::Open2;
use Time::HiRes qw(time);

my $markers = 0;

sub new {
    my ($class, $server) = @_;
    local %ENV = $server->environment;
    # Standard output a line at a time, so that it stays in order with standard error, which shares
    # its pipe.
    my $pid = open2(my $out, my $in, 'sh', '-c', 'cd "$0" && exec stdbuf -oL psql -XAtq 2>&1',
        $Server::root);
    my $self = bless {
        server => $server, psql => $pid, in => $in, out => $out, text => '', pending => [],
        owner => $$,
    }, $class;
    $self->run('\set VERBOSITY verbose');
    $self->{pid} = $self->run('SELECT pg_backend_pid()');
    return $self;
}

sub pid { $_[0]{pid} }    # of the backend

# Starts statements; wait() tells how they went.
sub send {
    my ($self, $sql) = @_;
    my $marker = "-- done $$ " . ++$markers;
    push @{$self->{pending}}, $marker;
    print {$self->{in}} "$sql\n;\n\\echo $marker\n";
    $self->{in}->flush;
}

# Everything that the oldest statements under way printed, errors included; dies after so many
# seconds (default 60).
sub wait {
    my ($self, $seconds) = @_;
    my $marker = shift @{$self->{pending}} // die 'nothing was sent';
    my $limit = time + ($seconds // 60);
    while (1) {
        if ($self->{text} =~ s/\A(.*?)^\Q$marker\E\n//ms) {
            chomp(my $text = $1);
            return $text;
        }
        my $left = $limit - time;
        my $bits = '';
        vec($bits, fileno($self->{out}), 1) = 1;
        die "no answer within the time: $self->{text}"
            if $left <= 0 || !select($bits, undef, undef, $left);
        sysread($self->{out}, $self->{text}, 65536, length $self->{text})
            or die "the session ended: $self->{text}";
    }
}

sub run {
    my ($self, $sql, $seconds) = @_;
    $self->send($sql);
    return $self->wait($seconds);
}

# As Ctrl-C in psql would.
sub cancel {
    my ($self) = @_;
    $self->{server}->query("SELECT pg_cancel_backend($self->{pid})");
}

# The backend's own memory in kB: resident, but not shared with other processes (so without
# shared_buffers).
sub private_kb {
    my ($self) = @_;
    open(my $file, '<', "/proc/$self->{pid}/statm") or die "statm: $!";
    my (undef, $resident, $shared) = split ' ', <$file>;
    require POSIX;
    return ($resident - $shared) * POSIX::sysconf(&POSIX::_SC_PAGESIZE) / 1024;
}

# By how much memory grows, in kB, while something is done so many times: the least of some rounds,
# as a leak adds to every round, and what the C library sets aside does not. Rounds end once one
# grew by no more than $enough. A round in which memory shrinks by more than that gives back what an
# earlier round set aside: it counts from the lowest level so far, and not at all if it is lower.
sub growth_kb {
    my ($self, $times, $enough, $action) = @_;
    my ($growth, @levels);
    my $lowest = my $before = $self->private_kb;
    for my $round (1 .. 6) {
        $action->() for 1 .. $times;
        my $now = $self->private_kb;
        my $more = $now - $before;
        $more = $now - $lowest if $more < -$enough;
        $before = $now;
        $lowest = $now if $now < $lowest;
        next if $more < -$enough && $round < 6;
        $growth = $more if !defined $growth || $more < $growth;
        last if $growth <= $enough;
    } continue {
        push @levels, $before;
    }
    # Memory that goes up and down by turns, above where it was in the beginning, is no loss either:
    # a loss of each round lifts the lowest of the last three above that of the first three.
    if (@levels == 6) {
        my $trend = (List::Util::min(@levels[3 .. 5]) - List::Util::min(@levels[0 .. 2])) / 3;
        $growth = $trend if $trend < $growth;
    }
    return $growth;
}

# The highest that the backend's memory, shared pages included, rises above where it was while it
# runs the statement, in MB. Undefined where the kernel does not let the peak be reset.
sub peak_rise {
    my ($self, $sql) = @_;
    open(my $clear, '>', "/proc/$self->{pid}/clear_refs") or return;
    print {$clear} "5\n";
    CORE::close $clear or return;
    my $peak = sub {
        open(my $file, '<', "/proc/$self->{pid}/status") or die "status: $!";
        my ($kb) = join('', <$file>) =~ /^VmHWM:\s+(\d+)/m;
        return $kb / 1024;
    };
    my $before = $peak->();
    my $said = $self->run($sql, 240);
    die $said if $said =~ /ERROR/;
    return $peak->() - $before;
}

sub close {
    my ($self) = @_;
    return unless $self->{psql};
    close $self->{in};
    close $self->{out};
    kill 'TERM', $self->{psql};
    waitpid(delete $self->{psql}, 0);
}

sub DESTROY {
    my ($self) = @_;
    local ($?, $@);
    $self->close if $self->{owner} == $$;
}

1;
