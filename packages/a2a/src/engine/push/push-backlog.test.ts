import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import {
  deliveredOutcome,
  openPushTestEngine,
  pushCallContext,
  webhookUrl,
} from '../../testing/fixtures/push-test-engine.ts'
import { eventually } from '../../testing/fixtures/test-engine.ts'

const chunks = 390
const allEvents = { ...pushCallContext, push: { version: '1.0', triggers: 'all' } } as const

/** A task whose log is longer than a page, and the number of records that are read from it. */
async function openBacklog(t: Parameters<typeof openPushTestEngine>[0]) {
  const store = memoryStore()
  const first = await openPushTestEngine(
    t,
    async function* () {
      for (let n = 0; n < chunks; n += 1) {
        yield { artifact: { artifactId: 'a', parts: [{ text: String(n) }] }, append: n > 0 }
        // One batch each: chunks of one flush may become one record.
        await new Promise(setImmediate)
      }
    },
    {},
    { store },
  )
  const { id } = await first.testEngine.task('go')
  const counted = { records: 0, pages: 0 }
  const read = store.tasks.read.bind(store.tasks)
  store.tasks.read = async (...args) => {
    const records = await read(...args)
    counted.records += records.length
    counted.pages += 1
    return records
  }
  // Another engine, which has none of the events in memory.
  const { receiver, service } = await openPushTestEngine(t, () => 'done', {}, { store })
  const configOf = (configId: string) => ({ taskId: id, id: configId, url: `${webhookUrl}/${configId}` })
  return { id, store, counted, receiver, service, configOf }
}

describe('a backlog of a webhook', () => {
  it('is read once, although each claim delivers only a part of a page', async (t) => {
    const { id, store, counted, receiver, service, configOf } = await openBacklog(t)
    await service.create(configOf('a'), allEvents)
    const head = (await store.tasks.load(id))?.head ?? 0
    assert.ok(head >= chunks, `${head} records`)
    counted.records = 0
    counted.pages = 0
    await service.redeliver(id, 'a', 0)
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    const seqs = receiver.deliveries.map(({ item }) => item.seq)
    assert.ok(seqs.length > chunks)
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
      'in order, each once',
    )
    assert.equal(counted.records, head)
    assert.ok(counted.pages <= Math.ceil(head / 200) + 1, `${counted.pages} reads`)
  })

  it('is read again after a failed delivery, from the event that failed', async (t) => {
    const { id, receiver, service, configOf } = await openBacklog(t)
    await service.create(configOf('a'), allEvents)
    let failures = 1
    receiver.answer = ({ item }) =>
      item.seq > 50 && failures-- > 0 ? { outcome: 'failed', detail: 'HTTP 500' } : deliveredOutcome
    await service.redeliver(id, 'a', 0)
    await eventually(async () => (await service.cursors(id))[0]?.state === 'done')
    const seqs = receiver.deliveries.map(({ item }) => item.seq)
    const repeated = seqs.filter((seq, at) => seqs.indexOf(seq) !== at)
    assert.equal(repeated.length, 1)
  })
})
