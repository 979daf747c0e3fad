/**
 * The pair of PostgreSQL servers. A file says which of them is the primary: the script decides, and no server decides for itself. So
 * a former primary that starts again never takes writes.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPostgresServer } from './postgres-server.ts'
import type { PostgresServer } from './postgres-server.ts'
import { otherServer, serverNames } from './settings.ts'
import type { HaSettings, ServerName } from './settings.ts'
import type { Supervisor } from './supervisor.ts'

export interface DatabaseState {
  readonly primary: ServerName
  /**
   * Whether the other server has everything that the primary acknowledges. Only then may it become the primary. `false` from a
   * failover until the former primary follows again.
   */
  readonly isSynchronous: boolean
  /** Whether the other server is a former primary, with data that the primary may not have. */
  readonly hasStale: boolean
}

export interface HaDatabase {
  readonly state: DatabaseState
  readonly servers: Readonly<Record<ServerName, PostgresServer>>
  start(): Promise<void>
  stop(): Promise<void>
  failover(isForced: boolean): Promise<string>
  rejoin(): Promise<string>
}

export function createDatabase(
  settings: HaSettings,
  supervisor: Supervisor,
  report: (line: string) => void,
): HaDatabase {
  const [pg1, pg2] = serverNames.map((name) => createPostgresServer(settings, supervisor, name))
  const servers = { pg1, pg2 } as Readonly<Record<ServerName, PostgresServer>>
  const file = join(settings.data, 'database.json')
  const initial: DatabaseState = { primary: 'pg1', isSynchronous: false, hasStale: false }
  let state = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DatabaseState) : initial

  function setState(change: Partial<DatabaseState>): void {
    state = { ...state, ...change }
    writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`)
    renameSync(`${file}.new`, file)
  }

  const primary = (): PostgresServer => servers[state.primary]
  const standby = (): PostgresServer => servers[otherServer(state.primary)]

  /** An empty primary beside a standby with all data would make the standby useless. */
  function lostPrimary(): string {
    const lost: DatabaseState = { primary: standby().name, isSynchronous: false, hasStale: true }
    return `${primary().name} has lost its data, and ${standby().name} has some. To promote ${standby().name}, write ${JSON.stringify(lost)} to ${file}`
  }

  /** From now on a commit waits for the standby. */
  async function followSynchronously(withinSeconds = 60): Promise<void> {
    const { name } = standby()
    const rowOf = (column: string): Promise<string> =>
      primary().query(`SELECT ${column} FROM pg_stat_replication WHERE application_name = '${name}'`)
    // A server whose log has diverged streams the part before the fork, over and over: only one that has the end follows.
    let end = await primary().query('SELECT pg_current_wal_lsn()')
    const hasEnd = async (): Promise<boolean> => (await rowOf(`state = 'streaming' AND flush_lsn >= '${end}'`)) === 't'
    await waitFor(hasEnd, withinSeconds, `${name} to follow ${state.primary}`)
    await primary().query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await primary().query('SELECT pg_reload_conf()')
    await waitFor(async () => (await rowOf('sync_state')) === 'sync', 60, `${name} to follow synchronously`)
    // Commits until now did not wait, and were acknowledged: the standby has them before it may become the primary. The checkpointer
    // lets commits wait; after a checkpoint it has read the setting.
    await primary().query('CHECKPOINT')
    end = await primary().query('SELECT pg_current_wal_lsn()')
    await waitFor(hasEnd, 60, `${name} to receive what was written before`)
    setState({ isSynchronous: true, hasStale: false })
  }

  /** Without a copy if possible: a large database takes long to copy. */
  async function rewindOrRebuild(node: PostgresServer): Promise<'rewound' | 'rebuilt'> {
    try {
      report(await node.rewindTo(primary()))
      await node.start('standby')
      await followSynchronously(30)
      return 'rewound'
    } catch (error) {
      report((error as Error).message)
      await node.stop()
      await node.copyFrom(primary())
      await node.start('standby')
      await followSynchronously()
      return 'rebuilt'
    }
  }

  return {
    get state() {
      return state
    },
    servers,
    async start() {
      if (!primary().exists && standby().exists) throw new Error(lostPrimary())
      if (!primary().exists) await primary().initialize()
      setState({})
      await primary().start('primary')
      // A failover that was interrupted after its decision.
      if ((await primary().query('SELECT pg_is_in_recovery()')) === 't') await primary().promote()
      await createRoles(primary(), settings)
      if (state.hasStale) return
      if (!standby().exists) await standby().copyFrom(primary())
      await standby().start('standby')
      await followSynchronously()
    },
    async stop() {
      // The standby receives what the primary writes at its end.
      await primary().stop()
      await standby().stop()
    },
    async failover(isForced) {
      const [former, next] = [primary(), standby()]
      if (!state.isSynchronous && !isForced) {
        throw new Error(
          `${next.name} may lack acknowledged data. Run \`rejoin\` first, or \`failover --force\` if ${former.name} is lost.`,
        )
      }
      if ((await next.query('SELECT pg_is_in_recovery()')) !== 't') throw new Error(`${next.name} is not a standby`)
      // Before the promotion: there are never two primaries.
      await former.stop()
      setState({ primary: next.name, isSynchronous: false, hasStale: true })
      await next.promote()
      return `${next.name} is the primary. Commits are on one disk until you run \`rejoin\`, which makes ${former.name} its standby.`
    },
    async rejoin() {
      const node = standby()
      if (state.isSynchronous) return `${node.name} follows ${state.primary} synchronously already.`
      await node.stop()
      const how = await rewindOrRebuild(node)
      return `${node.name} was ${how} and follows ${state.primary} synchronously.`
    },
  }
}

/**
 * While commits wait for a standby, the hubs give up and connect again, and their former sessions stay. Without a limit of their role
 * they would take all connections, and you could not log in to end the wait.
 */
async function createRoles(server: PostgresServer, { secrets }: HaSettings): Promise<void> {
  await server.query(`
    DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'parley') THEN
        CREATE ROLE parley LOGIN CONNECTION LIMIT 60 PASSWORD '${secrets.hubPassword}';
        CREATE ROLE replicator LOGIN REPLICATION PASSWORD '${secrets.replicationPassword}';
        CREATE ROLE parley_check LOGIN;
      END IF;
    END $$`)
  const hasDatabase = await server.query("SELECT 1 FROM pg_database WHERE datname = 'parley'")
  if (hasDatabase === '') await server.query('CREATE DATABASE parley OWNER parley')
}

async function waitFor(holds: () => Promise<boolean>, withinSeconds: number, what: string): Promise<void> {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries >= withinSeconds * 10) throw new Error(`waited ${withinSeconds} s for ${what}`)
    await sleep(100)
  }
}
