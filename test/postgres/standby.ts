/**
 * A second server that follows the first one by streaming replication, and takes its place when that one is lost. Real ones:
 * a base backup, a walreceiver, a promotion.
 */
import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import { freePort } from '../free-port.ts'
import { administer, waitForServer, findCluster, serverUser, startGuarded } from './cluster.ts'
import type { Cluster } from './cluster.ts'

/** Why it is unavailable, for `{ skip }`; `false` if it is available. Some builds of the server come without the program that copies it. */
export async function standbySkipReason(): Promise<string | false> {
  const found = await findCluster()
  if ('missing' in found) return found.missing
  return existsSync(join(found.cluster.bin, 'pg_basebackup')) ? false : 'this PostgreSQL comes without pg_basebackup'
}

/** Whether a commit waits until the standby has flushed it to disk. */
export type Replication = 'synchronous' | 'asynchronous'

/** `way` is the address of a proxy to the primary, if there is one. */
export async function startStandby(primary: Cluster, how: Replication, way = primary.port): Promise<Cluster> {
  const { bin, host } = primary
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'parley-standby-'))
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const name = 'standby'
  const from = `host=${host} port=${way} user=postgres application_name=${name}`
  const options = [
    '-d',
    from,
    '-D',
    data,
    '--write-recovery-conf',
    '--wal-method=stream',
    '--checkpoint=fast',
    '--no-sync',
  ]
  await promisify(execFile)(join(bin, 'pg_basebackup'), options, { ...user, cwd: folder })
  const port = await freePort()
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    // Not less than the primary has: a standby refuses to start otherwise.
    max_connections: '300',
    shared_buffers: '64MB',
    log_min_messages: 'fatal',
    wal_receiver_status_interval: '1',
  }
  const args = Object.entries(settings).flatMap(([setting, value]) => ['-c', `${setting}=${value}`])
  startGuarded(folder, join(bin, 'postgres'), '-D', data, ...args)
  const standby: Cluster = { host, port, bin, folder }
  await waitForServer(standby)
  if (how === 'synchronous') {
    await administer(primary, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await administer(primary, 'SELECT pg_reload_conf()')
  }
  await eventually(async () => {
    const [row] = await administer(primary, `SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'`)
    return (row as { sync_state: string } | undefined)?.sync_state === (how === 'synchronous' ? 'sync' : 'async')
  })
  return standby
}

/** Like a power loss: no process of the server writes anything more. It stays down. */
export function killServer({ folder }: Cluster): void {
  writeFileSync(join(folder, 'down'), '')
  const postmaster = Number(readFileSync(join(folder, 'pid'), 'utf8'))
  // All of them: an orphaned process would still finish its work.
  for (const pid of [postmaster, ...childrenOf(postmaster)]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has exited since it was listed.
    }
  }
}

/** From now on it accepts writes. */
export async function promote(standby: Cluster): Promise<void> {
  await administer(standby, 'SELECT pg_promote(true, 30)')
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
}

/** The name of a program may hold anything, also brackets and spaces: the numbers come after the last bracket. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined
  }
}
