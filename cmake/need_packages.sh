# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts: need_packages NAME... installs the Debian packages of these that are missing, as root or by sudo.
# Where dpkg is not the package manager nothing is done; cmake then names what it does not find.

need_packages() {
    command -v dpkg-query >/dev/null 2>&1 || return 0
    _missing=
    for _package in "$@"; do
        case $(dpkg-query -W -f='${db:Status-Status}' "$_package" 2>/dev/null) in
        installed) ;;
        *) _missing="$_missing $_package" ;;
        esac
    done
    [ -n "$_missing" ] || return 0
    _sudo=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "need_packages: missing$_missing; run as root or with sudo, or install them by hand" >&2
            return 1
        fi
        _sudo=sudo
    fi
    echo "installing$_missing" >&2
    # Lists may be absent (a fresh system) or old (a package file that is gone): then once more with fresh ones.
    # shellcheck disable=SC2086 # one argument a package
    $_sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $_missing >/dev/null 2>&1 || {
        $_sudo apt-get update -qq >&2 &&
            $_sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $_missing >&2
    }
}
