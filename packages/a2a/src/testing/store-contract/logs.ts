/** The methods of a log store: rows written under a version, their logs, lists in a fixed order, and claimed messages. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../model/record.ts'
import type { LogQuery, LogRow, LogStore } from '../../stores/log-store.ts'

/** A log store under test, and how to reopen and release it. */
export interface OpenedLogStore {
  readonly store: LogStore
  /** Opens the same data again; the store before it is closed. Omitted for stores that are not durable. */
  readonly reopen?: () => Promise<LogStore>
  /** Releases everything, whether the store is still open or not. */
  dispose(): Promise<void>
}
/** Opens a fresh and empty log store; called for every test. */
export type OpenLogStore = () => Promise<OpenedLogStore>

const day0 = Date.UTC(2030, 0, 1)

function newRow(id: string, fields: Partial<LogRow> = {}): LogRow {
  return {
    id,
    version: 1,
    tenant: 'acme',
    agent: 'echo',
    owner: 'alice',
    contextId: 'talk',
    state: 'TASK_STATE_WORKING',
    statusAt: day0,
    isOpen: true,
    data: { head: 0 },
    ...fields,
  }
}

function recordsFrom(firstSeq: number, ...texts: readonly string[]): readonly LogRecord[] {
  return texts.map((text, index) => ({ seq: firstSeq + index, at: day0 + index, body: { type: 'note', text } }))
}

function textsOf(records: readonly LogRecord[]): readonly string[] {
  return records.map(({ body }) => (body.type === 'note' ? body.text : body.type))
}

async function create(store: LogStore, id: string, fields: Partial<LogRow> = {}, records: readonly LogRecord[] = []) {
  const row = newRow(id, fields)
  assert.equal(await store.append({ row, records }), true, `append of the new row ${id} must return true`)
  return row
}

