# Runs all tests of `crates/cli/tests/provoke`, and prints their rows as a table and then the faults that were skipped.
# `--record` records their evidence.
echo '| fault | server | kind | weight | sentence |'
echo '|---|---|---|---|---|'
: >"$FOLDER/rest" >"$FOLDER/skipped"
{
    "$CARGO" test -p wirebench --test provoke --locked -- --include-ignored "$@" || echo $? >"$FOLDER/failed"
} | while IFS= read -r line; do
    # The text that a test prints follows its name.
    text=${line#*... }
    case $text in
    '| '*) printf '%s\n' "$text" ;;
    'left out: '*) printf '%s\n' "$text" >>"$FOLDER/skipped" ;;
    *) printf '%s\n' "$line" >>"$FOLDER/rest" ;;
    esac
done
cat "$FOLDER/skipped"
[ ! -e "$FOLDER/failed" ] || fail "some faults were not reported: $(cat "$FOLDER/rest")"
# The judgements of the new evidence are reviewed with it.
[ $# = 0 ] || UPDATE_EXPECT=1 "$CARGO" test -p wirebench-judge --test evidence --locked --quiet
