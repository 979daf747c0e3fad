/**
 * Behind PgBouncer in transaction mode, where each statement may use another connection: the whole contract, and replicas
 * that notify each other over direct connections.
 */
import assert from 'node:assert/strict'
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import pg from 'pg'
import { storeContract } from '@parley/a2a/testing'
import { assertAppended, chunks, createTask } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import type { Cluster } from './cluster.ts'
import { freePort } from '../free-port.ts'
import { waitForServer, serverUser, startGuarded } from './cluster.ts'
import { openDatabase, skipReason } from './databases.ts'
import { findOrInstall } from '../../scripts/debian.ts'

/** Two connections to the server for all clients: each client uses both. */
async function startPooler(bin: string, cluster: Cluster): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-pgbouncer-'))
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=${cluster.host} port=${cluster.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
server_round_robin = 1
ignore_startup_parameters = extra_float_digits
`,
  )
  const user = serverUser()
  if (user !== undefined) for (const path of [folder, settings]) chownSync(path, user.uid, user.gid)
  startGuarded(folder, join(bin, 'pgbouncer'), '-q', settings)
  const pooler = { ...cluster, port }
  await waitForServer(pooler)
  return pooler
}

const noDatabase = await skipReason()
const bin = noDatabase === false ? await findOrInstall('pgbouncer') : undefined
if (bin === undefined && process.env['CI'] === 'true') throw new Error('PgBouncer is not installed and cannot be')
const skip =
  noDatabase !== false
    ? noDatabase
    : bin === undefined
      ? 'PgBouncer is not installed: apt-get install pgbouncer'
      : false

if (skip !== false || bin === undefined) describe('postgresStore behind PgBouncer', { skip })
else {
  const database = await openDatabase()
  const { port } = await startPooler(bin, database.cluster)
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: database.name, max: 8 })
  after(() => pool.end())
  const open = (more = {}) => database.open({ pool, unnamedStatements: true, ...more })
  let schemas = 0

  storeContract('postgresStore behind PgBouncer', async () => {
    const schema = `contract${(schemas += 1)}`
    let time = Date.UTC(2030, 0, 1)
    const reopened = () => open({ schema, now: () => time })
    let store = reopened()
    return {
      store,
      clock: { now: () => time, advance: (ms) => void (time += ms) },
      reopen: async () => {
        await store.close()
        store = reopened()
        return store
      },
      dispose: () => store.close(),
    }
  })

  describe('replicas behind PgBouncer', () => {
    it('notify each other over separate connections', async () => {
      const listen = () => database.client()
      const [here, there] = [open({ listen, pollMs: 600_000 }), open({ listen, pollMs: 600_000 })]
      const task = await createTask(here)
      await there.tasks.read(task.id, 0)
      let head = 1
      for (let round = 0; round < 20; round += 1) {
        const changed = there.tasks.changed(task.id, head, new AbortController().signal)
        ;({ head } = await assertAppended(here, task.id, { expectedSeq: head, records: chunks(`${round}`) }))
        await changed
      }
      assert.equal((await there.tasks.read(task.id, 0)).length, 21)
    })
  })
}
