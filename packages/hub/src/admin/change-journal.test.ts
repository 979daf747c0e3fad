import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryKeyValueStore, type KeyValueStore } from '@parley/a2a/stores'
import { createChangeJournal } from './change-journal.ts'

function open(given?: KeyValueStore, clock = { at: 1_000_000 }) {
  const kv = given ?? memoryKeyValueStore(() => clock.at)
  let rung = 0
  const failures: unknown[] = []
  const journal = createChangeJournal({
    kv,
    now: () => clock.at,
    onWrite: () => void (rung += 1),
    onError: (cause) => void failures.push(cause),
  })
  return { journal, failures, rung: () => rung, clock, kv }
}

const agent = (name: string) => ({ type: 'agent', agent: name }) as const

describe('the journal', () => {
  it('returns the changes after a position, once each, and wakes waiting readers', async () => {
    const { journal, rung } = open()
    const from = await journal.end()
    journal.record(agent('a'))
    journal.record(agent('a'))
    journal.record({ type: 'config' })
    await journal.close()
    assert.equal(rung(), 1)
    const { changes, at } = await journal.after(from)
    assert.deepEqual(changes, [agent('a'), { type: 'config' }])
    assert.deepEqual(await journal.after(at), { changes: [], at })
  })

  it('is shared by all processes on one store, whatever their clocks say', async () => {
    const clock = { at: 1_000_000 }
    const kv = memoryKeyValueStore(() => clock.at)
    const [one, other] = [open(kv, clock).journal, open(kv, { at: 900_000 }).journal]
    let at = await one.end()
    const received: string[] = []
    for (let round = 0; round < 5; round += 1) {
      one.record(agent(`one ${round}`))
      other.record(agent(`other ${round}`))
      await Promise.all([one.close(), other.close()])
      const page = await one.after(at)
      at = page.at
      received.push(...page.changes.map((change) => ('agent' in change ? change.agent : '')))
    }
    assert.deepEqual([new Set(received).size, received.length], [10, 10])
  })

  it('waits for a number that another process took, and not for ever', async () => {
    const { journal, kv, clock } = open()
    const from = await journal.end()
    await kv.add('news-count', 'count', 1, Infinity)
    journal.record(agent('second'))
    await journal.close()
    assert.deepEqual(await journal.after(from), { changes: [], at: from })
    clock.at += 2_000
    assert.deepEqual((await journal.after(from)).changes, [agent('second')])
  })

  it('knows whether it still reaches back', async () => {
    const { journal, clock } = open()
    assert.equal(await journal.canResume(await journal.end()), true)
    journal.record(agent('a'))
    await journal.close()
    assert.deepEqual(
      [await journal.canResume(0), await journal.canResume(1), await journal.canResume(7)],
      [true, true, false],
    )
    clock.at += 3_600_001
    assert.deepEqual([await journal.canResume(0), await journal.canResume(1)], [false, true])
    journal.record(agent('b'))
    await journal.close()
    assert.deepEqual((await journal.after(1)).changes, [agent('b')])
  })

  it('reports that it cannot be written, and continues', async () => {
    const kv = memoryKeyValueStore()
    const broken: KeyValueStore = { ...kv, write: () => Promise.reject(new Error('full')) }
    const { journal, failures } = open(broken)
    journal.record({ type: 'config' })
    await journal.close()
    assert.equal(failures.length, 1)
  })
})
