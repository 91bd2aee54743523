# Installs the requirements of tests, with `--nightly` also those of nightly tests. `wirebench setup` installs those of
# entries. The run ends with a list of missing ones.
tests='chromium fish hey linux-perf man-db nghttp2-client openssh-client python3-pandas wrk'
if [ "${1-}" = --nightly ]; then
    tests="$tests iproute2 munge openssh-server slurm-wlm"
fi
if [ "$(command -v apt-get)" ]; then
    sudo=$([ "$(id -u)" = 0 ] || echo sudo)
    install="$sudo apt-get --yes --no-install-recommends install"
    # A fresh image has no lists, or old ones.
    $install $tests || { $sudo apt-get update; $install $tests; } || echo 'some packages are not installed'
else
    echo 'Debian packages: skipped, apt-get is missing'
fi
# Axe finds what keeps people from reading an HTML report.
folder=target/axe
if [ ! -f $folder/node_modules/axe-core/axe.min.js ] && [ "$(command -v npm)" ]; then
    mkdir -p $folder
    cp xtask/axe/package.json xtask/axe/package-lock.json $folder
    npm ci --no-audit --no-fund --ignore-scripts --prefix $folder || echo 'axe is not installed'
fi
