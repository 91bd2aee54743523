# Installs the program by cargo into an empty folder, and measures entries that need only a C compiler: elsewhere,
# without a checkout and, if possible, as a user without rights. The folder of the release build saves a second one.
home=$2/home
"$CARGO" install --path crates/cli --locked --root "$2/root" --target-dir "${1%/release/wirebench}"
wc -c "$2/root/bin/wirebench"
mkdir "$home"
user=
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$2"
    chown 65534:65534 "$home"
    user='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
env --ignore-environment --chdir "$home" HOME="$home" PATH="$PATH" $user "$2/root/bin/wirebench" \
    run c/epoll c/threads --cohorts 1 --rounds 1 --slice 40ms
set -- "$home"/.local/state/wirebench/*/report.html
[ $# = 1 ] && [ -f "$1" ] || fail "not one report: $*"
