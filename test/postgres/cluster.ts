/**
 * A real PostgreSQL for tests: a separate cluster in a scratch folder, reached over loopback and a socket. `npm test`
 * starts one for all suites; a test file that is run alone starts its own. It ends with the process that started it, also
 * when that one is killed.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { guardMs } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { freePort } from '../free-port.ts'
import { findOrInstall } from '../../scripts/debian.ts'

export interface Cluster {
  readonly host: string
  readonly port: number
  /** Where `postgres`, `pg_ctl` and the like are. */
  readonly bin: string
  /** Of the server; its data are in `data`. */
  readonly folder: string
}

/** Another process has started it, or knows why there is none. */
const clusterVariable = 'PARLEY_TEST_POSTGRES'

export type ClusterResult = { readonly cluster: Cluster } | { readonly missing: string }

let started: Promise<ClusterResult> | undefined

/** The cluster of this run, or the reason why there is none. In continuous integration there must be one. */
export async function findCluster(): Promise<ClusterResult> {
  started ??= inheritedCluster() ?? startCluster()
  const found = await started
  if ('missing' in found && process.env['CI'] === 'true') throw new Error(found.missing)
  return found
}

function inheritedCluster(): Promise<ClusterResult> | undefined {
  const text = process.env[clusterVariable]
  return text === undefined ? undefined : Promise.resolve(JSON.parse(text) as ClusterResult)
}

/** For all processes that this one starts from now on. */
export async function shareCluster(): Promise<ClusterResult> {
  const found = await (started ??= inheritedCluster() ?? startCluster())
  process.env[clusterVariable] = JSON.stringify(found)
  return found
}

export interface ClusterOptions {
  /** Settings of the server, merged over the test defaults. */
  readonly settings?: Readonly<Record<string, string>>
}

export async function startCluster({ settings = {} }: ClusterOptions = {}): Promise<ClusterResult> {
  // Another version than the installed one: see scripts/postgres-versions.ts.
  const bin = process.env['PARLEY_POSTGRES_BIN'] ?? (await findOrInstall('postgres'))
  if (bin === undefined) {
    return {
      missing: 'PostgreSQL is not installed, and only root on Debian can install it here: apt-get install postgresql',
    }
  }
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'parley-pg-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const initdb = (...locale: readonly string[]): unknown =>
    execFileSync(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C', ...locale],
      { stdio: 'ignore', ...user, cwd: folder },
    )
  try {
    // Not byte order: the order of the store must not depend on the collation of the database.
    initdb('--locale-provider=icu', '--icu-locale=en-US')
  } catch {
    initdb()
  }
  const port = await freePort()
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    max_connections: '300',
    shared_buffers: '64MB',
    max_wal_size: '512MB',
    log_min_messages: 'fatal',
    ...settings,
  }
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  startGuarded(folder, join(bin, 'postgres'), '-D', data, ...args)
  const cluster: Cluster = { host: '127.0.0.1', port, bin, folder }
  await waitForServer(cluster)
  return { cluster }
}

/** Restarts the server whenever it exits, unless a marker file exists; exits when its standard input ends. */
const guardScript = `
(
  while [ ! -e "$FOLDER/stop" ]; do
    if [ -e "$FOLDER/down" ]; then sleep 0.05; else "$@" & echo $! >"$FOLDER/pid"; wait $!; sleep 0.05; fi
  done
) &
cat >/dev/null
touch "$FOLDER/stop"
server=$(cat "$FOLDER/pid")
kill -QUIT "$server"
# Not every program ends by that.
(sleep 2; kill -KILL "$server") 2>/dev/null &
wait
cd /
rm -rf "$FOLDER"`

/**
 * Runs a server that ends, and whose folder is removed, with this process. Its guard reads from a pipe that is held open here,
 * so it notices however this process ends.
 */
export function startGuarded(folder: string, program: string, ...args: readonly string[]): void {
  const guard = spawn('/bin/sh', ['-c', guardScript, 'sh', program, ...args], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    env: { FOLDER: folder, PATH: process.env['PATH'], LC_ALL: 'C' },
    cwd: folder,
    ...serverUser(),
  })
  guard.unref()
  ;(guard.stdin as unknown as { unref(): void }).unref()
}

/** `immediate` is a crash: the server recovers from its log when it starts. It stays down until `startServer`. */
export function stopServer({ folder }: Cluster, how: 'fast' | 'immediate'): void {
  writeFileSync(join(folder, 'down'), '')
  process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), how === 'fast' ? 'SIGINT' : 'SIGQUIT')
}

export async function startServer(cluster: Cluster): Promise<void> {
  rmSync(join(cluster.folder, 'down'), { force: true })
  await waitForServer(cluster)
}

/** PostgreSQL and PgBouncer refuse to run as root. */
export function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  const entry = ['postgres', 'nobody'].flatMap((name) => users.filter((line) => line.startsWith(`${name}:`)))[0]
  const [, , uid, gid] = entry?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Resolves once the server accepts connections. */
export async function waitForServer(cluster: Cluster, withinMs = guardMs): Promise<void> {
  const giveUpAt = Date.now() + withinMs
  for (;;) {
    const client = new pg.Client({ ...clientOptions(cluster, 'postgres'), connectionTimeoutMillis: 1_000 })
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      if (Date.now() > giveUpAt) throw error
      await sleep(20)
    }
  }
}

export function clientOptions({ host, port }: Cluster, database: string) {
  return { host, port, user: 'postgres', database }
}

export function urlOf({ host, port }: Cluster, database: string): string {
  return `postgres://postgres@${host}:${port}/${database}`
}

/** One statement as the superuser, outside of any test's database. */
export async function administer(cluster: Cluster, sql: string, database = 'postgres'): Promise<readonly unknown[]> {
  const client = new pg.Client(clientOptions(cluster, database))
  await client.connect()
  try {
    return (await client.query(sql)).rows as unknown[]
  } finally {
    await client.end()
  }
}
