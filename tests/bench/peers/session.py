"""What measurements of SQL statements share: sessions whose CPU time counts.

Processes of other programs make clocks useless on a machine that is shared, so everything is
measured in CPU seconds (user and system) of one thread: of the backend, which includes reading the
table, or of this process.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

root = Path(__file__).parents[3]
runs = int(os.environ.get("BENCH_RUNS", 5))


class Session:
    """A session of psql, and the CPU seconds of its backend."""

    def __init__(self):
        self.psql = subprocess.Popen(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.run("""SET client_min_messages = error; SET jit = off; SET pg_bayes.threads = 1;
          SET max_parallel_workers_per_gather = 0;""")
        self.pid = int(self.run("SELECT pg_backend_pid();")[0])

    def run(self, sql):
        self.psql.stdin.write(sql.strip().rstrip(";") + ";\n\\echo <end>\n")
        self.psql.stdin.flush()
        out = []
        for line in self.psql.stdout:
            if line == "<end>\n":
                return out
            out.append(line.rstrip("\n"))
        sys.exit("psql has ended: " + sql)

    def cpu(self):
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def timed(self, sql):
        """(lines, CPU seconds)"""
        begin = self.cpu()
        return self.run(sql), self.cpu() - begin

    def memory(self):
        """The most memory that the backend has had, in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024

    def copy(self, table, lines):
        """Lines, in the form of COPY, into a table that exists."""
        with tempfile.NamedTemporaryFile("w", suffix=".tsv", delete=False) as file:
            file.writelines(line + "\n" for line in lines)
        os.chmod(file.name, 0o644)
        self.run(f"\\copy {table} FROM '{file.name}'\nVACUUM ANALYZE {table};")
        os.unlink(file.name)

    def compare(self, what, first, second):
        """CPU seconds of two statements that run in turn, medians, and of their ratios."""
        seconds = [], []
        self.run(first), self.run(second)
        for _ in range(runs):
            for statement, taken in zip((first, second), seconds):
                taken.append(self.timed(statement)[1])
        ratio = statistics.median(b / a for a, b in zip(*seconds))
        print(f"{what:78s} {statistics.median(seconds[0]):7.3f} s, "
              f"{statistics.median(seconds[1]):7.3f} s, x {ratio:.2f}", flush=True)
