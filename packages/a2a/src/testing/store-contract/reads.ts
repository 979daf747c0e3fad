/** Reading the log back: in order, in pages, while it grows, with large bytes intact, and after the store was closed. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Artifact, Part, Task } from '../../model/task.ts'
import type { Snapshot } from '../../stores/store.ts'
import {
  type OpenStore,
  assertAppended,
  bobPartition,
  chunk,
  chunks,
  createTask,
  day0,
  noteRecords,
  newRecord,
  taskStatusOf,
  withStore,
  recordTexts,
} from './harness.ts'

export function readContract(open: OpenStore): void {
  describe('reading', () => {
    it(
      'begins after any seq and stops at the limit, across the boundaries of appends',
      withStore(open, async ({ store }) => {
        const letters = 'abcdefghij'.split('')
        const task = await createTask(store, {}, { records: chunks('a') })
        await assertAppended(store, task.id, { expectedSeq: 1, records: chunks('b', 'c', 'd', 'e') })
        await assertAppended(store, task.id, { expectedSeq: 5, records: noteRecords('f', 'g') })
        await assertAppended(store, task.id, { expectedSeq: 7, records: chunks('h', 'i', 'j') })
        for (let after = 0; after <= 11; after += 1) {
          assert.deepEqual(recordTexts(await store.tasks.read(task.id, after)), letters.slice(after))
          for (const limit of [1, 3, 5, 20]) {
            const found = await store.tasks.read(task.id, after, limit)
            assert.deepEqual(recordTexts(found), letters.slice(after, after + limit))
            if (found.length > 0) assert.equal(found[0]?.seq, after + 1)
          }
        }
      }),
    )

    it(
      'returns the same at once, if the store can',
      withStore(open, async ({ store }) => {
        const { id } = await createTask(store, { metadata: { a: 1 } }, { records: chunks('a', 'b') })
        await assertAppended(store, id, { expectedSeq: 2, records: chunks('c') })
        const stored = await store.tasks.loadStored?.(id)
        if (stored === undefined) return
        assert.deepEqual(stored.row, await store.tasks.load(id))
        if (stored.records !== undefined) assert.deepEqual(stored.records, await store.tasks.read(id, 0))
        assert.equal(await store.tasks.loadStored?.('unknown'), undefined)
      }),
    )

    it(
      'returns a long log and a long snapshot unchanged, and knows their size without reading them',
      withStore(open, async ({ store, hasSnapshots }) => {
        const { tasks } = store
        const text = 'a "long" text\n\u4e2d\u{1f600}\\'.repeat(60_000)
        const raw = Buffer.alloc(900_000, 7).toString('base64')
        const task = await createTask(store, {}, { records: [...chunks('a'), chunk({ text }), ...chunks('b')] })
        assert.deepEqual(recordTexts(await tasks.read(task.id, 0)), ['a', text, 'b'])
        assert.deepEqual(recordTexts(await tasks.read(task.id, 2)), ['b'])
        await assertAppended(store, task.id, { expectedSeq: 3, records: [...chunks('c'), chunk({ raw })] })
        const records = await tasks.read(task.id, 0)
        assert.deepEqual(recordTexts(records.slice(0, 4)), ['a', text, 'b', 'c'])
        assert.deepEqual(recordTexts(await tasks.read(task.id, 1)), [text, 'b', 'c', 'artifact'])
        assert.deepEqual(recordTexts(await tasks.read(task.id, 1, 2)), [text, 'b'])
        assert.deepEqual(recordTexts(await tasks.read(task.id, 2, 1)), ['b'])
        const logBytes = text.length + raw.length
        const isAbout = (bytes: number | undefined): void => {
          if (bytes !== undefined) assert.ok(bytes > logBytes && bytes < logBytes * 2, `${bytes}, not ${logBytes}`)
        }
        isAbout(await tasks.sizeOf?.(task.id))
        assert.ok([0, undefined].includes(await tasks.sizeOf?.('unknown')))
        if (!hasSnapshots) return
        const artifact = { artifactId: 'a', parts: [{ text }, { raw }] }
        const folded: Task = { id: task.id, contextId: task.contextId, status: task.status, artifacts: [artifact] }
        await tasks.saveSnapshot(task.id, { seq: 5, task: folded, internal: {} })
        assert.deepEqual(await tasks.loadSnapshot(task.id), { seq: 5, task: folded, internal: {} })
        // The engine's count of the task: a store may write a large snapshot in pieces.
        const counted = { seq: 5, task: folded, internal: { bytes: logBytes } }
        await tasks.saveSnapshot(task.id, counted)
        assert.deepEqual(await tasks.loadSnapshot(task.id), counted)
        // What the snapshot holds is not counted again.
        isAbout(await tasks.sizeOf?.(task.id))
      }),
    )

    it(
      'ends with the record that reaches the byte limit, and always has one',
      withStore(open, async ({ store }) => {
        const long = (letter: string): string => letter.repeat(10_000)
        const raw = Buffer.alloc(150_000, 7).toString('base64')
        const task = await createTask(store, {}, { records: chunks(long('a'), long('b'), long('c')) })
        await assertAppended(store, task.id, { expectedSeq: 3, records: chunks(long('d'), 'e', 'f') })
        await assertAppended(store, task.id, {
          expectedSeq: 6,
          records: [chunk({ raw }), chunk({ raw }), chunk({ text: long('\u0001\u4e2d') }), chunk({ text: 'z' })],
        })
        const seqs = async (after: number, limit: number | undefined, maxBytes: number): Promise<readonly number[]> =>
          (await store.tasks.read(task.id, after, limit, maxBytes)).map(({ seq }) => seq)
        assert.deepEqual(await seqs(0, undefined, 1), [1])
        assert.deepEqual(await seqs(0, undefined, 10_000), [1])
        assert.deepEqual(await seqs(0, undefined, 25_000), [1, 2, 3])
        assert.deepEqual(await seqs(1, undefined, 25_000), [2, 3, 4])
        assert.deepEqual(await seqs(1, 2, 25_000), [2, 3])
        assert.deepEqual(await seqs(4, undefined, 25_000), [5, 6, 7])
        assert.deepEqual(await seqs(6, undefined, 210_000), [7, 8])
        assert.deepEqual(await seqs(8, undefined, 20_000), [9])
        assert.deepEqual(await seqs(8, undefined, 1_000_000), [9, 10])
        assert.deepEqual(await seqs(0, undefined, 1_000_000), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        assert.deepEqual(await seqs(10, undefined, 1), [])
        // Across pages nothing is missing and nothing is repeated.
        const read: number[] = []
        for (
          let page = await seqs(0, 1_000, 15_000);
          page.length > 0;
          page = await seqs(read.at(-1) ?? 0, 1_000, 15_000)
        ) {
          read.push(...page)
        }
        assert.deepEqual(read, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      }),
    )

    it(
      'returns the time of each record',
      withStore(open, async ({ store }) => {
        const records = [1, 2, 3].map((n) => newRecord({ type: 'note', text: `${n}` }, day0 + n))
        const task = await createTask(store, {}, { records })
        assert.deepEqual(
          (await store.tasks.read(task.id, 0)).map(({ at }) => at),
          [day0 + 1, day0 + 2, day0 + 3],
        )
      }),
    )

    it(
      'finds nothing for an unknown task',
      withStore(open, async ({ store }) => {
        assert.equal(await store.tasks.load('unknown'), undefined)
        assert.deepEqual(await store.tasks.read('unknown', 0), [])
        assert.equal(await store.tasks.firstSeq('unknown'), 1)
        assert.equal(await store.tasks.loadSnapshot('unknown'), undefined)
      }),
    )

    it(
      'has a whole long log, and its first seq',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        let head = 1
        for (let n = 0; n < 10; n += 1) {
          const texts = Array.from({ length: 400 }, (_, index) => `${head + index + 1}`)
          ;({ head } = await assertAppended(store, task.id, { expectedSeq: head, records: chunks(...texts) }))
        }
        const log = await store.tasks.read(task.id, 1)
        assert.equal(log.length, 4_000)
        assert.ok(
          log.every(({ seq }, index) => seq === index + 2 && recordTexts([log[index] as never])[0] === `${seq}`),
        )
        assert.equal(await store.tasks.firstSeq(task.id), 1)
      }),
    )

    it(
      'returns large bytes unchanged: in artifacts, messages, statuses and snapshots, repeatedly',
      withStore(open, async ({ store, reopen, hasSnapshots }) => {
        const raw = (fill: number, bytes = 100_000) => Buffer.alloc(bytes, fill).toString('base64')
        const part = (fill: number): Part => ({ raw: raw(fill), filename: `${fill}.bin`, mediaType: 'application/x' })
        const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'see' }, part(2)] } as const
        const status = { ...taskStatusOf('TASK_STATE_WORKING'), message: { ...message, parts: [part(3), part(1)] } }
        const records = [chunk(part(1)), newRecord({ type: 'message', message }), newRecord({ type: 'status', status })]
        const task = await createTask(
          store,
          { status },
          { records: [...records, chunk(part(1)), chunk({ raw: raw(9, 10) })] },
        )
        const artifact: Artifact = { artifactId: 'answer', parts: [part(1), part(4)] }
        const folded: Task = { id: task.id, status, artifacts: [artifact], history: [message] }
        const snapshot: Snapshot = { seq: 5, task: folded, internal: {} }
        await store.tasks.saveSnapshot(task.id, snapshot)
        const again = (await reopen?.()) ?? store
        const bodies = (await again.tasks.read(task.id, 0)).map(({ body }) => body)
        assert.deepEqual(
          bodies.slice(0, 3),
          records.map(({ body }) => body),
        )
        assert.deepEqual(bodies.slice(3), [chunk(part(1)).body, chunk({ raw: raw(9, 10) }).body])
        assert.deepEqual((await again.tasks.load(task.id))?.status, status)
        if (hasSnapshots) assert.deepEqual(await again.tasks.loadSnapshot(task.id), snapshot)
      }),
    )

    it(
      'keeps bytes that look like internal references, or are almost base64',
      withStore(open, async ({ store }) => {
        const digest = 'a'.repeat(64)
        const parts: Part[] = [
          'sha256:',
          `sha256:${digest}`,
          `sha256:${digest}`.repeat(2_000),
          `${'A'.repeat(100_001)}=`,
        ].map((raw) => ({ raw }))
        const task = await createTask(store, {}, { records: parts.map((part) => chunk(part)) })
        assert.deepEqual(
          (await store.tasks.read(task.id, 0)).map(({ body }) => body),
          parts.map((part) => chunk(part).body),
        )
      }),
    )
  })

  describe('waiting for a change', () => {
    const forever = (): AbortSignal => new AbortController().signal

    it(
      'ends at once if the log is already longer',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        await store.tasks.changed(task.id, 0, forever())
      }),
    )

    it(
      'ends for every reader that was waiting, with the append',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        const readers = Array.from({ length: 5 }, async () => {
          let found = await store.tasks.read(task.id, 1)
          while (found.length === 0) {
            await store.tasks.changed(task.id, 1, forever())
            found = await store.tasks.read(task.id, 1)
          }
          return recordTexts(found)
        })
        await assertAppended(store, task.id, { expectedSeq: 1, records: chunks('news') })
        for (const seen of await Promise.all(readers)) assert.deepEqual(seen, ['news'])
      }),
    )

    it(
      'ends for a task that did not exist yet',
      withStore(open, async ({ store }) => {
        const id = 'still to come'
        const made = store.tasks.changed(id, 0, forever())
        await createTask(store, { id })
        await made
      }),
    )

    it(
      'ends when the signal aborts, before or while it waits',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        await store.tasks.changed(task.id, 1, AbortSignal.abort())
        const timeout = new AbortController()
        const waiting = store.tasks.changed(task.id, 1, timeout.signal)
        timeout.abort()
        await waiting
      }),
    )

    it(
      'ends when the store closes',
      withStore(open, async ({ store }) => {
        const task = await createTask(store)
        const waiting = store.tasks.changed(task.id, 1, forever()).catch(() => {})
        await store.close()
        await waiting
      }),
    )
  })

  describe('snapshots', () => {
    const fold = (id: string, text: string): Task => ({
      id,
      contextId: 'c',
      status: taskStatusOf('TASK_STATE_COMPLETED'),
      artifacts: [{ artifactId: 'answer', parts: [{ text }] }],
      history: [],
    })

    it(
      'are kept, and replaced by newer ones only',
      withStore(
        open,
        async ({ store }) => {
          const task = await createTask(store, {}, { records: chunks('a', 'b', 'c') })
          assert.equal(await store.tasks.loadSnapshot(task.id), undefined)
          const older: Snapshot = { seq: 2, task: fold(task.id, 'ab'), internal: { turn: 1 } }
          const newer: Snapshot = { seq: 3, task: fold(task.id, 'abc'), internal: { turn: 1, waiting: [{ seq: 3 }] } }
          await store.tasks.saveSnapshot(task.id, older)
          assert.deepEqual(await store.tasks.loadSnapshot(task.id), older)
          await store.tasks.saveSnapshot(task.id, newer)
          await store.tasks.saveSnapshot(task.id, older)
          assert.deepEqual(await store.tasks.loadSnapshot(task.id), newer)
          assert.deepEqual(recordTexts(await store.tasks.read(task.id, 0)), ['a', 'b', 'c'])
        },
        'snapshots',
      ),
    )

    it(
      'of a removed task are not kept',
      withStore(
        open,
        async ({ store }) => {
          await store.tasks.saveSnapshot('unknown', { seq: 1, task: fold('unknown', 'x'), internal: {} })
          assert.equal(await store.tasks.loadSnapshot('unknown'), undefined)
        },
        'snapshots',
      ),
    )
  })

  describe('closing', () => {
    it(
      'waits for pending writes, and then every call fails',
      withStore(open, async ({ store, reopen }) => {
        const task = await createTask(store)
        const pending = store.tasks.append(task.id, { expectedSeq: 1, records: chunks('last words') })
        const again = reopen === undefined ? await store.close() : await reopen()
        assert.deepEqual(await pending, { outcome: 'appended', head: 2 })
        await assert.rejects(store.tasks.load(task.id))
        await assert.rejects(store.tasks.append(task.id, { expectedSeq: 2, records: [] }))
        await assert.rejects(store.tasks.list({ ...bobPartition, limit: 1 }))
        if (again) assert.deepEqual(recordTexts(await again.tasks.read(task.id, 1)), ['last words'])
      }),
    )

    it(
      'may be repeated',
      withStore(open, async ({ store }) => {
        await store.close()
        await store.close()
      }),
    )
  })
}
