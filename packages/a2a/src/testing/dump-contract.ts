/** The contract of the reader and the loader of a store: what was written is what is read, here and after a move. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DumpEntry, StoreLoader, StoreReader } from '../internal.ts'
import { readDump, writeDump } from '../stores/dump/index.ts'
import type { FullStore } from '../stores/store.ts'
import { chunks, createTask, day0, feedOf } from './store-contract/harness.ts'
import { fillWithVariedContent } from './store-contract/varied-content.ts'

/** A place for a store, empty at first. */
export interface DumpPlace {
  /** Opens the store, with a clock at `day0` that does not move. */
  open(): FullStore
  reader(): Promise<StoreReader>
  loader(): Promise<StoreLoader>
}

/** Registers the contract suite with `node:test`. `createPlace` returns a new place for each call. */
export function dumpContract(name: string, createPlace: () => Promise<DumpPlace>): void {
  /** A place with content, and what a dump of it contains. */
  async function filledPlace(): Promise<DumpPlace> {
    const place = await createPlace()
    const store = place.open()
    await fillWithVariedContent(store)
    await store.close()
    return place
  }

  describe(`${name} can be dumped and loaded`, () => {
    it('gives the same dump after a load', async () => {
      const from = await filledPlace()
      const dump = await dumpOf(from)
      const to = await createPlace()
      await loadDump(to, dump)
      assertSameDump(await dumpOf(to), dump)
    })

    it('gives the same content to callers after a load', async () => {
      const from = await filledPlace()
      const to = await createPlace()
      await loadDump(to, await dumpOf(from))
      const [before, after] = [from.open(), to.open()]
      assert.deepEqual(await contentOf(after), await contentOf(before))
      await Promise.all([before.close(), after.close()])
    })

    it('makes orphans of the tasks that were in work', async () => {
      const to = await createPlace()
      await loadDump(to, await dumpOf(await filledPlace()))
      const store = to.open()
      const orphans = await store.tasks.claimOrphans('replica-2', day0, 10_000, 10)
      assert.deepEqual(
        orphans.map(({ task }) => task.id),
        ['running'],
      )
      await store.close()
    })

    it('recognizes repeated messages after a load', async () => {
      const to = await createPlace()
      await loadDump(to, await dumpOf(await filledPlace()))
      const store = to.open()
      assert.deepEqual(await store.tasks.findMessage('first', day0), { taskId: 'submitted', hash: 'hash of first' })
      assert.deepEqual(await store.tasks.findMessage('forever', day0 + 1e12), {
        taskId: 'running',
        hash: 'hash of forever',
      })
      assert.equal(await store.tasks.findMessage('short', day0 + 1_000), undefined)
      assert.equal(await store.tasks.findMessage('unknown', day0), undefined)
      await store.close()
    })

    it('continues the feed above all positions, also above those of removed tasks', async () => {
      const from = await createPlace()
      const source = from.open()
      await createTask(source, { id: 'stays' })
      await createTask(source, { id: 'goes', state: 'TASK_STATE_COMPLETED', statusAt: day0 - 1 })
      const last = (await feedOf(source, 2)).at(-1)?.position ?? 0
      assert.equal(await source.prune({ finishedBefore: day0, batch: 10 }), 1)
      await source.close()
      const to = await createPlace()
      await loadDump(to, await dumpOf(from))
      const store = to.open()
      await createTask(store, { id: 'new' })
      const feed = await feedOf(store, 1, last)
      assert.deepEqual(
        feed.map(({ taskId }) => taskId),
        ['new'],
      )
      assert.deepEqual(
        (await feedOf(store, 2)).map(({ taskId }) => taskId),
        ['stays', 'new'],
      )
      await store.close()
    })

    it('keeps counting after a load', async () => {
      const to = await createPlace()
      await loadDump(to, await dumpOf(await filledPlace()))
      const store = to.open()
      const before = await store.tasks.countStates()
      await createTask(store, { state: 'TASK_STATE_COMPLETED' }, { records: chunks('a') })
      const countOf = (counts: typeof before): number =>
        counts.find(({ state }) => state === 'TASK_STATE_COMPLETED')?.tasks ?? 0
      assert.equal(countOf(await store.tasks.countStates()), countOf(before) + 1)
      assert.ok((await store.push.list('pushed')).length === 2)
      const due = await store.push.claim(day0 + 1, day0 + 60_000, 10)
      assert.deepEqual(
        due.map(({ push }) => push.id),
        ['due'],
      )
      await store.close()
    })

    it('sees one moment: what is written while it reads is not in the dump', async () => {
      const place = await createPlace()
      const store = place.open()
      await createTask(store, { id: 'before' })
      const reader = await place.reader()
      await createTask(store, { id: 'meanwhile' })
      const ids = (await entriesOf(reader)).flatMap((entry) => (entry.type === 'task' ? [entry.id] : []))
      await reader.close()
      await store.close()
      assert.deepEqual(ids, ['before'])
    })

    it('refuses a place that is not empty', async () => {
      const place = await filledPlace()
      const dump = await dumpOf(place)
      await assert.rejects(async () => loadDump(place, dump), /is not empty/)
      assert.deepEqual(linesOf(await dumpOf(place)).slice(1), linesOf(dump).slice(1))
    })

    it('leaves nothing of a load that was not finished, and loads again', async () => {
      const dump = await dumpOf(await filledPlace())
      const place = await createPlace()
      const loader = await place.loader()
      await assert.rejects(readDump(only(dump.subarray(0, dump.length / 2)), { load: loader.load }), /incomplete/)
      await loader.close()
      await loadDump(place, dump)
      assertSameDump(await dumpOf(place), dump)
    })

    it('is restored from a backup with and without the keys', async () => {
      const from = await filledPlace()
      const dump = await dumpOf(from)
      const withKeys = await createPlace()
      await loadDump(withKeys, await backupOf(from, 'wrapped'))
      assertSameDump(await dumpOf(withKeys), dump)
      const without = await createPlace()
      await loadDump(without, await backupOf(from, 'none'))
      const store = without.open()
      assert.deepEqual(await store.keys.list(), [])
      await store.close()
    })
  })
}

