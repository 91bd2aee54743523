# Makes the package of the program. Equal revisions give equal files: pages are compressed without a time, and files
# in the package have the time of the commit.
folder=${1%/wirebench}/package
rm -rf "$folder"
mkdir -p "$folder/debian"
"$1" man "$folder/man1"
gzip -9n "$folder"/man1/*
"$1" completions bash >"$folder/wirebench.bash"
"$1" completions zsh >"$folder/_wirebench"
"$1" completions fish >"$folder/wirebench.fish"
time=$(git log -1 --format=%ct)
SOURCE_DATE_EPOCH=$time "$CARGO" deb -p wirebench --no-build --output "$folder/debian"
ls "$folder"/debian/*.deb
