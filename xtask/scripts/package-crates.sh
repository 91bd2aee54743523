# Packages all published crates with the options `$*`. The package of `wirebench-bundle` contains the archive of
# entries that its build script makes from a checkout; there it would only go stale. It is not tracked, so the tree
# counts as changed.
archive=crates/bundle/project.tar.gz
messages=$("$CARGO" build --release --locked -p wirebench-bundle --message-format=json)
folder=$(echo "$messages" |
    sed -n 's/.*"build-script-executed".*crates\/bundle#.*"out_dir":"\([^"]*\)".*/\1/p')
[ -n "$folder" ] || fail 'cargo reported no folder of the build script'
trap 'rm -f "$archive"' EXIT
cp "$folder/project.tar.gz" "$archive"
private=$(grep -l '^publish = false' lab/Cargo.toml xtask/Cargo.toml crates/*/Cargo.toml)
exclude=$(sed -n 's/^name = "\(.*\)"/--exclude \1/p' $private)
"$CARGO" package --workspace --locked --allow-dirty --quiet "$@" $exclude
