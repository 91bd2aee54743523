# Installs the program by cargo into an empty folder, and measures entries that need only a C compiler: elsewhere,
# without a checkout and, if possible, as a user without rights. The folder of the release build saves a second one.
home=$FOLDER/home
"$CARGO" install --path crates/cli --locked --root "$FOLDER/root" --target-dir "$TARGET"
wc -c "$FOLDER/root/bin/wirebench"
mkdir "$home"
user=
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$FOLDER"
    chown 65534:65534 "$home"
    user='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
env --ignore-environment --chdir "$home" HOME="$home" PATH="$PATH" $user "$FOLDER/root/bin/wirebench" \
    run c/epoll c/threads --cohorts 1 --rounds 1 --visit 40ms
set -- "$home"/.local/state/wirebench/*/report.html
[ $# = 1 ] && [ -f "$1" ] || fail "not one report: $*"
