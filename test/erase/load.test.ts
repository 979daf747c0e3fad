/**
 * Erases a caller while two callers send messages: nothing that another caller was told is lost, judged by the history checker, and
 * nothing of the erased caller is left. With PostgreSQL two replicas serve, and the erasure runs on one of them.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamEvent } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import { taskStates } from '@parley/a2a/internal'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { join } from 'node:path'
import { openTestHub, waitFor, type AuthHeaders, type TestHub } from '../admin/test-hub.ts'
import {
  checkClusterHistory,
  type SentMessage,
  type SubscriberHistory,
  type TaskLog,
} from '../cluster/check-history.ts'
import { masterKey, openDatabase, skipReason } from '../postgres/databases.ts'

const erased = 'alice-8215@people.example'
const secret = 'Meeresrauschen'
const counter = `
export default async function* ({ text }) {
  for (let n = 0; n < 20; n += 1) {
    yield { artifact: { artifactId: 'count 1', parts: [{ text: n + ' ' }] }, append: n > 0 }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
`
const agents = {
  counter: { kind: 'module', path: './counter.ts', default: true },
  talker: { kind: 'module', path: './talker.ts' },
}

interface Recorded {
  readonly sent: SentMessage[]
  readonly streams: SubscriberHistory[]
}

/** Sends a message as a stream and records everything it is told. Returns whether it was accepted. */
async function sendOnce(hub: TestHub, proof: AuthHeaders, text: string, into: Recorded): Promise<boolean> {
  const messageId = crypto.randomUUID()
  const params = { message: { messageId, role: 'ROLE_USER', parts: [{ text }] } }
  const response = await fetch(`${hub.url}/a2a/counter`, {
    method: 'POST',
    headers: { ...proof, 'content-type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params }),
  })
  if (!response.ok) return false
  const events: { seq: number; event: StreamEvent }[] = []
  const said = await response.text().catch(() => '')
  for (const frame of said.split('\n\n')) {
    const seq = /^id: (\d+)$/m.exec(frame)?.[1]
    const data = /^data: (.*)$/m.exec(frame)?.[1]
    if (seq !== undefined && data !== undefined) events.push({ seq: Number(seq), event: JSON.parse(data).result })
  }
  const first = events[0]?.event
  const taskId = first !== undefined && 'task' in first ? first.task.id : undefined
  if (taskId === undefined) return false
  const last = events.at(-1)?.event
  const state = last !== undefined && 'statusUpdate' in last ? last.statusUpdate.status.state : undefined
  const isEnd = state !== undefined && /COMPLETED|CANCELED|FAILED/.test(state)
  into.sent.push({ messageId, taskId, ...(isEnd ? { state } : {}) })
  into.streams.push({ subscriber: messageId, taskId, events, finished: isEnd })
  return true
}

async function logsOf(
  store: FullStore,
): Promise<{ readonly logs: readonly TaskLog[]; readonly owners: readonly string[] }> {
  const logs: TaskLog[] = []
  const owners = new Set<string>()
  let before: { readonly statusAt: number; readonly id: string } | undefined
  for (;;) {
    const page = await store.tasks.search({ states: taskStates, limit: 200, ...(before && { before }) })
    for (const { id, contextId, owner } of page.tasks) {
      owners.add(owner)
      logs.push({ taskId: id, contextId, records: await store.tasks.read(id, 0) })
    }
    before = page.tasks.at(-1)
    if (!page.more) return { logs, owners: [...owners] }
  }
}

/** Load, an erasure in the middle, and more load. */
async function run(hubs: readonly [TestHub, ...TestHub[]]): Promise<{ readonly bob: Recorded; readonly receipt: any }> {
  const [hub] = hubs
  const alice = await hub.key({ agents: ['*'], principal: erased })
  const bob = await hub.key({ agents: ['*'], principal: 'bob' })
  const ofBob: Recorded = { sent: [], streams: [] }
  const ofAlice: Recorded = { sent: [], streams: [] }
  let isStopped = false
  const keepSending = (proof: AuthHeaders, text: string, into: Recorded) => async (at: TestHub) => {
    // A refused caller ends: its key is revoked.
    while (!isStopped && (await sendOnce(at, proof, text, into)));
  }
  const loads = hubs.flatMap((at) => [
    ...[1, 2, 3].map(() => keepSending(bob, 'Birkenwald', ofBob)(at)),
    ...[1, 2, 3].map(() => keepSending(alice, secret, ofAlice)(at)),
  ])
  // One that waits for ever in every replica.
  for (const at of hubs)
    await at.call(
      'talker',
      'SendMessage',
      {
        message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: `wait ${secret}` }] },
        configuration: { returnImmediately: true },
      },
      alice,
    )
  await waitFor(async () => (ofAlice.sent.length >= 12 && ofBob.sent.length >= 12) || undefined, 'both have tasks')
  const { json } = await hub.ask('POST', '/admin/erasures', { caller: erased })
  const receipt = await waitFor(async () => {
    const { json: current } = await hub.ask('GET', `/admin/erasures/${json.id}`)
    return current.state === 'done' ? current : undefined
  }, 'the erasure is finished')
  const sentBefore = ofBob.sent.length
  await waitFor(async () => ofBob.sent.length >= sentBefore + 6 || undefined, 'the other caller goes on')
  isStopped = true
  await Promise.all(loads)
  assert.ok(receipt.counts.tasks >= 12 + hubs.length)
  return { bob: ofBob, receipt }
}

async function judge(store: FullStore, { sent, streams }: Recorded): Promise<void> {
  const { logs, owners } = await logsOf(store)
  assert.deepEqual(owners, ['bob'])
  assert.deepEqual(checkClusterHistory({ sent, streams, logs, outages: [] }), [])
  assert.ok(!JSON.stringify(logs).includes(secret))
}

describe('erasing a caller under load', () => {
  it('loses nothing of another caller with SQLite', async () => {
    const hub = await openTestHub({
      files: { 'counter.ts': counter },
      config: { store: { url: 'sqlite:' }, access: {}, agents },
    })
    const { bob } = await run([hub])
    await hub.hub.close()
    const store = sqliteStore(join(hub.folder, '.parley', 'parley.db'))
    await judge(store, bob)
    await store.close()
  })
})

const skip = await skipReason()
describe('erasing a caller under load with two replicas [full]', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()

  it('loses nothing of another caller, and leaves nothing in any table', async () => {
    const url = `postgres://postgres@127.0.0.1:${database.cluster.port}/${database.name}`
    const store = { url, masterKey: masterKey.toString('base64') }
    const options = { files: { 'counter.ts': counter }, config: { store, access: {}, agents } }
    const hubs = [await openTestHub(options), await openTestHub(options)] as const
    const { bob, receipt } = await run(hubs)
    assert.equal(receipt.compaction.isDone, true)
    await judge(database.open(), bob)
    const tables = await database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'parley'`,
    )
    const needles = [erased, secret].flatMap((text) => [text, Buffer.from(text).toString('hex')])
    for (const { name } of tables) {
      const rows = await database.query<{ row: string }>(`SELECT t::text AS row FROM parley.${name} AS t`)
      const found = rows.filter(({ row }) => needles.some((needle) => row.includes(needle)))
      assert.deepEqual(found, [], name)
    }
  })
})
