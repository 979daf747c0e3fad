/**
 * Keys are rotated while clients work: the master key, the signing keys and the admin key, on SQLite and on PostgreSQL with several
 * replicas. No request is refused, no task is lost, and what was signed before is valid after it.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { stringify } from 'yaml'
import { startBalancer } from '../cluster/balancer.ts'
import { checkClusterHistory } from '../cluster/check-history.ts'
import { createLoad } from '../cluster/load.ts'
import { readLogs, readLogsOf, type TaskKey } from '../cluster/logs.ts'
import { newFolder, runParley, startHub, type RunningHub } from '../hub/running-hub.ts'
import { urlOf } from '../postgres/cluster.ts'
import { openDatabase, skipReason } from '../postgres/databases.ts'
import { freePort } from '../free-port.ts'
import { startProbes } from './rotation-probes.ts'

const agents = join(import.meta.dirname, '../torture/agents.ts')
const config = stringify({
  publicUrl: 'https://hub.example.com',
  listen: { grpcPort: false },
  agents: Object.fromEntries(
    ['counter', 'fragile', 'asker'].map((name) => [name, { kind: 'module', path: agents, export: name }]),
  ),
})
const atOnce = process.env['PARLEY_FULL'] === '1' ? 16 : 4
const rotations = process.env['PARLEY_FULL'] === '1' ? 20 : 2
const newKey = (): string => randomBytes(32).toString('base64')

/** Rotates through the command line, as an operator. */
async function rotate(folder: string, url: string, key: string, ...words: readonly string[]) {
  const { code, lines } = await runParley(folder, ['key', 'rotate', ...words], {
    PARLEY_URL: url,
    PARLEY_ADMIN_KEY: key,
  })
  return { code, text: lines.join('\n'), adminKey: lines.find((line) => line.startsWith('pka_')) ?? '' }
}

describe('keys of a hub on SQLite are rotated under load', { timeout: 600_000 }, () => {
  it('without a refused request or a lost task, and the store opens with the new master key', async () => {
    const folder = await newFolder({ 'parley.yaml': config })
    const hub = await startHub(folder)
    const keyFile = join(folder, '.parley/parley.db.key')
    let adminKeys = [await hub.adminKey()]
    const load = createLoad({ url: hub.url, count: [20, 5], fragile: true })
    const loading = load.keepUp(atOnce)
    const probes = await startProbes({ url: hub.url, adminKeys: () => adminKeys })
    await probes.passes()
    for (let round = 0; round < rotations; round += 1) {
      const before = await readFile(keyFile, 'utf8')
      const [current = ''] = adminKeys
      for (const what of ['master', 'signing']) {
        const { code, text } = await rotate(folder, hub.url, current, what)
        assert.equal(code, 0, text)
        await probes.passes()
      }
      assert.notEqual(await readFile(keyFile, 'utf8'), before)
      const { code, text, adminKey } = await rotate(folder, hub.url, current, 'admin', '--overlap', '1h')
      assert.equal(code, 0, text)
      adminKeys = [adminKey, ...adminKeys]
      await probes.passes()
    }
    await loading.stop()
    await probes.stop()
    assert.deepEqual(probes.refusals.slice(0, 3), [])
    assert.deepEqual(load.retries, [])
    assert.equal((await hub.stop()).code, 0)

    const again = await startHub(folder)
    const response = await fetch(`${again.url}/admin/tasks`, { headers: { authorization: `Bearer ${adminKeys[0]}` } })
    assert.equal(response.status, 200)
    assert.equal((await again.stop()).code, 0)
    const store = sqliteStore(join(folder, '.parley/parley.db'))
    const tasks: TaskKey[] = load.sent.flatMap(({ taskId }) =>
      taskId === undefined ? [] : [{ id: taskId, context_id: '' }],
    )
    const known = [...new Map(tasks.map((task) => [task.id, task])).values()]
    const rows = await Promise.all(
      known.map(async ({ id }) => ({ id, context_id: (await store.tasks.load(id))?.contextId ?? '' })),
    )
    const logs = await readLogsOf(rows, store)
    await store.close()
    console.log(`SQLite: ${3 * rotations} rotations, ${logs.length} tasks, ${probes.answered()} other requests`)
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages: [] }), [])
  })
})

