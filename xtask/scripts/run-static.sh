# Runs a static program where there is no library and no shell. A container mounts the same folders; `list` needs
# them to start processes, `load` does not.
folder=target/static-root
for it in proc dev sys entries suites; do mkdir -p "$folder/$it"; done
cp "$1" "$folder/wirebench"
chroot "$folder" /wirebench --version
unshare --mount sh -eu -c 'for it in proc dev sys; do mount --rbind "/$it" "$1/$it"; done
    exec chroot "$1" /wirebench list' sh "$folder"
mkfifo "$2/lines"
chroot "$folder" /wirebench null-server epoll hello 127.0.0.1 0 1 >"$2/lines" &
trap 'kill $!' EXIT
read -r word address <"$2/lines"
[ "$word" = listening ] || fail "the server printed: $word $address"
chroot "$folder" /wirebench load -t1 -c8 -d1s "http://$address/"
