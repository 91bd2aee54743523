# Makes the Debian package of a release build. Equal revisions give equal files: pages are compressed without a time,
# and files in the package have the time of the commit. Options: `--no-build` packages the build that exists, `--check`
# installs the package, runs its program and purges it, and `--if-possible` skips steps that this machine does not
# allow.
is_installed() {
    state=$(dpkg-query -W -f '${db:Status-Status}' wirebench 2>"$FOLDER/errors" || echo not-installed)
    [ "$state" != not-installed ]
}
case $* in
*--if-possible*)
    # Without optimisation it is built in half the time.
    if [ "$(command -v dpkg-deb)" ] && [ ! "$(command -v cargo-deb)" ]; then
        "$CARGO" install --locked --debug cargo-deb || echo 'cargo-deb cannot be installed'
    fi
    for it in dpkg-deb cargo-deb; do
        [ "$(command -v $it)" ] || { echo "package: skipped, $it is missing"; exit; }
    done
    if [ "$(id -u)" = 0 ] && ! is_installed; then
        set -- "$@" --check
    else
        echo 'installation: skipped, it needs root and a machine without the package'
    fi ;;
*--check*)
    [ "$(id -u)" = 0 ] || fail '--check needs root; without it, the package is only made' ;;
esac
case $* in *--no-build*) ;; *) "$CARGO" build --release --locked ;; esac
[ "$(command -v cargo-deb)" ] || fail 'cargo-deb is missing: cargo install --locked cargo-deb'

program=$TARGET/release/wirebench
[ -f "$program" ] || fail "$program was not built"
folder=$TARGET/release/package
rm -rf "$folder"
mkdir -p "$folder/debian"
"$program" man "$folder/man1"
gzip -9n "$folder"/man1/*
for it in bash:wirebench.bash zsh:_wirebench fish:wirebench.fish; do
    "$program" completions "${it%:*}" >"$folder/${it#*:}"
done
time=$(git log -1 --format=%ct)
SOURCE_DATE_EPOCH=$time "$CARGO" deb -p wirebench --no-build --output "$folder/debian"
ls "$folder"/debian/*.deb
case $* in *--check*) ;; *) exit ;; esac

# Every file of the package must be gone after the purge. Images for containers skip manual pages.
! is_installed || fail 'wirebench is installed as a package, and the check purges it'
set -- "$folder"/debian/*.deb
[ $# = 1 ] && [ -f "$1" ] || fail "not one package: $*"
dpkg-deb --fsys-tarfile "$1" | tar --list | sed 's/^\.//' | while read -r it; do
    [ -e "$it" ] || echo "$it"
done >"$FOLDER/new"
[ -s "$FOLDER/new" ] || fail 'every file of the package exists already'
trap 'dpkg --purge wirebench' EXIT
dpkg --path-include='/usr/share/man/*' --install "$1"
while read -r it; do [ -e "$it" ] || fail "not installed: $it"; done <"$FOLDER/new"
/usr/bin/wirebench --version
if [ "$(command -v man)" ]; then man -w wirebench wirebench-load; fi
trap - EXIT
dpkg --purge wirebench
while read -r it; do [ ! -e "$it" ] || fail "after the purge this is left: $it"; done <"$FOLDER/new"
echo "installed and purged: $(wc -l <"$FOLDER/new") files and folders came and went"
