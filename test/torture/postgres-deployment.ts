/** Three hubs on one PostgreSQL behind a balancer. Each hub has its own proxied connection to the database, and clients have one to the balancer. */
import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { postgresReader } from '@parley/a2a/stores/dump'
import { postgresStore } from '@parley/a2a/stores/postgres'
import { startBalancer } from '../cluster/balancer.ts'
import { openTcpProxy } from '../cluster/tcp-proxy.ts'
import type { TcpProxy } from '../cluster/tcp-proxy.ts'
import { readLogsOf } from '../cluster/logs.ts'
import type { TaskKey } from '../cluster/logs.ts'
import { readRestoredLogs, runParley } from '../operations/run-parley.ts'
import { administer, clientOptions, startCluster, startServer, stopServer } from '../postgres/cluster.ts'
import { cloneDatabase, masterKey } from '../postgres/databases.ts'
import { commonFaults, killFaults, pickFrom } from './faults.ts'
import { createHubProcess } from './hub-process.ts'
import type { TortureEnvironment } from './environment.ts'
import type { Fault, UnfinishedTask, Deployment } from './deployment.ts'

const replicas = 3

/** Throws with the reason where there is no PostgreSQL. */
export async function openPostgresDeployment(name: string, setting: TortureEnvironment): Promise<Deployment> {
  const found = await startCluster()
  if ('missing' in found) throw new Error(found.missing)
  const { cluster } = found
  const database = await cloneDatabase(cluster)
  const lines = await Promise.all(Array.from({ length: replicas }, () => openTcpProxy(cluster)))
  const hubs = await Promise.all(
    lines.map(({ port }, index) =>
      createHubProcess({
        name: `${name}-${index + 1}`,
        folder: setting.folder,
        config: setting.configFile,
        ledger: setting.ledger,
        env: {
          PARLEY_STORE: `postgres://postgres@127.0.0.1:${port}/${database}`,
          PARLEY_MASTER_KEY: masterKey.toString('base64'),
          PARLEY_DATA: join(setting.folder, `data-${index + 1}`),
        },
      }),
    ),
  )
  const starts = await Promise.allSettled(hubs.map((hub) => hub.start()))
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed !== undefined) {
    await closeHubs()
    throw failed.reason
  }
  const balancer = await startBalancer(hubs.map(({ url }) => url))
  const line = await openTcpProxy({ host: '127.0.0.1', port: Number(new URL(balancer.url).port) })
  const pool = new pg.Pool({ ...clientOptions(cluster, database), max: 8 })
  // A crash of the server is one of the faults.
  pool.on('error', () => {})
  const store = postgresStore({ pool, masterKey })
  let kills = 0
  let copies = 0

  const faults: Fault[] = []
  const world: Deployment = {
    name,
    folder: setting.folder,
    url: `http://127.0.0.1:${line.port}`,
    directUrl: balancer.url,
    hubs,
    clientProxy: line,
    get kills() {
      return kills
    },
    faults,
    async kill(hub) {
      kills += 1
      await hub.kill()
    },
    unfinished: () => rowsOf<UnfinishedTask>(pool, 'SELECT id, agent FROM parley.tasks WHERE NOT finished'),
    async readLogs(known) {
      const rows = await rowsOf<TaskKey>(pool, 'SELECT id, context_id FROM parley.tasks')
      return readLogsOf(
        rows.filter(({ id }) => !known.has(id)),
        store,
      )
    },
    /** Restored into PostgreSQL and into SQLite in turns. */
    async backup(taskIds) {
      copies += 1
      const backup = join(setting.folder, `backup-${copies}`)
      const urlOf = (name: string): string => `postgres://postgres@${cluster.host}:${cluster.port}/${name}`
      await runParley('backup', '--store', urlOf(database), backup)
      if (copies % 2 === 0) {
        const restored = join(setting.folder, `restored-${copies}`)
        await runParley('restore', '--data', restored, backup)
        const logs = await readRestoredLogs(restored, taskIds)
        for (const path of [backup, restored]) rmSync(path, { recursive: true, force: true })
        return logs
      }
      const copy = `backup_${randomBytes(6).toString('hex')}`
      await administer(cluster, `CREATE DATABASE ${copy}`)
      await runParley('restore', '--store', urlOf(copy), backup)
      rmSync(backup)
      const copied = new pg.Pool({ ...clientOptions(cluster, copy), max: 4 })
      const restored = postgresStore({ pool: copied, masterKey, endPool: true })
      try {
        const wanted = new Set(taskIds)
        const rows = await rowsOf<TaskKey>(copied, 'SELECT id, context_id FROM parley.tasks')
        return await readLogsOf(
          rows.filter(({ id }) => wanted.has(id)),
          restored,
        )
      } finally {
        await restored.close()
        await administer(cluster, `DROP DATABASE ${copy}`)
      }
    },
    reader: () => postgresReader({ connect: () => new pg.Client(clientOptions(cluster, database)) }),
    async close() {
      await store.close().catch(() => {})
      await pool.end()
      await line.close()
      await balancer.close()
      await closeHubs()
    },
  }
  faults.push(...killFaults(world), ...commonFaults(world, setting), ...databaseFaults())
  return world

  async function closeHubs(): Promise<void> {
    await Promise.all(hubs.map((hub) => hub.kill()))
    await Promise.all(lines.map((one) => one.close()))
    stopServer(cluster, 'immediate')
  }

  function databaseFaults(): readonly Fault[] {
    const restart = (kind: string, how: 'fast' | 'immediate'): Fault => ({
      kind,
      share: 2,
      failsStore: true,
      async inject(random) {
        stopServer(cluster, how)
        await sleep(random() * 3_000)
        await startServer(cluster)
      },
    })
    const broken = (kind: string, state: 'cut' | 'silent', maxMs: number): Fault => ({
      kind,
      share: 3,
      failsStore: true,
      async inject(random) {
        const one: TcpProxy = pickFrom(lines, random)
        one.set(state)
        await sleep(random() * maxMs)
        one.set('open')
      },
    })
    return [
      restart('database crash', 'immediate'),
      restart('database restart', 'fast'),
      broken('database cut off', 'cut', 4_000),
      broken('database black-holed', 'silent', 15_000),
    ]
  }
}

async function rowsOf<Row>(pool: pg.Pool, sql: string): Promise<readonly Row[]> {
  return (await pool.query(sql)).rows as Row[]
}
