/** A PostgreSQL server and an empty database on it, for as long as the benchmark runs. */
import { administer, findCluster, urlOf } from '../../test/postgres/cluster.ts'

export interface BenchDatabase {
  readonly url: string
  /** Connections of clients to it, and statements that it has committed so far: each of the store's is one. */
  load(): Promise<{ readonly connections: number; readonly statements: number }>
  drop(): Promise<void>
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
    drop: async () => void (await administer(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
  }
}
