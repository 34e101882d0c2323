# Makes the install script from the files of this directory, SQL with three notations that avoid
# repetition.
#
#   DEFINE @name = text;          @name stands for the text in all statements that follow, those in
#                                 later files too. (Literals below each other are one literal.)
#
#   CREATE FUNCTION f(a int [, b int [, c int]]) ...;
#                                 a function (or aggregate) for each number of arguments: f(a int),
#                                 f(a int, b int) and f(a int, b int, c int)
#
#   COMMENT IS 'text';            the comment on the function or aggregate just created. Of several
#                                 comments the first is for the fewest arguments, the second for one
#                                 more, and so on; the last is for all that remain.
#
# A statement ends where a line ends with a semicolon.

function fail(message) {
  printf "%s:%d: %s\n", FILENAME, FNR, message > "/dev/stderr"
  failed = 1
  exit 1
}

# The text with every @name replaced.
function expanded(text,    done, name) {
  done = ""
  while (match(text, /@[a-z_]+/)) {
    name = substr(text, RSTART, RLENGTH)
    if (!(name in definitions)) fail(name " is not defined")
    done = done substr(text, 1, RSTART - 1) definitions[name]
    text = substr(text, RSTART + RLENGTH)
  }
  return done text
}

function define(statement,    name) {
  if (!match(statement, /^DEFINE @[a-z_]+ =[ \n]+/)) fail("this is no DEFINE @name = text;")
  name = substr(statement, 8, index(statement, " =") - 8)
  if (name in definitions) fail(name " is defined twice")
  definitions[name] = expanded(substr(statement, RLENGTH + 1, length(statement) - RLENGTH - 1))
}

# CREATE FUNCTION name(arguments) rest, or AGGREGATE: remembers the statement for each number of
# arguments.
function create(statement,    open, end, rest, parts, brackets, arguments, i) {
  open = index(statement, "(")
  end = match(statement, /\)[ \n]/)
  if (!end) fail("the list of arguments has no end")
  created = substr(statement, 8, open - 8)
  rest = substr(statement, end + 1)
  arguments = substr(statement, open + 1, end - open - 1)
  gsub(/^[ \n]+|[ \n]+$/, "", arguments)
  forms = split(arguments, parts, / \[, /)
  if (forms == 0) parts[forms = 1] = ""
  brackets = substr(parts[forms], length(parts[forms]) - forms + 2)
  if (brackets !~ /^]*$/) fail("optional arguments are not nested as in [, a int [, b int]]")
  parts[forms] = substr(parts[forms], 1, length(parts[forms]) - forms + 1)
  for (i = 1; i <= forms; ++i) {
    arguments = i == 1 ? parts[1] : arguments ", " parts[i]
    signature[i] = created "(" arguments ")"
    text[i] = "CREATE " signature[i] rest
  }
  comments = 0
}

# Writes what was created last, each with its comment.
function flush_created(    i) {
  if (forms == 0) return
  if (comments > forms) fail(created " has more comments than it has numbers of arguments")
  for (i = 1; i <= forms; ++i) {
    print text[i]
    if (comments > 0)
      printf "COMMENT ON %s IS%s\n", signature[i], comment[i < comments ? i : comments]
  }
  forms = 0
}

function take(statement) {
  if (statement ~ /^COMMENT IS[ \n]/) {
    if (forms == 0) fail("COMMENT IS does not follow what it comments on")
    comment[++comments] = substr(expanded(statement), 11)
    return
  }
  flush_created()
  if (statement ~ /^DEFINE/)
    define(statement)
  else if (statement ~ /^CREATE (FUNCTION|AGGREGATE) /)
    create(expanded(statement))
  else
    print expanded(statement)
  if (statement !~ /^DEFINE/) printed = statement
}

inside == "" && (/^--/ || /^\\/ || /^$/) {
  flush_created()
  if ($0 != "" || printed != "") print
  printed = $0
  next
}
{
  inside = inside == "" ? $0 : inside "\n" $0
  if (!/;$/) next
  take(inside)
  inside = ""
}
END {
  if (failed) exit 1
  if (inside != "") fail("the last statement has no end")
  flush_created()
}
