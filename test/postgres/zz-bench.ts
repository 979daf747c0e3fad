import pg from 'pg'
import { mkdtempSync } from 'node:fs'
import { startCluster, clientOptions, administer } from './cluster.ts'
import { postgresStore } from '../../packages/a2a/src/stores/postgres/index.ts'
import { sqliteStore } from '../../packages/a2a/src/stores/sqlite/index.ts'
import { newTask, chunks, statusOf, record } from '../../packages/a2a/src/testing/store-contract/harness.ts'
import type { Store } from '../../packages/a2a/src/stores/store.ts'
const kind = process.argv[2] ?? 'pg'
const writers = Number(process.argv[3] ?? 64)
let store: Store
if (kind === 'sqlite') store = sqliteStore(mkdtempSync('/tmp/pgstore/') + '/t.db')
else {
  const found = await startCluster()
  if ('missing' in found) throw new Error()
  await administer(found.cluster, 'CREATE DATABASE bench')
  const o = clientOptions(found.cluster, 'bench')
  const pool = new pg.Pool({ ...o, max: 8 })
  store = postgresStore({ pool, masterKey: new Uint8Array(32), listen: () => new pg.Client(o), unnamedStatements: kind === 'unnamed' })
}
await store.listKeys()
const text = 'x'.repeat(150)
async function appends(ms: number) {
  const end = Date.now() + ms; let n = 0
  await Promise.all(Array.from({ length: writers }, async () => {
    const task = newTask(); let head = 1
    const made = await store.append(task.id, { expectedSeq: 0, create: task, records: chunks('a'), take: { holder: 'h', ttlMs: 60_000 } })
    const fence = (made as { fence: number }).fence
    while (Date.now() < end) { const r = await store.append(task.id, { expectedSeq: head, fence, records: chunks(text) }); head = (r as { head: number }).head; n += 1 }
  }))
  return n / ms * 1000
}
async function tasks(ms: number) {
  const end = Date.now() + ms; let n = 0
  await Promise.all(Array.from({ length: writers }, async () => {
    while (Date.now() < end) {
      const task = newTask({ due: { kind: 'turn', at: Date.now() + 60_000 } })
      const key = task.id
      await store.findMessage(key, Date.now())
      const made = await store.append(task.id, { expectedSeq: 0, create: task, records: chunks('a', text), take: { holder: 'h', ttlMs: 60_000 }, idempotency: { key, hash: 'h', expiresAt: Date.now() + 86_400_000 } })
      const fence = (made as { fence: number }).fence
      const status = statusOf('TASK_STATE_COMPLETED')
      await store.append(task.id, { expectedSeq: 2, fence, release: true, records: [...chunks(text, text), record({ type: 'status', status })], change: { status, statusAt: Date.now(), due: null } })
      n += 1
    }
  }))
  return n / ms * 1000
}
for (let i = 0; i < 3; i += 1) {
  const c0 = process.cpuUsage()
  const a = await appends(2000); const c1 = process.cpuUsage(c0)
  const b = await tasks(2000); const c2 = process.cpuUsage(c0)
  console.log(kind, writers, 'appends/s', Math.round(a), 'cpu ms', c1.user / 1000 | 0, 'tasks/s', Math.round(b), 'cpu', (c2.user - c1.user) / 1000 | 0)
}
await store.close()
process.exit(0)
