/**
 * Key-value store: versions that decide between two writers, values and keys of every kind, lists in byte order, expiry times.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../model/task.ts'
import type { KeyValueEntry, KeyValueQuery, KeyValueStore } from '../../stores/key-value-store.ts'
import { type OpenStore, createTask, day0, reopened, withStore } from './harness.ts'

const kind = 'things'
const keysOf = (entries: readonly KeyValueEntry[]): readonly string[] => entries.map(({ key }) => key)

export function keyValueContract(open: OpenStore): void {
  describe('the key-value store', () => {
    versions(open)
    values(open)
    lists(open)
    expiry(open)
    sums(open)
    order(open)
  })
}

function order(open: OpenStore): void {
  it(
    'has what was requested before an append once the append is visible, if it is ordered',
    withStore(open, async ({ store }) => {
      if (store.kv.isOrdered !== true) return
      const written = [1, 2, 3].map((value) => store.kv.write(kind, { key: 'a', value }))
      await createTask(store)
      assert.equal((await store.kv.read(kind, 'a'))?.value, 3)
      await Promise.all(written)
    }),
  )
}

function versions(open: OpenStore): void {
  it(
    'are created, replaced and removed, and count their versions',
    withStore(open, async ({ store: { kv }, now, pass }) => {
      assert.equal(await kv.read(kind, 'a'), undefined)
      assert.equal(await kv.remove(kind, 'a'), false)
      const began = now()
      assert.equal(await kv.write(kind, { key: 'a', value: 1 }), 1)
      await pass(20)
      assert.equal(await kv.write(kind, { key: 'a', value: 2 }), 2)
      const { updatedAt = 0, ...rest } = (await kv.read(kind, 'a')) ?? {}
      assert.deepEqual(rest, { key: 'a', value: 2, version: 2 })
      assert.ok(
        updatedAt >= began + 20 && updatedAt <= now(),
        `updatedAt must be the time of the last write: ${updatedAt} is not between ${began + 20} and ${now()}`,
      )
      assert.equal(await kv.remove(kind, 'a'), true)
      assert.equal(await kv.read(kind, 'a'), undefined)
      assert.equal(await kv.write(kind, { key: 'a', value: 3 }), 1)
    }),
  )

  it(
    'are written under a version only if it is current',
    withStore(open, async ({ store: { kv } }) => {
      assert.equal(await kv.write(kind, { key: 'a', value: 'no' }, 1), undefined)
      assert.equal(await kv.read(kind, 'a'), undefined)
      assert.equal(await kv.write(kind, { key: 'a', value: 1 }, 0), 1)
      for (const wrong of [0, 2]) assert.equal(await kv.write(kind, { key: 'a', value: 'no' }, wrong), undefined)
      assert.equal(await kv.write(kind, { key: 'a', value: 2 }, 1), 2)
      assert.equal((await kv.read(kind, 'a'))?.value, 2)
      await kv.remove(kind, 'a')
      assert.equal(await kv.write(kind, { key: 'a', value: 'no' }, 2), undefined)
      assert.equal(await kv.write(kind, { key: 'a', value: 3 }, 0), 1)
    }),
  )

  it(
    'accept one of many concurrent writes of the same version',
    withStore(open, async ({ store: { kv } }) => {
      const race = (version: number) =>
        Promise.all(Array.from({ length: 12 }, (_, n) => kv.write(kind, { key: 'a', value: n }, version)))
      for (const version of [0, 1, 2]) {
        const answers = await race(version)
        assert.deepEqual(
          answers.filter((answer) => answer !== undefined),
          [version + 1],
        )
        assert.equal((await kv.read(kind, 'a'))?.value, answers.indexOf(version + 1))
      }
    }),
  )

  it(
    'lose no change of many concurrent read-modify-write loops',
    withStore(open, async ({ store: { kv } }) => {
      const push = async (word: string): Promise<void> => {
        for (;;) {
          const entry = await kv.read(kind, 'list')
          const value = [...((entry?.value as readonly string[] | undefined) ?? []), word]
          if ((await kv.write(kind, { key: 'list', value }, entry?.version ?? 0)) !== undefined) return
        }
      }
      const words = Array.from({ length: 10 }, (_, n) => `word ${n}`)
      await Promise.all(words.map(push))
      const entry = await kv.read(kind, 'list')
      assert.deepEqual((entry?.value as string[] | undefined)?.toSorted(), words)
      assert.equal(entry?.version, words.length)
    }),
  )

  it(
    'are written in batches, all or none, the last of each key',
    withStore(open, async ({ store: { kv }, pass, now }) => {
      await kv.write(kind, { key: 'b', value: 'old' })
      await kv.writeAll(kind, [])
      await kv.writeAll(kind, [
        { key: 'c', value: 1, expiresAt: now() + 50 },
        { key: 'b', value: 2 },
        { key: 'a', value: 3 },
        { key: 'c', value: 4, expiresAt: now() + 50 },
      ])
      const shown = (await kv.list(kind, { limit: 9 })).map(({ key, value, version }) => [key, value, version])
      assert.deepEqual(shown, [
        ['a', 3, 1],
        ['b', 2, 2],
        ['c', 4, 1],
      ])
      const tooLong = 'x'.repeat(1_025)
      await assert.rejects(
        kv.writeAll(kind, [
          { key: 'a', value: 9 },
          { key: tooLong, value: 9 },
        ]),
        RangeError,
        'writeAll must reject a key of 1,025 bytes with a RangeError',
      )
      assert.equal((await kv.read(kind, 'a'))?.value, 3, 'writeAll must write all entries or none')
      await pass(50)
      assert.deepEqual(keysOf(await kv.list(kind, { limit: 9 })), ['a', 'b'])
    }),
  )

  it(
    'do not block each other in concurrent batches, in any order',
    withStore(open, async ({ store: { kv } }) => {
      const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
      const rounds = Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? keys : keys.toReversed()))
      await Promise.all(
        rounds.map((order, value) =>
          kv.writeAll(
            kind,
            order.map((key) => ({ key, value })),
          ),
        ),
      )
      const found = await kv.list(kind, { limit: 99 })
      assert.equal(new Set(found.map(({ value }) => value)).size, 1)
      assert.ok(found.length === keys.length && found.every(({ version }) => version === rounds.length))
    }),
  )
}

function values(open: OpenStore): void {
  it(
    'keep a value of any kind, as of the time of the call',
    withStore(open, async ({ store: { kv } }) => {
      const nested = { list: [1, [2, { three: null }]], text: 'nul \0 half \ud800 quote " 語 😀', '': {} }
      const given: readonly Json[] = [null, true, false, 0, -1.5, 1e300, 2 ** 53 - 1, '', 'text', [], {}, nested]
      for (const value of given) {
        await kv.write(kind, { key: 'v', value })
        assert.deepEqual((await kv.read(kind, 'v'))?.value, value)
      }
      const mine = { words: ['a'] }
      const writing = kv.write(kind, { key: 'v', value: mine })
      mine.words.push('b')
      await writing
      const found = (await kv.read(kind, 'v'))?.value as { words: string[] }
      assert.deepEqual(found, { words: ['a'] })
      found.words.push('c')
      assert.deepEqual((await kv.read(kind, 'v'))?.value, { words: ['a'] })
    }),
  )

  it(
    'are distinguished by keys and kinds of any characters',
    withStore(open, async ({ store: { kv } }) => {
      const odd = ['', ' ', '%', '_', "'; --", '\0', 'a\0', 'a\0b', 'é', 'e\u0301', '\ud83d', '\ude00', '\ufffd', '😀']
      odd.push('\ufeffa', '\u0001"a"', '\\x61', 'A', 'a', 'x'.repeat(1_024))
      for (const [n, key] of odd.entries()) await kv.write(kind, { key, value: n }, 0)
      for (const [n, key] of odd.entries()) {
        const entry = await kv.read(kind, key)
        assert.deepEqual([entry?.value, entry?.key], [n, key])
      }
      assert.deepEqual(
        [...keysOf(await kv.list(kind, { limit: 99 }))].sort(),
        [...odd].sort(),
        'a key is any string, lone surrogates included',
      )
      for (const [n, key] of odd.entries()) await kv.write(`${key.slice(0, 9)}${n}`, { key: 'k', value: n })
      for (const [n, key] of odd.entries()) {
        assert.equal((await kv.read(`${key.slice(0, 9)}${n}`, 'k'))?.value, n)
      }
      assert.equal(await kv.remove('another kind', odd[0] as string), false)
      for (const key of odd) assert.equal(await kv.remove(kind, key), true)
      assert.deepEqual(await kv.list(kind, { limit: 9 }), [])
    }),
  )

  it(
    'refuse a key or a kind that is too long',
    withStore(open, async ({ store: { kv } }) => {
      const long = 'é'.repeat(513)
      const rule = 'a key or a kind of more than 1,024 bytes must be rejected with a RangeError'
      await assert.rejects(kv.write(kind, { key: long, value: 1 }), RangeError, rule)
      await assert.rejects(kv.write(long, { key: 'k', value: 1 }), RangeError, rule)
      await assert.rejects(kv.add(kind, long, 1, Infinity), RangeError, rule)
    }),
  )
}

function lists(open: OpenStore): void {
  const ordered = ['', 'A', 'B', 'Z', 'a', 'a-1', 'a-10', 'a-2', 'b', 'z', 'é', '\ufffd', '😀']
  const fill = async (kv: KeyValueStore): Promise<void> => {
    const shuffled = ordered.map((key, n) => [key, (n * 7) % ordered.length] as const).sort((a, b) => a[1] - b[1])
    for (const [key] of shuffled) await kv.write(kind, { key, value: key })
    await kv.write('others', { key: 'a', value: 'not mine' })
  }

  it(
    'are listed in byte order, whatever the collation of the store',
    withStore(open, async ({ store: { kv } }) => {
      await fill(kv)
      const all = await kv.list(kind, { limit: 99 })
      assert.deepEqual(keysOf(all), ordered)
      assert.ok(all.every(({ key, value, version }) => value === key && version === 1))
      assert.deepEqual(keysOf(await kv.list(kind, { limit: 99, descending: true })), ordered.toReversed())
      assert.deepEqual(await kv.list('unknown', { limit: 9 }), [])
      assert.deepEqual(await kv.list(kind, { limit: 0 }), [])
    }),
  )

  it(
    'are listed by prefix and page by page, in both orders',
    withStore(open, async ({ store: { kv } }) => {
      await fill(kv)
      const listed = async (query: Omit<KeyValueQuery, 'limit'>, limit = 99) =>
        keysOf(await kv.list(kind, { ...query, limit }))
      assert.deepEqual(await listed({ prefix: 'a' }), ['a', 'a-1', 'a-10', 'a-2'])
      assert.deepEqual(await listed({ prefix: 'a', descending: true }, 2), ['a-2', 'a-10'])
      assert.deepEqual(await listed({ prefix: 'a', after: 'a-1' }), ['a-10', 'a-2'])
      assert.deepEqual(await listed({ prefix: 'a', after: 'a-15' }), ['a-2'])
      assert.deepEqual(await listed({ prefix: 'a-', after: 'B' }), ['a-1', 'a-10', 'a-2'])
      assert.deepEqual(await listed({ prefix: 'a', after: 'b' }), [])
      assert.deepEqual(await listed({ prefix: 'a', after: 'b', descending: true }, 1), ['a-2'])
      assert.deepEqual(await listed({ prefix: 'a', after: 'a', descending: true }), [])
      assert.deepEqual(await listed({ prefix: '%' }), [])
      assert.deepEqual(await listed({ prefix: '😀' }), ['😀'])
      for (const descending of [false, true]) {
        const pages: string[] = []
        for (let page = await listed({ descending }, 4); page.length > 0;) {
          pages.push(...page)
          page = await listed({ descending, after: page.at(-1) as string }, 4)
        }
        assert.deepEqual(pages, descending ? ordered.toReversed() : ordered)
      }
    }),
  )
}

function expiry(open: OpenStore): void {
  it(
    'do not exist from their expiry on',
    withStore(open, async ({ store: { kv }, now, pass }) => {
      await kv.write(kind, { key: 'gone', value: 1, expiresAt: now() + 200 })
      await kv.write(kind, { key: 'gone', value: 2, expiresAt: now() + 200 })
      await kv.write(kind, { key: 'later', value: 1, expiresAt: now() + 3_600_000 })
      await kv.write(kind, { key: 'renewed', value: 1, expiresAt: now() + 200 })
      await kv.write(kind, { key: 'renewed', value: 2 })
      await kv.add(kind, 'sum', 5, now() + 200)
      assert.equal((await kv.read(kind, 'gone'))?.version, 2)
      await pass(200)
      assert.equal(await kv.read(kind, 'gone'), undefined, 'read must not return an expired entry')
      assert.deepEqual(keysOf(await kv.list(kind, { limit: 9 })), ['later', 'renewed'])
      assert.equal(await kv.remove(kind, 'gone'), false, 'remove must return false for an expired entry')
      assert.equal(await kv.add(kind, 'sum', 1, Infinity), 1, 'add must count an expired entry as 0')
      assert.equal((await kv.read(kind, 'sum'))?.version, 1, 'an entry that replaces an expired one is new')
    }),
  )

  it(
    'can be created again after their expiry, and not replaced',
    withStore(open, async ({ store: { kv }, now, pass }) => {
      await kv.write(kind, { key: 'a', value: 1, expiresAt: now() + 100 })
      assert.equal(await kv.write(kind, { key: 'a', value: 2 }, 0), undefined)
      await pass(100)
      assert.equal(await kv.write(kind, { key: 'a', value: 3 }, 1), undefined)
      assert.equal(await kv.write(kind, { key: 'a', value: 4 }, 0), 1)
      await kv.write(kind, { key: 'b', value: 1, expiresAt: now() - 1 })
      assert.equal(await kv.read(kind, 'b'), undefined)
      assert.equal(await kv.write(kind, { key: 'b', value: 2 }), 1)
    }),
  )

  it(
    'are removed by pruning, and only if they have expired',
    withStore(open, async ({ store, now, pass }) => {
      const { kv } = store
      const [soon, late] = [now() + 100, now() + 3_600_000]
      const given = ['a', 'b', 'c'].map((key) => ({ key, value: 1, expiresAt: soon }))
      await kv.writeAll(kind, [...given, { key: 'd', value: 1, expiresAt: late }, { key: 'e', value: 1 }])
      await store.prune({ batch: 1 })
      assert.equal((await kv.list(kind, { limit: 9 })).length, 5)
      await pass(100)
      await kv.write(kind, { key: 'b', value: 2 })
      assert.equal(await store.prune({ batch: 1 }), 0)
      assert.deepEqual(keysOf(await kv.list(kind, { limit: 9 })), ['b', 'd', 'e'])
    }),
  )
}

function sums(open: OpenStore): void {
  it(
    'are incremented atomically, however many writers there are',
    withStore(open, async ({ store: { kv } }) => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => kv.add(kind, 'sum', 1, Infinity)))
      assert.deepEqual(
        answers.toSorted((a, b) => a - b),
        Array.from({ length: 20 }, (_, n) => n + 1),
      )
      assert.equal(await kv.add(kind, 'sum', -25.5, Infinity), -5.5)
      assert.equal(await kv.add(kind, 'sum', 0.1, Infinity), -5.5 + 0.1)
      assert.equal(await kv.add(kind, 'sum', 2 ** 53, Infinity), -5.5 + 0.1 + 2 ** 53)
      assert.equal((await kv.read(kind, 'sum'))?.version, 23)
      assert.equal(await kv.add(kind, 'tiny', 1e-20, Infinity), 1e-20)
      assert.equal((await kv.read(kind, 'tiny'))?.value, 1e-20)
      for (const value of ['12', [1], { a: 1 }, null, true]) {
        await kv.write(kind, { key: 'no number', value })
        assert.equal(await kv.add(kind, 'no number', 2, Infinity), 2)
      }
    }),
  )

  it(
    'are refused once the store is closed',
    withStore(open, async ({ store }) => {
      await store.close()
      await assert.rejects(store.kv.read(kind, 'a'))
      await assert.rejects(store.kv.write(kind, { key: 'a', value: 1 }))
      await assert.rejects(store.kv.add(kind, 'a', 1, Infinity))
    }),
  )
}

export function keyValueReopenContract(open: OpenStore): void {
  it(
    'are the same after reopening the data, with their versions and sums',
    withStore(open, async (opened) => {
      const { kv } = opened.store
      await kv.write('kind', { key: 'k', value: { kept: ['a', 1, null] } })
      await kv.add('kind', 'sum', 2, day0 + 60_000)
      const again = (await reopened(opened)).kv
      assert.deepEqual((await again.read('kind', 'k'))?.value, { kept: ['a', 1, null] })
      assert.equal(await again.write('kind', { key: 'k', value: 0 }, 1), 2)
      assert.equal(await again.add('kind', 'sum', 3, day0 + 60_000), 5)
    }),
  )
}