/** Without the end: the position of an untouched store in PostgreSQL moves with the transactions of the server. */
function linesOf(dump: Buffer): readonly string[] {
  return dump.toString().split('\n').slice(0, -2)
}

/** Byte by byte. A failure shows the first line that differs, and not all of them. */
export function assertSameDump(actual: Buffer, expected: Buffer): void {
  if (actual.equals(expected)) return
  const [lines, wanted] = [linesOf(actual), linesOf(expected)]
  const at = wanted.findIndex((line, index) => line !== lines[index])
  assert.equal(lines[at]?.slice(0, 1_000), wanted[at]?.slice(0, 1_000), `line ${at + 1}`)
  assert.ok(actual.equals(expected), 'the ends differ')
}

async function entriesOf(reader: StoreReader): Promise<readonly DumpEntry[]> {
  const entries: DumpEntry[] = []
  for await (const entry of reader.entries({ isChecked: true })) entries.push(entry)
  return entries
}

/** The dump of a place, in one piece. */
export async function dumpOf(place: Pick<DumpPlace, 'reader'>): Promise<Buffer> {
  const reader = await place.reader()
  const pieces: Uint8Array[] = []
  for await (const piece of writeDump(reader)) pieces.push(piece)
  await reader.close()
  return Buffer.concat(pieces)
}

/** Loads a dump into an empty place. */
export async function loadDump(place: Pick<DumpPlace, 'loader'>, dump: Buffer): Promise<void> {
  const loader = await place.loader()
  try {
    const { position } = await readDump(only(dump), { load: loader.load })
    await loader.finish(position)
  } finally {
    await loader.close()
  }
}

async function backupOf(place: DumpPlace, keyring: 'wrapped' | 'none'): Promise<Buffer> {
  const reader = await place.reader()
  const pieces: Uint8Array[] = []
  for await (const piece of writeDump(reader, { backup: { program: 'test', createdAt: day0, keyring } }))
    pieces.push(piece)
  await reader.close()
  return Buffer.concat(pieces)
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer, void, undefined> {
  // In small pieces, so that lines and blocks are cut.
  for (let from = 0; from < bytes.length; from += 10_007) yield bytes.subarray(from, from + 10_007)
}

/** What callers and operators see. */
async function contentOf(store: FullStore): Promise<unknown> {
  const { tasks } = await store.tasks.search({ limit: 100 })
  const details = tasks.map(async (row) => ({
    row,
    records: await store.tasks.read(row.id, 0),
    firstSeq: await store.tasks.firstSeq(row.id),
    snapshot: await store.tasks.loadSnapshot(row.id),
    pushes: await store.push.list(row.id),
    attempts: await Promise.all(['due', 'of a deleted config'].map((id) => store.push.listAttempts(row.id, id, 10))),
    context: await store.tasks.context(row, row.contextId, 10),
    active: await store.tasks.countActive(row.tenant, row.owner),
  }))
  const kinds = ['sessions', 'counters', '\ud801\u0000']
  return {
    tasks: await Promise.all(details),
    states: sortedByText(await store.tasks.countStates()),
    unfinished: sortedByText(await store.tasks.countUnfinished()),
    agents: sortedByText(await store.tasks.agents()),
    pushes: await store.push.search({ limit: 100 }),
    feed: await store.feed.read(0, 1_000),
    keys: await store.keys.list(),
    kv: await Promise.all(kinds.map((kind) => store.kv.list(kind, { limit: 100 }))),
  }
}

function sortedByText<Item>(items: readonly Item[]): readonly Item[] {
  return [...items].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}
