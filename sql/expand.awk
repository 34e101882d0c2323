# Makes the install script from the files in this directory: SQL with four notations that avoid
# repetition.
#
#   DEFINE @name = text;          @name stands for the text in all statements that follow, those in
#                                 later files too. (SQL joins literals on successive lines.)
#
#   CREATE FUNCTION f(a int [, b int [, c int]]) ...;
#                                 a function (or aggregate) for each number of arguments: f(a int),
#                                 f(a int, b int) and f(a int, b int, c int)
#
#   CREATE FUNCTION f(a {int | text}, b {int | text}) ...;
#                                 a function for each alternative: f(a int, b int) and f(a text, b
#                                 text), both for each number of arguments if that varies too
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

# The number of alternatives in the first braces.
function alternatives(arguments,    inside, parts) {
  if (!match(arguments, /[{][^}]*[}]/)) return 1
  inside = substr(arguments, RSTART, RLENGTH)
  return split(inside, parts, /[|]/)
}

# The arguments with alternative number `kind` in place of each pair of braces.
function chosen(arguments, kind,    done, parts) {
  done = ""
  while (match(arguments, /[{][^}]*[}]/)) {
    if (split(substr(arguments, RSTART + 1, RLENGTH - 2), parts, / *[|] */) != kinds)
      fail("braces have different numbers of alternatives")
    done = done substr(arguments, 1, RSTART - 1) parts[kind]
    arguments = substr(arguments, RSTART + RLENGTH)
  }
  return done arguments
}

# CREATE FUNCTION name(arguments) rest, or AGGREGATE: remembers the statement for each alternative
# and number of arguments.
function create(statement,    open, end, rest, parts, brackets, arguments, i, kind, at) {
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
  kinds = alternatives(parts[1])
  for (i = 1; i <= forms; ++i) {
    arguments = i == 1 ? parts[1] : arguments ", " parts[i]
    for (kind = 1; kind <= kinds; ++kind) {
      at = (kind - 1) * forms + i
      signature[at] = created "(" chosen(arguments, kind) ")"
      text[at] = "CREATE " signature[at] rest
      gsub(/ DEFAULT [^,)]+/, "", signature[at])  # a comment is on types alone
    }
  }
  comments = 0
}

# The signature as COMMENT ON takes it.
function without_defaults(signature) {
  gsub(/ DEFAULT [^,)]*/, "", signature)
  return signature
}

# Writes the functions of the last CREATE statement, each with its comment.
function flush_created(    at, i) {
  if (forms == 0) return
  if (comments > forms) fail(created " has more comments than it has numbers of arguments")
  for (at = 1; at <= kinds * forms; ++at) {
    print text[at]
    i = (at - 1) % forms + 1
    if (comments > 0)
      printf "COMMENT ON %s IS%s\n", without_defaults(signature[at]),
        comment[i < comments ? i : comments]
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
