/**
 * Erases a caller of a running hub with SQLite: nothing of it is left in any file of the data directory, and everything of another
 * caller stays.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openFakeRemote } from '../a2a-proxy/fake-remote.ts'
import { openTestHub, waitFor, type AuthHeaders, type TestHub } from '../admin/test-hub.ts'

const aliceId = 'alice-4711@people.example'
const secret = 'Lavendelduft-Nachricht'
const receiver = await openFakeRemote(() => ({ result: {} }))
after(() => receiver.close())

const delegating = `
export default async function* ({ text }, { delegate }) {
  yield* delegate({ agent: 'echo', message: text })
}
`

async function openHub(): Promise<TestHub> {
  return openTestHub({
    files: { 'boss.ts': delegating },
    config: {
      store: { url: 'sqlite:' },
      access: {},
      push: { allow: ['127.0.0.1'] },
      agents: {
        talker: { kind: 'module', path: './talker.ts', default: true },
        boss: { kind: 'module', path: './boss.ts' },
        echo: { kind: 'demo', agent: 'echo' },
      },
    },
  })
}

/** Writes as a caller does, in every way that the hub keeps something of. */
async function fill(hub: TestHub, proof: AuthHeaders, text: string): Promise<readonly string[]> {
  const ids: string[] = []
  for (const number of [1, 2, 3]) ids.push((await hub.send('talker', `${text} ${number}`, proof)).id)
  ids.push((await hub.send('boss', `${text} for another agent`, proof)).id)
  const raw = Buffer.from(`${text} in a file. `.repeat(8_000)).toString('base64')
  ids.push((await hub.send('talker', text, proof, { parts: [{ text }, { raw, mediaType: 'text/plain' }] })).id)
  const configuration = {
    returnImmediately: true,
    taskPushNotificationConfig: { id: `${text}-hook`.replaceAll(' ', '-'), url: `${receiver.url}/hook` },
  }
  const message = { messageId: `${text}-message`, role: 'ROLE_USER', parts: [{ text: `wait ${text}` }] }
  const { json } = await hub.call('talker', 'SendMessage', { message, configuration }, proof)
  ids.push(json.result.task.id)
  return ids
}

function filesWith(folder: string, ...needles: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .flatMap((entry) => {
      const bytes = readFileSync(join(entry.parentPath, entry.name))
      return needles.filter((needle) => bytes.includes(needle)).map((needle) => `${entry.name}: ${needle}`)
    })
}

async function finished(hub: TestHub, id: string): Promise<any> {
  return waitFor(async () => {
    const { json } = await hub.ask('GET', `/admin/erasures/${id}`)
    return json.state === 'done' ? json : undefined
  }, 'the erasure is finished')
}

describe('erasing a caller of a hub with SQLite', () => {
  it('leaves nothing of it in any file, and everything of another caller', async () => {
    const hub = await openHub()
    const data = join(hub.folder, '.parley')
    const { json: made } = await hub.ask('POST', '/admin/keys', { name: 'a', agents: ['*'], principal: aliceId })
    const alice = { authorization: `Bearer ${made.key}` }
    const bob = await hub.key({ agents: ['*'], principal: 'bob' })
    const ids = await fill(hub, alice, secret)
    const others = await fill(hub, bob, 'Kiefernwald')
    const stream = await fetch(`${hub.url}/a2a/talker`, {
      method: 'POST',
      headers: { ...alice, 'content-type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SubscribeToTask', params: { id: ids.at(-1) } }),
    })
    await waitFor(async () => {
      const { json } = await hub.ask('GET', '/admin/traces?limit=100')
      return json.traces.filter(({ caller }: any) => caller === aliceId).length === 6 || undefined
    }, 'the traces are written')
    assert.notDeepEqual(filesWith(data, secret, aliceId), [])

    const preview = await hub.ask('POST', '/admin/erasures/preview', { caller: aliceId })
    assert.equal(preview.json.counts.tasks, 7, 'six tasks, and one that an agent opened on behalf of the caller')
    assert.equal(preview.json.counts.keys, 1)
    const { status, json: requested } = await hub.ask('POST', '/admin/erasures', { caller: aliceId })
    assert.equal(status, 201)
    const receipt = await finished(hub, requested.id)

    assert.equal(receipt.counts.tasks, 7)
    assert.equal(receipt.counts.blobs, 1)
    assert.equal(receipt.counts.pushConfigs, 1)
    assert.equal(receipt.counts.keys, 1)
    assert.ok(receipt.counts.messageClaims >= 6)
    assert.ok(receipt.counts.traces >= 6)
    assert.ok(receipt.counts.auditEntries >= 6)
    assert.equal(receipt.requestedBy, 'admin')
    assert.equal(receipt.compaction.isDone, true)
    assert.ok(receipt.excluded.some((line: string) => line.includes('backups')))
    assert.match(receipt.pseudonym, /^erased:[0-9a-f-]{36}$/)
    // The stream has ended.
    await stream.text().catch(() => {})

    const idOfKey = made.id
    assert.deepEqual(filesWith(data, secret, aliceId, idOfKey, Buffer.from(secret).toString('base64').slice(0, 20)), [])
    const text = JSON.stringify((await hub.ask('GET', '/admin/audit?limit=1000')).json)
    assert.ok(!text.includes(aliceId) && !text.includes(idOfKey))
    assert.ok(text.includes(receipt.pseudonym))
    assert.ok(text.includes('erasure.finished'))
    for (const id of ids) assert.equal((await hub.ask('GET', `/admin/tasks/${id}`)).status, 404)
    assert.equal((await hub.call('talker', 'ListTasks', {}, alice)).status, 401)

    const { json: listed } = await hub.call('talker', 'ListTasks', { pageSize: 100 }, bob)
    assert.equal(listed.result.tasks.length, others.length - 1)
    for (const id of others) assert.equal((await hub.ask('GET', `/admin/tasks/${id}`)).status, 200)
    assert.ok((await hub.ask('GET', '/admin/audit?who=bob')).json.entries.length > 0)

    // The high-water mark is right after a compaction, and a repeated erasure finds nothing.
    await hub.restart()
    assert.deepEqual(filesWith(data, secret, aliceId, idOfKey), [])
    const again = await finished(hub, (await hub.ask('POST', '/admin/erasures', { caller: aliceId })).json.id)
    assert.ok(Object.values(again.counts).every((count) => count === 0))
    assert.equal((await hub.ask('GET', `/admin/erasures/${requested.id}`)).json.pseudonym, receipt.pseudonym)
    assert.ok((await hub.send('talker', 'hello', bob)).id)
  })

  it('is finished by the next process if the first was stopped [full]', async () => {
    const hub = await openHub()
    const proof = await hub.key({ agents: ['*'], principal: aliceId })
    await fill(hub, proof, secret)
    const { json } = await hub.ask('POST', '/admin/erasures', { caller: aliceId, compact: true })
    await hub.restart()
    const receipt = await finished(hub, json.id)
    assert.equal(receipt.compaction.isDone, true)
    assert.deepEqual(filesWith(join(hub.folder, '.parley'), secret, aliceId), [])
  })
})