/** `store` has the members of the stores that `open` opens. */
export function logContract(open: OpenLogStore, { remove, snapshots }: LogStore, isDurable: boolean): void {
  const withLog = (test: (opened: OpenedLogStore) => Promise<void>) => async (): Promise<void> => {
    const opened = await open()
    try {
      await test(opened)
    } finally {
      await opened.dispose()
    }
  }
  const idsOf = async (store: LogStore, query: Partial<LogQuery>): Promise<readonly string[]> =>
    (await store.list({ where: {}, order: 'newest', limit: 100, ...query })).rows.map(({ id }) => id)

  describe('append and load', () => {
    it(
      'return the row as it was written last',
      withLog(async ({ store }) => {
        const data = {
          text: 'NUL \u0000, half \ud800, "quoted" \\ \u{1f600}',
          list: [1, 2.5, null, { a: false }],
          empty: {},
        }
        const row = await create(store, 'a', { data })
        assert.deepEqual(await store.load('a'), row)
        const next = { ...row, version: 2, state: 'TASK_STATE_COMPLETED', statusAt: day0 + 1, isOpen: false, data: [] }
        assert.equal(await store.append({ row: next, records: [] }), true)
        assert.deepEqual(await store.load('a'), next)
        assert.equal(await store.load('unknown'), undefined)
      }),
    )

    it(
      'refuse a row whose version does not follow the stored one, and then write nothing',
      withLog(async ({ store }) => {
        const row = await create(store, 'a', { version: 1 }, recordsFrom(1, 'one'))
        for (const version of [1, 3]) {
          const refused = { ...row, version, state: 'TASK_STATE_FAILED' }
          const answer = await store.append({ row: refused, records: recordsFrom(2, 'two'), messageKey: 'refused' })
          assert.equal(answer, false, `version ${version} over version 1 must be refused with false`)
        }
        assert.equal(await store.append({ row: newRow('b', { version: 2 }), records: recordsFrom(1, 'x') }), false)
        assert.deepEqual(await store.load('a'), row)
        assert.equal(await store.load('b'), undefined)
        assert.deepEqual(textsOf(await store.read('a', 0, 10)), ['one'])
        assert.deepEqual(await store.read('b', 0, 10), [])
        assert.equal(await store.findMessage('refused'), undefined)
      }),
    )

    it(
      'let one of many concurrent writers win',
      withLog(async ({ store }) => {
        const row = await create(store, 'a')
        const writers = Array.from({ length: 10 }, (_, n) =>
          store.append({ row: { ...row, version: 2, data: { n } }, records: recordsFrom(1, `writer ${n}`) }),
        )
        const answers = await Promise.all(writers)
        const winner = answers.indexOf(true)
        const winners = answers.filter((isWritten) => isWritten).length
        assert.equal(winners, 1, `of 10 concurrent appends of version 2, ${winners} returned true instead of 1`)
        assert.deepEqual(
          (await store.load('a'))?.data,
          { n: winner },
          'the row must be that of the append that returned true',
        )
        const texts = textsOf(await store.read('a', 0, 10))
        assert.deepEqual(texts, [`writer ${winner}`], 'an append that returned false must write no records')
        const creators = Array.from({ length: 10 }, () => store.append({ row: newRow('b'), records: [] }))
        const created = (await Promise.all(creators)).filter((isWritten) => isWritten).length
        assert.equal(created, 1, `of 10 concurrent appends of version 1, ${created} returned true instead of 1`)
      }),
    )

    it(
      'write all or nothing: neither row nor records nor message if the last record cannot be stored',
      withLog(async ({ store }) => {
        const row = await create(store, 'a', {}, recordsFrom(1, 'one'))
        const broken = { toJSON: () => assert.fail('this record cannot be converted to JSON') }
        const unstorable = (firstSeq: number): readonly LogRecord[] => {
          const [first, second, last] = recordsFrom(firstSeq, 'x', 'y', 'z') as [LogRecord, LogRecord, LogRecord]
          return [first, second, Object.assign(last, broken)]
        }
        for (const [next, count] of [
          [{ ...row, version: 2, state: 'TASK_STATE_COMPLETED' }, 1],
          [newRow('b'), 0],
        ] as const) {
          const { id } = next
          const messageKey = `message of ${id}`
          const write = { row: next, records: unstorable(count + 1), messageKey }
          // A store that does not write JSON stores it; any other rejects.
          const isWritten = await store.append(write).catch(() => false)
          const [version, last, claimed] = isWritten
            ? [next.version, count + 3, id]
            : [next.version - 1, count, undefined]
          const rule = isWritten ? 'append returned true' : 'append failed, so it must be rolled back'
          assert.equal((await store.load(id))?.version ?? 0, version, `${rule}: the version of the row is wrong`)
          assert.equal((await store.read(id, 0, 10)).length, last, `${rule}: the number of records is wrong`)
          assert.equal(await store.findMessage(messageKey), claimed, `${rule}: findMessage is wrong`)
        }
        assert.equal(await store.append({ row: newRow('c'), records: [] }), true, 'append must work after a failed one')
      }),
    )

    it(
      'write rows that are requested at the same time',
      withLog(async ({ store }) => {
        const ids = Array.from({ length: 20 }, (_, n) => `task-${n}`)
        await Promise.all(ids.map((id) => create(store, id, {}, recordsFrom(1, id))))
        for (const id of ids) assert.deepEqual(textsOf(await store.read(id, 0, 10)), [id])
      }),
    )
  })

  describe('read', () => {
    it(
      'returns the records after a seq, in order and up to the limit, across writes',
      withLog(async ({ store }) => {
        const letters = 'abcdefghijkl'.split('')
        const row = await create(store, 'a', {}, recordsFrom(1, ...letters.slice(0, 3)))
        await store.append({ row: { ...row, version: 2 }, records: recordsFrom(4, ...letters.slice(3)) })
        for (const after of [0, 2, 3, 11, 12, 99]) {
          for (const limit of [1, 4, 100]) {
            const found = await store.read('a', after, limit)
            assert.deepEqual(textsOf(found), letters.slice(after, after + limit), `after ${after}, limit ${limit}`)
            assert.equal(found[0]?.seq ?? after + 1, after + 1)
          }
        }
        assert.deepEqual(await store.read('unknown', 0, 10), [])
      }),
    )

    it(
      'returns large records, and many of one write, unchanged',
      withLog(async ({ store }) => {
        const large = 'a "long" text \u4e2d\u0000\ud800'.repeat(100_000)
        const texts = Array.from({ length: 2_000 }, (_, n) => `${n}`)
        const row = await create(store, 'a', {}, recordsFrom(1, large))
        assert.equal(await store.append({ row: { ...row, version: 2 }, records: recordsFrom(2, ...texts) }), true)
        assert.deepEqual(await store.read('a', 0, 1), recordsFrom(1, large))
        assert.deepEqual(textsOf(await store.read('a', 1, 5_000)), texts)
      }),
    )
  })

  describe('list', () => {
    it(
      'filters by each column and by all of them, and counts all matches',
      withLog(async ({ store }) => {
        const others = [
          { tenant: 'other' },
          { agent: 'other' },
          { owner: 'other' },
          { contextId: 'other' },
          { state: 'TASK_STATE_COMPLETED' },
          { isOpen: false },
        ] as const
        for (const [n, fields] of others.entries()) await create(store, `other-${n}`, fields)
        const { version: _, id: __, data: ___, statusAt: ____, ...where } = await create(store, 'mine')
        assert.deepEqual(await idsOf(store, { where }), ['mine'])
        for (const [n, fields] of others.entries())
          assert.deepEqual(await idsOf(store, { where: fields }), [`other-${n}`])
        const page = await store.list({ where: { tenant: 'acme' }, order: 'oldest', limit: 2 })
        assert.deepEqual([page.rows.length, page.total], [2, 6])
        assert.deepEqual(page.rows[0], await store.load(page.rows[0]?.id ?? ''))
        assert.deepEqual(await store.list({ where: { isOpen: true }, order: 'newest', limit: 0 }), {
          rows: [],
          total: 6,
        })
        assert.deepEqual(await store.list({ where: { owner: 'nobody' }, order: 'newest', limit: 5 }), {
          rows: [],
          total: 0,
        })
      }),
    )

    it(
      'compares names exactly: their case, their spaces, their accents',
      withLog(async ({ store }) => {
        const owners = ['alice', 'ALICE', 'alice ', 'alicé', 'alice%', 'al_ce', '\u0001"alice"', '']
        for (const [n, owner] of owners.entries()) await create(store, `task-${n}`, { owner })
        for (const [n, owner] of owners.entries())
          assert.deepEqual(await idsOf(store, { where: { owner } }), [`task-${n}`], `owner ${JSON.stringify(owner)}`)
      }),
    )

    it(
      'orders by time and then by id, both ways, and begins at a time',
      withLog(async ({ store }) => {
        for (const [id, at] of [
          ['a', 3],
          ['b', 1],
          ['c', 2],
          ['d', 2],
        ] as const)
          await create(store, id, { statusAt: day0 + at })
        assert.deepEqual(await idsOf(store, { order: 'newest' }), ['a', 'd', 'c', 'b'])
        assert.deepEqual(await idsOf(store, { order: 'oldest' }), ['b', 'c', 'd', 'a'])
        const since = { since: day0 + 2 }
        assert.deepEqual(await idsOf(store, since), ['a', 'd', 'c'])
        assert.equal((await store.list({ where: {}, order: 'newest', limit: 1, ...since })).total, 3)
      }),
    )

    it(
      'continues after any position without loss or repetition, and counts all matches on every page',
      withLog(async ({ store }) => {
        for (let n = 0; n < 12; n += 1) await create(store, `task-${n % 5}${n}`, { statusAt: day0 + (n % 3) })
        for (const order of ['newest', 'oldest'] as const) {
          const all = await idsOf(store, { order })
          for (const limit of [1, 5, 12]) {
            const seen: string[] = []
            for (let after: LogQuery['after']; ;) {
              const page = await store.list({ where: {}, order, limit, ...(after === undefined ? {} : { after }) })
              assert.equal(page.total, 12, '`total` counts all rows that match, not those of the page')
              seen.push(...page.rows.map(({ id }) => id))
              after = page.rows.at(-1)
              if (after === undefined) break
            }
            assert.deepEqual(seen, all)
          }
          const gone = { statusAt: day0 + 1, id: 'task' }
          const rest = await idsOf(store, { order, after: gone })
          assert.equal(rest.length, order === 'newest' ? 4 : 8)
        }
      }),
    )
  })

  describe('findMessage', () => {
    it(
      'finds the task that was last written with the key',
      withLog(async ({ store }) => {
        const key = '["alice","acme","echo","message-1"]'.padEnd(300, 'x')
        await store.append({ row: newRow('a'), records: recordsFrom(1, 'one'), messageKey: key })
        await store.append({ row: newRow('a', { version: 2 }), records: recordsFrom(2, 'two'), messageKey: 'second' })
        assert.equal(await store.findMessage(key), 'a')
        assert.equal(await store.findMessage('second'), 'a')
        assert.equal(await store.findMessage('SECOND'), undefined)
        await store.append({ row: newRow('b'), records: recordsFrom(1, 'one'), messageKey: key })
        assert.equal(await store.findMessage(key), 'b')
      }),
    )
  })

  if (remove !== undefined)
    describe('remove', () => {
      it(
        'removes rows with their logs, snapshots and messages, and nothing else',
        withLog(async ({ store }) => {
          for (const id of ['a', 'b', 'c'])
            await store.append({ row: newRow(id), records: recordsFrom(1, id), messageKey: `message of ${id}` })
          await store.snapshots?.save('a', {
            seq: 1,
            task: { id: 'a', status: { state: 'TASK_STATE_WORKING' } },
            internal: {},
          })
          await store.remove?.(['a', 'b', 'unknown'])
          assert.deepEqual(await idsOf(store, {}), ['c'])
          assert.deepEqual(await store.read('a', 0, 10), [], 'remove must delete the records')
          assert.equal(await store.findMessage('message of b'), undefined, 'remove must delete the message keys')
          assert.equal(await store.findMessage('message of c'), 'c')
          assert.equal(await store.snapshots?.load('a'), undefined, 'remove must delete the snapshot')
          await create(store, 'a')
          assert.deepEqual(await store.read('a', 0, 10), [])
        }),
      )
    })

  if (snapshots !== undefined)
    describe('snapshots', () => {
      it(
        'are replaced, and outlive a dropped log',
        withLog(async ({ store }) => {
          await create(store, 'a', {}, recordsFrom(1, 'one', 'two'))
          const snapshot = {
            seq: 1,
            task: { id: 'a', status: { state: 'TASK_STATE_WORKING' } },
            internal: { turn: 1 },
          } as const
          assert.equal(await store.snapshots?.load('a'), undefined)
          await store.snapshots?.save('a', snapshot)
          await store.snapshots?.save('a', { ...snapshot, seq: 2 })
          assert.deepEqual(await store.snapshots?.load('a'), { ...snapshot, seq: 2 })
          assert.equal(await store.snapshots?.dropLog('a'), true)
          assert.equal(await store.snapshots?.dropLog('a'), false)
          assert.deepEqual(await store.read('a', 0, 10), [])
          assert.equal((await store.snapshots?.load('a'))?.seq, 2)
        }),
      )
    })

  if (isDurable)
    describe('opening the data again', () => {
      it(
        'finds everything',
        withLog(async ({ store, reopen }) => {
          assert.ok(reopen, 'a durable store needs `reopen`; pass { isDurable: false } for one that is not')
          const row = await create(store, 'a', {}, recordsFrom(1, 'one'))
          await store.append({ row: newRow('b'), records: [], messageKey: 'message' })
          await store.close?.()
          const again = await reopen()
          assert.deepEqual(await again.load('a'), row)
          assert.deepEqual(textsOf(await again.read('a', 0, 10)), ['one'])
          assert.deepEqual(await idsOf(again, {}), ['b', 'a'])
          assert.equal(await again.findMessage('message'), 'b')
          assert.equal(await again.append({ row, records: [] }), false)
        }),
      )
    })
}
