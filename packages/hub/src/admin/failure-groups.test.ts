import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore, newId, type Struct } from '@parley/a2a'
import type { RecordBody, Store } from '@parley/a2a/stores'
import { createFailureGroups, withPlaceholders } from './failure-groups.ts'

async function fail(
  store: Store,
  at: number,
  cause: string,
  { agent = 'echo', metadata }: { readonly agent?: string; readonly metadata?: Struct } = {},
): Promise<string> {
  const id = newId()
  const status = { state: 'TASK_STATE_FAILED' as const, timestamp: new Date(at).toISOString() }
  const bodies: readonly RecordBody[] = [
    { type: 'message', message: { messageId: id, role: 'ROLE_USER', parts: [{ text: 'do it' }] } },
    { type: 'note', text: cause },
    { type: 'status', status, ...(metadata === undefined ? {} : { metadata }) },
  ]
  await store.tasks.append(id, {
    expectedSeq: 0,
    create: { tenant: '', agent, owner: 'ann', id, contextId: id, status, statusAt: at, createdAt: at },
    records: bodies.map((body) => ({ at, body })),
  })
  return id
}

/** Counts the logs that are read. */
function countReads(store: Store): { readonly store: Store; count: number } {
  const counted = {
    count: 0,
    store: {
      ...store,
      tasks: {
        ...store.tasks,
        read(...args: Parameters<Store['tasks']['read']>) {
          counted.count += 1
          return store.tasks.read(...args)
        },
      },
    },
  }
  return counted
}

describe('the groups of failures', () => {
  it('are by agent, code and cause, the most frequent first, with the newest task and a trend', async () => {
    const store = memoryStore()
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1)
      ids.push(
        await fail(store, 1_000 + n * 100, `Error: call ${n} to http://10.0.0.${n}/x failed: connect ECONNREFUSED`),
      )
    await fail(store, 1_300, 'Error: call 1 to http://10.0.0.1/x failed: connect ECONNREFUSED', { agent: 'other' })
    await fail(store, 1_400, 'Error: call 1 to http://10.0.0.1/x failed', { metadata: { reason: 'TIMEOUT' } })
    await fail(store, 999, 'before the window')
    const groups = createFailureGroups(store, (text) => text)
    const { groups: found, read, isCut } = await groups({ since: 1_000, until: 2_200 })
    assert.deepEqual([read, isCut], [7, false])
    assert.deepEqual(
      found.map(({ agent, code, cause, count, firstAt, newest }) => [
        agent,
        code,
        cause,
        count,
        firstAt,
        newest.statusAt,
      ]),
      [
        ['echo', 'ECONNREFUSED', 'call <n> to <url> failed: connect ECONNREFUSED', 5, 1_000, 1_400],
        ['echo', 'TIMEOUT', 'call <n> to <url> failed', 1, 1_400, 1_400],
        ['other', 'ECONNREFUSED', 'call <n> to <url> failed: connect ECONNREFUSED', 1, 1_300, 1_300],
      ],
    )
    assert.equal(found[0]?.newest.id, ids[4])
    assert.deepEqual(found[0]?.trend, [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
    assert.equal((await groups({ since: 1_000, until: 2_200, agent: 'other' })).read, 1)
  })

  it('read each log once, and only the newest failed tasks', async () => {
    const counted = countReads(memoryStore())
    for (let n = 0; n < 25; n += 1) await fail(counted.store, n + 1, `Error: attempt ${n} failed`)
    const groups = createFailureGroups(counted.store, (text) => text, 20)
    const all = await groups({ since: 0, until: 100 })
    assert.deepEqual([all.read, all.isCut, all.groups.length, all.groups[0]?.count], [20, true, 1, 20])
    assert.equal(counted.count, 20)
    await groups({ since: 0, until: 100 })
    assert.equal(counted.count, 20)
  })

  it('are one for each cause also after more causes than are kept', async () => {
    const store = memoryStore()
    const groups = createFailureGroups(store, (text) => text, 2)
    for (const [at, cause] of ['no disk', 'no memory', 'no network', 'no network'].entries()) {
      await fail(store, at + 1, `Error: ${cause}`)
      await groups({ since: 0, until: 100 })
    }
    const { groups: found } = await groups({ since: 0, until: 100 })
    assert.deepEqual(
      found.map(({ cause, count }) => [cause, count]),
      [['no network', 2]],
    )
  })

  it('contain no secret of the configuration', async () => {
    const store = memoryStore()
    await fail(store, 1, 'Error: wrong password hunter2')
    const { groups } = await createFailureGroups(store, (text) => text.replaceAll('hunter2', '***'))({
      since: 0,
      until: 2,
    })
    assert.equal(groups[0]?.cause, 'wrong password ***')
  })

  it('replace ids, numbers, times and addresses, and keep words, names and status codes', () => {
    const cases = [
      ['task 0193f6a2-7b1c-7def-8abc-0123456789ab of call_Ab3dEf9hIjK2mNoPq was lost', 'task <id> of <id> was lost'],
      ['commit deadbeef01 at 2026-01-02T03:04:05.678Z and 12:30:01', 'commit <id> at <time> and <time>'],
      ['connect ECONNREFUSED 127.0.0.1:8080 or [::1:2:3]:443', 'connect ECONNREFUSED <address> or <address>'],
      ['getaddrinfo ENOTFOUND db.example.com:5432', 'getaddrinfo ENOTFOUND <address>'],
      ['mail to ann.lee+x@example.org bounced after 1,234.5 ms', 'mail to <address> bounced after <n> ms'],
      ['HTTP 503 after 3 attempts, status code 429', 'HTTP 503 after <n> attempts, status code 429'],
      [
        'gpt-4o of utf8 in S3: the internationalization failed',
        'gpt-4o of utf8 in S3: the internationalization failed',
      ],
    ] as const
    for (const [text, expected] of cases) assert.equal(withPlaceholders(text), expected)
  })
})
