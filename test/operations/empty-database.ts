/** A database without any schema of Parley, as an operator creates it. It is removed with the cluster. */
import { randomBytes } from 'node:crypto'
import { administer, findCluster } from '../postgres/cluster.ts'

/** Returns its URL. Throws where there is no PostgreSQL. */
export async function createEmptyDatabase(): Promise<string> {
  const found = await findCluster()
  if ('missing' in found) throw new Error(found.missing)
  const { cluster } = found
  const name = `empty_${randomBytes(6).toString('hex')}`
  await administer(cluster, `CREATE DATABASE ${name}`)
  return `postgres://postgres@${cluster.host}:${cluster.port}/${name}`
}
