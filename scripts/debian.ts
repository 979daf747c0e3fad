/** Finds programs of Debian packages that some suites need, and installs them where that is possible: as root, on Debian. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface DebianProgram {
  readonly package: string
  /** Where Debian keeps it, newest last. */
  readonly places: readonly string[]
}

const programs = {
  postgres: { package: 'postgresql', places: ['/usr/lib/postgresql/*/bin/postgres'] },
  pgbouncer: { package: 'pgbouncer', places: ['/usr/sbin/pgbouncer'] },
  'chromium-headless-shell': { package: 'chromium-headless-shell', places: ['/usr/bin/chromium-headless-shell'] },
  curl: { package: 'curl', places: ['/usr/bin/curl'] },
  nginx: { package: 'nginx-light', places: ['/usr/sbin/nginx'] },
  tmux: { package: 'tmux', places: ['/usr/bin/tmux'] },
  caddy: { package: 'caddy', places: ['/usr/bin/caddy'] },
  promtool: { package: 'prometheus', places: ['/usr/bin/promtool'] },
  buildah: { package: 'buildah', places: ['/usr/bin/buildah'] },
  runc: { package: 'runc', places: ['/usr/sbin/runc', '/usr/bin/runc'] },
  'systemd-analyze': { package: 'systemd', places: ['/usr/bin/systemd-analyze'] },
  haproxy: { package: 'haproxy', places: ['/usr/sbin/haproxy'] },
  chromium: { package: 'chromium', places: ['/usr/bin/chromium'] },
} as const satisfies Readonly<Record<string, DebianProgram>>

/** The folder the program is in, or `undefined` if it is unavailable. */
export async function findOrInstall(name: keyof typeof programs): Promise<string | undefined> {
  const found = findProgram(name)
  if (found !== undefined || !canInstall()) return found
  console.log(`installing the Debian package ${programs[name].package} for the tests`)
  try {
    if (name === 'postgres' || name === 'pgbouncer') disableDefaultCluster()
    withoutServices(() => install(programs[name].package))
  } catch (error) {
    console.log(
      `could not install ${programs[name].package}: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  return findProgram(name)
}

function findProgram(name: keyof typeof programs): string | undefined {
  const inPath = (process.env['PATH'] ?? '').split(':').map((folder) => join(folder, name))
  const places = programs[name].places.flatMap((place) => globSync(place).sort(byVersion))
  // A link in the path may be isolated: `initdb` and the others are beside the program itself.
  const whole = (file: string): boolean =>
    existsSync(file) && (name !== 'postgres' || existsSync(join(dirname(file), 'initdb')))
  const file = [...places.reverse(), ...inPath].find(whole)
  return file && dirname(file)
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/etc/debian_version') && existsSync('/usr/bin/apt-get')
}

/** Without this the package creates and starts a system-wide cluster. */
function disableDefaultCluster(): void {
  const settings = '/etc/postgresql-common/createcluster.conf'
  if (existsSync(settings)) return
  mkdirSync(dirname(settings), { recursive: true })
  writeFileSync(settings, 'create_main_cluster = false\n')
}

/** Without this the packages of nginx and Caddy start a service on port 80. */
function withoutServices(run: () => void): void {
  const policy = '/usr/sbin/policy-rc.d'
  if (existsSync(policy)) return run()
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    run()
  } finally {
    rmSync(policy, { force: true })
  }
}

function install(name: string): void {
  const apt = (...args: string[]): unknown =>
    execFileSync(
      'apt-get',
      ['-qq', '-o', 'Dpkg::Options::=--force-confold', '-o', 'DPkg::Lock::Timeout=300', ...args],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
        timeout: 300_000,
      },
    )
  try {
    apt('install', '-y', '--no-install-recommends', name)
  } catch {
    apt('update')
    apt('install', '-y', '--no-install-recommends', name)
  }
}
