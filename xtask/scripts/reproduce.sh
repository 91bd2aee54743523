# The folders' paths differ also in length. The paths of this machine are in the messages of panics, in Rust and in C.
for name in one another-folder; do
    folder=$PWD/target/reproduce/$name
    rm -rf "$folder"
    mkdir -p "$folder"
    git archive --output "$FOLDER/source.tar" HEAD
    tar -xf "$FOLDER/source.tar" -C "$folder"
    export CARGO_TARGET_DIR="$folder/target" CFLAGS="-ffile-prefix-map=$folder=/source"
    RUSTFLAGS="--remap-path-prefix=$folder=/source --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
        "$CARGO" build --release --locked -p wirebench --manifest-path "$folder/Cargo.toml"
    cp "$folder/target/release/wirebench" "$FOLDER/$name"
    ! grep -qF -- "$folder" "$FOLDER/$name" || fail "$folder/target/release/wirebench contains the folder's name"
done
cd "$FOLDER"
sha256sum one another-folder
cmp one another-folder || fail "the programs differ: $(cmp -l one another-folder | wc -l) bytes of the common part; \
compare those in target/reproduce by cmp -l"
echo "both builds are the same $(wc -c <one) bytes"
