# Builds one static program with musl. `--check` runs it where there is no library and no shell. A container mounts the
# same folders; `list` needs them to start processes, `load` does not.
target=x86_64-unknown-linux-musl
program=$TARGET/$target/release/wirebench
[ $# = 0 ] || [ "$(id -u)" = 0 ] || fail '--check needs root; without it, the program is only built'
"$CARGO" build --release --locked -p wirebench --target $target ||
    fail "needs \`rustup target add $target\` and, on Debian, \`apt-get install musl-tools\`"
echo "$program"
[ $# = 1 ] || exit 0

folder=target/static-root
for it in proc dev sys entries suites; do mkdir -p "$folder/$it"; done
cp "$program" "$folder/wirebench"
chroot "$folder" /wirebench --version
unshare --mount sh -eu -c 'for it in proc dev sys; do mount --rbind "/$it" "$1/$it"; done
    exec chroot "$1" /wirebench list' sh "$folder"
mkfifo "$FOLDER/lines"
chroot "$folder" /wirebench null-server epoll hello 127.0.0.1 0 1 >"$FOLDER/lines" &
trap 'kill $!' EXIT
read -r word address <"$FOLDER/lines"
[ "$word" = listening ] || fail "the server printed: $word $address"
chroot "$folder" /wirebench load -t1 -c8 -d1s "http://$address/"
