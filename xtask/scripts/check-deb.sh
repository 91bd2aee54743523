# Installs the package, runs its program, and purges it: every file of it must then be gone. Images for containers
# skip manual pages.
set -- "${1%/wirebench}"/package/debian/*.deb "$2"
[ $# = 2 ] && [ -f "$1" ] || fail "not one package: $*"
dpkg-deb --fsys-tarfile "$1" | tar --list | sed 's/^\.//' | while read -r it; do
    [ -e "$it" ] || echo "$it"
done >"$2/new"
[ -s "$2/new" ] || fail 'every file of the package exists already'
trap 'dpkg --purge wirebench' EXIT
dpkg --path-include='/usr/share/man/*' --install "$1"
while read -r it; do [ -e "$it" ] || fail "not installed: $it"; done <"$2/new"
/usr/bin/wirebench --version
if [ "$(command -v man)" ]; then man -w wirebench wirebench-load; fi
trap - EXIT
dpkg --purge wirebench
while read -r it; do [ ! -e "$it" ] || fail "after the purge this is left: $it"; done <"$2/new"
echo "installed and purged: $(wc -l <"$2/new") files and folders came and went"
