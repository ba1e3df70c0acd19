#!/bin/sh
# Installs Tally from a release, or upgrades it: the executable, its manual page and completions for shells.
#
#   sh install.sh                          from the folder of this script
#   sh install.sh --from FOLDER|URL        from the folder or URL with SHA256SUMS (or TALLY_RELEASES)
#   sh install.sh --version 0.3.0          where there are several versions, or to go back to an older one
#   sh install.sh --prefix ~/.local        instead of /usr/local, or ~/.local for those who can't write to that
#   sh install.sh --key minisign.pub       checks the signature with this public key (or TALLY_RELEASES_KEY)
#
# Every archive is compared with SHA256SUMS, and SHA256SUMS with its signature if a key is named. A version that is older
# than the installed one is refused unless it is named. Nothing is asked, and nothing outside the prefix is changed.
set -eu

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

usage() {
  sed -n '2,9s/^# \{0,1\}//p' "$0" 2>/dev/null || echo 'Options: --from FOLDER|URL --version VERSION --prefix FOLDER --key FILE'
}

has() {
  command -v "$1" >/dev/null 2>&1
}

# value_of OPTION COUNT VALUE
value_of() {
  if [ "$2" -lt 2 ] || [ -z "$3" ]; then fail "$1 needs a value."; fi
}

# The name of this machine's archive, as in its file name.
platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "There is no archive for $(uname -s) here. On Windows, unpack the .zip file." ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "There is no archive for the processor $(uname -m). Build Tally from its source code instead." ;;
  esac
  libc=
  if [ "$os" = linux ] && [ -n "$(find /lib/ -maxdepth 1 -name 'ld-musl-*' 2>/dev/null)" ] &&
    [ -z "$(find /lib/ /lib64/ -maxdepth 1 -name 'ld-linux-*' 2>/dev/null)" ]; then
    libc=-musl
  fi
  echo "$os-$arch$libc"
}

# get NAME FILE: a file of the release.
get() {
  case $from in
    http://* | https://*)
      if has curl; then
        curl --fail --silent --show-error --location --output "$2" "$from/$1" || fail "$from/$1 could not be downloaded."
      elif has wget; then
        wget -q -O "$2" "$from/$1" || fail "$from/$1 could not be downloaded."
      else
        fail "curl or wget is needed to download from $from."
      fi
      ;;
    *)
      [ -f "$from/$1" ] || fail "$from has no $1."
      cp -- "$from/$1" "$2"
      ;;
  esac
}

sha256_of() {
  if has sha256sum; then
    sha256sum -- "$1"
  elif has shasum; then
    shasum -a 256 -- "$1"
  elif has openssl; then
    openssl dgst -sha256 -r "$1"
  else
    fail "sha256sum, shasum or openssl is needed to check the archive. Nothing was installed."
  fi
}

# decoded LINE COUNT FILE: so many bytes from a line in base64.
decoded() {
  printf '%s\n' "$1" | tr -d '\r' | openssl base64 -d -A >"$3" 2>/dev/null && [ "$(wc -c <"$3")" -eq "$2" ]
}

# bytes_of FILE FROM COUNT
bytes_of() {
  tail -c +"$2" "$1" | head -c "$3"
}

# OpenSSL has known the signatures' kind of key since version 3.
knows_ed25519() {
  has openssl && openssl pkeyutl -help 2>&1 | grep -q -- -rawin &&
    openssl dgst -blake2b512 /dev/null >/dev/null 2>&1
}

# is_signed FILE SIGNATURE: with the public key in $work/key.der.
is_signed() {
  openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key.der" -rawin -in "$1" -sigfile "$2" >/dev/null 2>&1
}

# check_with_openssl KEY FILE: as minisign does. The signature is one of the digest of the file; a second one, of the first
# and of the trusted comment, shows that these belong together.
check_with_openssl() {
  decoded "$1" 42 "$work/key" && decoded "$(sed -n 2p "$2.minisig")" 74 "$work/signature" &&
    decoded "$(sed -n 4p "$2.minisig")" 64 "$work/signature.all" || return 1
  # The number of the key; what follows it is the key, as X.509 wraps it, and the signature.
  bytes_of "$work/key" 3 8 >"$work/id"
  bytes_of "$work/signature" 3 8 | cmp -s - "$work/id" || return 1
  {
    printf '\060\052\060\005\006\003\053\145\160\003\041\000'
    bytes_of "$work/key" 11 32
  } >"$work/key.der"
  bytes_of "$work/signature" 11 64 >"$work/signature.file"
  openssl dgst -blake2b512 -binary -out "$work/digest" "$2"
  {
    cat "$work/signature.file"
    trusted_comment "$2"
  } >"$work/all"
  is_signed "$work/digest" "$work/signature.file" && is_signed "$work/all" "$work/signature.all"
}

