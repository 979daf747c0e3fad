#!/bin/sh
# make-rootfs.sh <folder>: the files of the image below the hub, from packages of the Debian that runs this script: the C and C++
# libraries that Node needs, certificate authorities, and an init. No shell and no package manager, so that there is little to attack
# and to update. Used by the Containerfile and by `npm run image`. Needs dpkg, apt and the network, but no root.
set -eu
umask 022

root=$1
user=65532
# It has the license of the two libraries of GCC, and the version of GCC in its name.
gcc=$(apt-cache depends libgcc-s1 | sed -n 's/.*Depends: \(gcc-.*-base\)$/\1/p')
packages="base-files ca-certificates $gcc libc6 libgcc-s1 libstdc++6 netbase tini"

mkdir -p "$root/usr/bin" "$root/usr/lib" "$root/usr/lib64" "$root/usr/sbin"
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$root/$name"; done

downloads=$(mktemp -d)
trap 'rm -rf "$downloads"' EXIT
cd "$downloads"
# shellcheck disable=SC2086 # one word for each package
apt-get -qq -o APT::Sandbox::User=root download $packages

# Scanners find the packages by status.d, as in other images without dpkg.
mkdir -p "$root/var/lib/dpkg/status.d"
for package in *.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --no-same-owner --keep-directory-symlink -C "$root"
  dpkg-deb --field "$package" > "$root/var/lib/dpkg/status.d/$(dpkg-deb --field "$package" Package)"
done

# The package concatenates them when it is configured, which needs a shell.
mkdir -p "$root/etc/ssl/certs"
cat "$root"/usr/share/ca-certificates/mozilla/*.crt > "$root/etc/ssl/certs/ca-certificates.crt"

# Licenses stay; conversions of character sets, manuals and translations are never read.
find "$root/usr/share/doc" -type f ! -name copyright -delete
find "$root/usr/share/doc" -type d -empty -delete
rm -rf "$root"/usr/lib/*/gconv "$root/usr/share/ca-certificates" "$root/usr/share/man" "$root/usr/share/locale" \
  "$root/usr/share/info" "$root/usr/share/lintian" "$root/usr/share/bug" "$root/usr/share/gcc" "$root/usr/share/base-files" \
  "$root/usr/sbin/update-ca-certificates" "$root/etc/ca-certificates" "$root/home" "$root/boot" "$root/media" "$root/mnt" "$root/srv"

printf 'root:x:0:0:root:/root:/usr/sbin/nologin\nparley:x:%s:%s::/var/lib/parley:/usr/sbin/nologin\n' $user $user > "$root/etc/passwd"
printf 'root:x:0:\nparley:x:%s:\n' $user > "$root/etc/group"
printf 'passwd: files\ngroup: files\nhosts: files dns\n' > "$root/etc/nsswitch.conf"
mkdir -p "$root/etc/parley" "$root/opt/parley" "$root/run/secrets"
