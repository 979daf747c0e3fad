/** A PostgreSQL server and an empty database on it, for as long as the benchmark runs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { administer, findCluster, urlOf } from '../../test/postgres/cluster.ts'

export interface BenchDatabase {
  readonly url: string
  /** Connections of clients to it, and statements that it has committed so far: each of the store's is one. */
  load(): Promise<{ readonly connections: number; readonly statements: number }>
  /** The CPU time of all processes of the server so far; `undefined` where `/proc` does not tell. */
  cpuMicros(): number | undefined
  drop(): Promise<void>
}

/** The unit of times in `/proc`. */
const microsPerTick = 10_000

/** User and system time of the server and its processes, also of those that have ended. */
function cpuMicrosOf(serverPid: number): number | undefined {
  let ticks: number | undefined
  try {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      let stat: string
      try {
        stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      } catch {
        // It has ended meanwhile.
        continue
      }
      // The name before the last parenthesis may contain spaces.
      const [, parent, , , , , , , , , , user, system, endedUser, endedSystem] = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      const own = (user ?? 0) + (system ?? 0)
      if (Number(pid) === serverPid) ticks = (ticks ?? 0) + own + (endedUser ?? 0) + (endedSystem ?? 0)
      else if (parent === serverPid) ticks = (ticks ?? 0) + own
    }
  } catch {
    return undefined
  }
  return ticks === undefined ? undefined : ticks * microsPerTick
}

let created = 0

export async function findDatabase(): Promise<BenchDatabase | { readonly missing: string }> {
  const found = await findCluster()
  if ('missing' in found) return found
  const { cluster } = found
  const name = `bench_${Date.now()}_${++created}`
  await administer(cluster, `CREATE DATABASE ${name}`)
  return {
    url: urlOf(cluster, name),
    async load() {
      // Asked from another database, so that the question is not counted.
      const [row] = (await administer(
        cluster,
        `SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = '${name}')::int AS connections,
          (SELECT xact_commit FROM pg_stat_database WHERE datname = '${name}')::int AS statements`,
      )) as { connections: number; statements: number }[]
      return row ?? { connections: Number.NaN, statements: Number.NaN }
    },
    cpuMicros: () => cpuMicrosOf(Number(readFileSync(join(cluster.folder, 'pid'), 'utf8'))),
    drop: async () => void (await administer(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  }
}