trusted_comment() {
  sed -n '3s/^trusted comment: //p' "$1.minisig" | tr -d '\r\n'
}

# check_signature KEY FILE: with minisign, or else with OpenSSL, in the format of minisign.
check_signature() {
  # Either the file of the public key, or its second line.
  if [ -f "$1" ]; then key=$(tr -d '\r' <"$1" | sed -n '/^untrusted comment:/!p' | head -n 1); else key=$1; fi
  case $key in
    RW*) [ ${#key} = 56 ] || fail "$1 is neither a public key of minisign nor its file." ;;
    *) fail "$1 is neither a public key of minisign nor its file." ;;
  esac
  # Of the only kind that minisign makes: it still accepts an older one, which signs the file itself.
  case $(sed -n 2p "$2.minisig") in
    RU*) ;;
    *) return 1 ;;
  esac
  sed -n 3p "$2.minisig" | grep -q '^trusted comment: ' || return 1
  if has minisign; then
    minisign -V -q -P "$key" -m "$2" -x "$2.minisig" >/dev/null 2>&1
  elif knows_ed25519; then
    check_with_openssl "$key" "$2"
  else
    fail "minisign, or OpenSSL 3, is needed to check the signature. Nothing was installed. Install one of them."
  fi
}

# is_older VERSION VERSION: whether the first one comes before the second one (https://semver.org).
is_older() {
  LC_ALL=C awk -v one="$1" -v other="$2" '
    function order(x, y) { return x < y ? -1 : x > y }
    function compared(x, y,  count, xs, ys, i, result) {
      count = split(x, xs, ".")
      if (split(y, ys, ".") > count) count = split(y, ys, ".")
      for (i = 1; i <= count; i++) {
        # The longer one of two that begin with the same is the later one, and numbers come before words.
        if (!(i in xs) || !(i in ys)) return i in xs ? 1 : -1
        if (xs[i] ~ /^[0-9]+$/ && ys[i] ~ /^[0-9]+$/) result = order(xs[i] + 0, ys[i] + 0)
        else if (xs[i] ~ /^[0-9]+$/) result = -1
        else if (ys[i] ~ /^[0-9]+$/) result = 1
        else result = order(xs[i] "", ys[i] "")
        if (result) return result
      }
      return 0
    }
    function core(version) { sub(/[-+].*/, "", version); return version }
    function candidate(version) { sub(/\+.*/, "", version); return sub(/^[^-]*-/, "", version) ? version : "" }
    BEGIN {
      result = compared(core(one), core(other))
      # A release comes after its candidates.
      if (!result && candidate(one) != "" && candidate(other) == "") result = -1
      else if (!result && candidate(one) != "") result = compared(candidate(one), candidate(other))
      exit result < 0 ? 0 : 1
    }'
}

