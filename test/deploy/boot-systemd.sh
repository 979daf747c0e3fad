#!/bin/sh
# boot-systemd.sh <folder> <node> <bundle>: boots systemd as process 1 of new namespaces, over this system as it is, which it sees but
# does not change. It starts nothing. /run/install has what an operator downloads. Needs root. systemd-machine.ts runs it.
set -eu

folder=$1 node=$2 bundle=$3
if [ "${4:-}" != inside ]; then
  # A control group of its own in each hierarchy, which becomes the root of the new namespace: systemd moves processes around.
  while IFS=: read -r _ controllers path; do
    case $controllers in
      '') place=/sys/fs/cgroup/unified; [ -d $place ] || place=/sys/fs/cgroup ;;
      name=*) place=/sys/fs/cgroup/${controllers#name=} ;;
      cpuset) continue ;;
      *) place=/sys/fs/cgroup/$controllers ;;
    esac
    group=$place$path/$(basename "$folder")
    mkdir -p "$group" && echo $$ > "$group/cgroup.procs" && echo "$group" >> "$folder/cgroups"
  done < /proc/self/cgroup
  exec unshare --mount --pid --fork --cgroup --uts --ipc --kill-child sh "$0" "$folder" "$node" "$bundle" inside
fi

mount --make-rprivate /
mount -t tmpfs tmpfs "$folder/machine"
mkdir "$folder/machine/upper" "$folder/machine/work" "$folder/machine/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/machine/upper,workdir=$folder/machine/work" "$folder/machine/root"
cd "$folder/machine/root"
mount -t proc proc proc
mount --rbind /dev dev
mount --bind /dev/null dev/console
mount -t sysfs -o ro sysfs sys
if [ -d /sys/fs/cgroup/unified ]; then
  mount -t tmpfs tmpfs sys/fs/cgroup
  mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
else
  mount -t cgroup2 cgroup2 sys/fs/cgroup
fi
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs tmpfs etc/systemd/system
mkdir -p opt/parley run/machine run/install/deploy/systemd etc/systemd/system/parley.service.d
cp "$folder"/units/* run/install/deploy/systemd/
# There is no journal inside.
printf '[Service]\nStandardOutput=append:/run/machine/log\nStandardError=append:/run/machine/log\n' \
  > etc/systemd/system/parley.service.d/output.conf
mount --bind "$bundle" opt/parley
mount --bind "$folder/out" run/machine
touch usr/local/bin/node
mount --bind "$node" usr/local/bin/node
printf '#!/usr/local/bin/node\nimport("/opt/parley/parley.js")\n' > run/install/parley
# Nothing of this system starts.
for target in sysinit basic network-online shutdown machine; do
  printf '[Unit]\nDefaultDependencies=no\n' > etc/systemd/system/$target.target
done
mkdir old
# A program in a chroot cannot have a user namespace, which PrivateUsers= needs.
pivot_root . old
umount -l old
# As systemd itself does on a machine: the mounts that contain the credentials of a service reach it by propagation.
mount --make-rshared /
exec env -i container=parley PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --system --unit=machine.target --log-target=null --show-status=no
