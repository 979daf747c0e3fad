/** One hub on SQLite, on a disk of its own that can be full. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqliteReader } from '@parley/a2a/stores/dump'
import type { LogRecord } from '../../packages/a2a/src/model/record.ts'
import type { TaskLog } from '../cluster/check-history.ts'
import { openTcpProxy } from '../cluster/tcp-proxy.ts'
import type { TaskKey } from '../cluster/logs.ts'
import { readRestoredLogs, runParley } from '../operations/run-parley.ts'
import { commonFaults, killFaults, proxyFaults } from './faults.ts'
import { createHubProcess } from './hub-process.ts'
import type { TortureEnvironment } from './environment.ts'
import type { Fault, UnfinishedTask, Deployment } from './deployment.ts'

/** Of the disk, in bytes. */
const diskBytes = 3_000_000_000

/** Its hub is never killed, stopped or reloaded: what it needs is measured. */
export function openSteadyDeployment(name: string, setting: TortureEnvironment): Promise<Deployment> {
  return openDeployment(name, setting, (world) => [...proxyFaults(world), pause])
}

const pause: Fault = { kind: 'pause', share: 40, inject: (random) => sleep(random() * 3_000) }

export function openSqliteDeployment(name: string, setting: TortureEnvironment): Promise<Deployment> {
  return openDeployment(name, setting, (world, diskFaults) => [
    ...killFaults(world),
    ...commonFaults(world, setting),
    ...diskFaults,
  ])
}

type FaultsOf = (world: Deployment, diskFaults: readonly Fault[]) => readonly Fault[]

async function openDeployment(name: string, setting: TortureEnvironment, faultsOf: FaultsOf): Promise<Deployment> {
  const { folder, configFile, ledger } = setting
  const data = join(folder, 'data')
  const disk = mountDisk(data)
  const file = join(data, 'parley.db')
  const hub = await createHubProcess({ name, folder, config: configFile, ledger, env: { PARLEY_DATA: data } })
  await hub.start()
  const line = await openTcpProxy({ host: '127.0.0.1', port: hub.port })
  let kills = 0
  let copies = 0

  /** Read-only: a reader that may write would checkpoint the WAL of a hub that was just killed. */
  function reading<T>(read: (database: DatabaseSync) => T): T {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 30_000 })
    try {
      return read(database)
    } finally {
      database.close()
    }
  }

  const fullDisk: Fault = {
    kind: disk === undefined ? 'disk full (no page left)' : 'disk full',
    share: 2,
    failsStore: true,
    async inject(random) {
      if (disk === undefined) hub.limitPages(true)
      else disk.fill()
      await sleep(500 + random() * 1_500)
      if (disk === undefined) hub.limitPages(false)
      else disk.free()
    },
  }
  const slowDisk: Fault = {
    kind: 'slow disk',
    share: 2,
    async inject(random) {
      hub.slowDisk(20 + random() * 400)
      await sleep(1_000 + random() * 2_000)
      hub.slowDisk(0)
    },
  }

  const faults: Fault[] = []
  const world: Deployment = {
    name,
    folder,
    url: `http://127.0.0.1:${line.port}`,
    directUrl: hub.url,
    hubs: [hub],
    clientProxy: line,
    get kills() {
      return kills
    },
    faults,
    async kill(one) {
      kills += 1
      await one.kill()
    },
    unfinished: async () =>
      reading((database) =>
        database.prepare('SELECT id, agent FROM tasks WHERE finished = 0').all(),
      ) as unknown as readonly UnfinishedTask[],
    readLogs: async (known) => reading((database) => logsIn(database, known)),
    async backup(taskIds) {
      copies += 1
      const backup = join(folder, `backup-${copies}`)
      const restored = join(folder, `restored-${copies}`)
      await runParley('backup', '--data', data, backup)
      await runParley('restore', '--data', restored, backup)
      try {
        return await readRestoredLogs(restored, taskIds)
      } finally {
        for (const path of [backup, restored]) rmSync(path, { recursive: true, force: true })
      }
    },
    reader: () => sqliteReader(file),
    async close() {
      await hub.kill()
      await line.close()
      disk?.unmount()
    },
  }
  faults.push(...faultsOf(world, [fullDisk, slowDisk]))
  return world
}

function logsIn(database: DatabaseSync, known: ReadonlyMap<string, unknown>): readonly TaskLog[] {
  const tasks = database.prepare('SELECT ref, id, context_id FROM tasks')
  const batches = database.prepare('SELECT first_seq, records FROM log WHERE task = ? ORDER BY first_seq')
  return tasks.all().flatMap((row) => {
    const { ref, id, context_id: contextId } = row as unknown as TaskKey & { readonly ref: number }
    if (known.has(id)) return []
    const records = batches.all(ref).flatMap((batch) => {
      const { first_seq: first, records: text } = batch as { first_seq: number; records: string }
      return (JSON.parse(text) as Omit<LogRecord, 'seq'>[]).map((record, index) => ({ seq: first + index, ...record }))
    })
    return [{ taskId: id, contextId, records }]
  })
}

interface Disk {
  /** Fills the disk up to its current content. */
  fill(): void
  free(): void
  unmount(): void
}

/** A disk in memory, if this process may mount one. */
function mountDisk(folder: string): Disk | undefined {
  mkdirSync(folder, { mode: 0o700 })
  const mount = (...args: readonly string[]): unknown => execFileSync('mount', args, { stdio: 'ignore' })
  const remount = (bytes: number): unknown => mount('-o', `remount,size=${bytes}`, folder)
  try {
    mount('-t', 'tmpfs', '-o', `size=${diskBytes},mode=0700`, 'tmpfs', folder)
  } catch {
    return undefined
  }
  const unmount = (): void => {
    process.off('exit', unmount)
    execFileSync('umount', ['-l', folder], { stdio: 'ignore' })
  }
  process.once('exit', unmount)
  return {
    fill() {
      // The hub keeps writing: the space that was free may be used by now, and then the system refuses so small a disk.
      for (let tries = 1; ; tries += 1) {
        const { blocks, bfree, bsize } = statfsSync(folder)
        try {
          remount(Math.max(1, (blocks - bfree) * bsize))
          return
        } catch (reason) {
          if (tries === 100) throw reason
        }
      }
    },
    free: () => void remount(diskBytes),
    unmount,
  }
}