# All of it is read before any of it runs: a download that breaks off does nothing.
main() {
  from=${TALLY_RELEASES:-}
  key=${TALLY_RELEASES_KEY:-}
  version=
  prefix=
  while [ $# -gt 0 ]; do
    case $1 in
      --from)
        value_of "$1" $# "${2:-}"
        from=$2
        shift
        ;;
      --version)
        value_of "$1" $# "${2:-}"
        version=${2#v}
        shift
        ;;
      --prefix)
        value_of "$1" $# "${2:-}"
        prefix=$2
        shift
        ;;
      --key)
        value_of "$1" $# "${2:-}"
        key=$2
        shift
        ;;
      -h | --help)
        usage
        exit 0
        ;;
      *) fail "Unknown option: $1. --help lists the options." ;;
    esac
    shift
  done

  if [ -z "$from" ]; then
    # Not from the current folder, which may be anybody's, if this script is read from a pipe.
    beside=
    if [ -f "$0" ]; then beside=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd); fi
    if [ -z "$beside" ] || [ ! -f "$beside/SHA256SUMS" ]; then
      fail "Name the folder or URL of the release with --from or TALLY_RELEASES."
    fi
    from=$beside
  fi
  from=${from%/}

  work=$(mktemp -d)
  unfinished=
  trap 'rm -rf "$work" ${unfinished:+"$unfinished"}' EXIT
  trap 'exit 1' HUP INT TERM

  platform=$(platform)
  get SHA256SUMS "$work/SHA256SUMS"
  if [ -n "$key" ]; then
    get SHA256SUMS.minisig "$work/SHA256SUMS.minisig"
    check_signature "$key" "$work/SHA256SUMS" ||
      fail "The signature of SHA256SUMS was not made with this key, or SHA256SUMS or its signature was changed. Nothing was installed."
  fi
  archive=tally-$version-$platform.tar.gz
  if [ -z "$version" ]; then
    # A release has one version.
    archive=$(sed -n "s/^[0-9a-f]\{64\} [ *]\(tally-[0-9][0-9A-Za-z.+-]*-$platform\.tar\.gz\)\$/\1/p" "$work/SHA256SUMS")
    [ "$(printf '%s\n' "$archive" | grep -c .)" = 1 ] ||
      fail "$from has no archive, or several, for $platform. Choose one with --version."
  fi
  expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
  [ -n "$expected" ] || fail "$from/SHA256SUMS does not list $archive."

  if [ -z "$prefix" ]; then
    prefix=/usr/local
    # Neither root, nor the owner of it.
    if ! { mkdir -p "$prefix/bin" && [ -w "$prefix/bin" ]; } 2>/dev/null; then prefix=$HOME/.local; fi
  fi
  if ! { mkdir -p -- "$prefix/bin" && [ -w "$prefix/bin" ]; } 2>/dev/null; then
    fail "$prefix/bin is not writable. Run this as another user, or choose another folder with --prefix."
  fi
  prefix=$(CDPATH='' cd -- "$prefix" && pwd)

  # An older release, signed as it is, may have errors that are known by now. A program that does not run has no version.
  chosen=${archive#tally-}
  chosen=${chosen%-"$platform".tar.gz}
  installed=$("$prefix/bin/tally" version 2>/dev/null </dev/null | sed -n '1s/^tally \([0-9][0-9A-Za-z.+-]*\).*/\1/p') || installed=
  if [ -z "$version" ] && [ -n "$installed" ] && is_older "$chosen" "$installed"; then
    fail "$chosen is older than the installed $installed, and can't use a database that this one has upgraded. Nothing was installed. To go back to it nevertheless, add --version $chosen."
  fi

  get "$archive" "$work/$archive"
  sum=$(sha256_of "$work/$archive")
  [ "${sum%% *}" = "$expected" ] ||
    fail "$archive is not what SHA256SUMS says: its checksum differs. Nothing was installed. Download it again."
  tar -xzf "$work/$archive" -C "$work"
  unpacked=$work/${archive%.tar.gz}

  # Tried where it will be, as programs may not run in a temporary folder, and then moved into place at once: a running
  # server keeps the file that it was started from.
  unfinished=$prefix/bin/.tally-unfinished-$$
  cp -- "$unpacked/tally" "$unfinished"
  chmod 755 "$unfinished"
  "$unfinished" version >/dev/null || fail "The executable does not run on this machine. Nothing was installed."
  mv -f -- "$unfinished" "$prefix/bin/tally"
  unfinished=
  (cd "$unpacked" && find share -type f) | while IFS= read -r file; do
    mkdir -p -- "$prefix/$(dirname -- "$file")"
    cp -- "$unpacked/$file" "$prefix/$file"
    chmod 644 "$prefix/$file"
  done

  echo "Installed $("$prefix/bin/tally" version) as $prefix/bin/tally."
  if [ -n "$key" ]; then
    echo "Its signature is valid: $(trusted_comment "$work/SHA256SUMS")"
  else
    echo "Its signature was not checked: name the public key of whoever made the release with --key."
  fi
  case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "$prefix/bin is not in your PATH: add it there, or call $prefix/bin/tally." ;;
  esac
  echo "Start the server with: tally serve    (a server that runs already must be restarted)"
}

main "$@"