const skip = await skipReason()
describe('keys of three replicas on PostgreSQL are rotated under load', { skip, timeout: 600_000 }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const store = urlOf(database.cluster, database.name)
  const [oldMaster, newMaster] = [newKey(), newKey()]

  it('without a refused request or a lost task; a wrong order is refused with what to do', async () => {
    const ports = await Promise.all([1, 2, 3].map(() => freePort()))
    const folders = await Promise.all(ports.map(() => newFolder({ 'parley.yaml': config })))
    const hubs: RunningHub[] = []
    const start = async (index: number, env: Record<string, string>): Promise<void> => {
      hubs[index] = await startHub(folders[index] ?? '', [], {
        PORT: String(ports[index]),
        PARLEY_STORE: store,
        ...env,
      })
    }
    const restart = async (index: number, env: Record<string, string>): Promise<void> => {
      assert.equal((await hubs[index]?.stop())?.code, 0)
      await start(index, env)
    }
    await start(0, { PARLEY_MASTER_KEY: oldMaster })
    const [folder = ''] = folders
    let adminKeys = [await (hubs[0] as RunningHub).adminKey()]
    await Promise.all([1, 2].map((index) => start(index, { PARLEY_MASTER_KEY: oldMaster })))
    const urls = ports.map((port) => `http://127.0.0.1:${port}`)
    const balancer = await startBalancer(urls)
    after(() => balancer.close())
    const load = createLoad({ url: balancer.url, count: [20, 5] })
    const loading = load.keepUp(atOnce)

    const unprepared = await rotate(folder, urls[0] ?? '', adminKeys[0] ?? '', 'master')
    assert.deepEqual(
      [unprepared.code, /Set it as store\.masterKey .*previousMasterKeys/.test(unprepared.text)],
      [1, true],
    )
    const both = { PARLEY_MASTER_KEY: newMaster, PARLEY_PREVIOUS_MASTER_KEYS: oldMaster }
    await restart(0, both)
    const early = await rotate(folder, urls[0] ?? '', adminKeys[0] ?? '', 'master')
    assert.match(early.text, /^2 of 3 replicas do not have the new master key: .* Restart them with it/)
    assert.equal(early.code, 1)
    await restart(1, both)
    await restart(2, both)

    // From here on, nothing ends: every retry would be a refused request.
    const retriesBefore = load.retries.length
    const probes = await startProbes({ url: balancer.url, adminKeys: () => adminKeys })
    await probes.passes()
    const master = await rotate(folder, urls[1] ?? '', adminKeys[0] ?? '', 'master')
    assert.equal(master.code, 0, master.text)
    assert.match(master.text, /Remove store\.previousMasterKeys/)
    await probes.passes()
    for (let round = 0; round < rotations; round += 1) {
      const url = urls[round % urls.length] ?? ''
      const signing = await rotate(folder, url, adminKeys[0] ?? '', 'signing')
      assert.equal(signing.code, 0, signing.text)
      await probes.passes()
      const admin = await rotate(folder, url, adminKeys[0] ?? '', 'admin')
      assert.equal(admin.code, 0, admin.text)
      adminKeys = [admin.adminKey, ...adminKeys]
      await probes.passes()
    }
    await probes.stop()
    assert.deepEqual(probes.refusals.slice(0, 3), [])
    assert.deepEqual(load.retries.slice(retriesBefore), [])

    for (const index of ports.keys()) await restart(index, { PARLEY_MASTER_KEY: newMaster })
    await loading.stop()
    const logs = await readLogs(database, database.open())
    console.log(`PostgreSQL: ${1 + 2 * rotations} rotations, ${logs.length} tasks, ${probes.answered()} other requests`)
    assert.deepEqual(checkClusterHistory({ streams: load.streams, sent: load.sent, logs, outages: [] }), [])

    const old = await runParley(folder, ['up'], { PORT: '0', PARLEY_STORE: store, PARLEY_MASTER_KEY: oldMaster })
    assert.equal(old.code, 1)
    assert.match(old.lines.join('\n'), /^masterKey: The key \S+ in the store was wrapped by a different master key/)
    for (const hub of hubs) assert.equal((await hub.stop()).code, 0)
  })
})
