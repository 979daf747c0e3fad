/** Key-value entries that two replicas write at once: sums add up, one writer wins a version, and pruning removes no renewed entry. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openDatabase, skipReason } from './databases.ts'

const skip = await skipReason()
describe('key-value entries of two replicas', { skip }, async () => {
  if (skip !== false) return
  const database = await openDatabase()
  const stores = [database.open(), database.open()]
  const [here, there] = stores.map(({ kv }) => kv) as [(typeof stores)[0]['kv'], (typeof stores)[0]['kv']]
  const kind = 'shared'

  it('are incremented by both, and no increment is lost', async () => {
    const each = 100
    const sums = await Promise.all(
      [here, there].flatMap((kv) => Array.from({ length: each }, () => kv.add(kind, 'sum', 1, Infinity))),
    )
    assert.deepEqual(
      sums.toSorted((a, b) => a - b),
      Array.from({ length: 2 * each }, (_, n) => n + 1),
    )
    assert.equal((await here.read(kind, 'sum'))?.value, 2 * each)
  })

  it('accept one of two writes to the same version', async () => {
    for (let version = 0; version < 50; version += 1) {
      const answers = await Promise.all(
        [here, there].map((kv, n) => kv.write(kind, { key: 'race', value: n }, version)),
      )
      assert.deepEqual(answers.filter(Boolean), [version + 1])
      assert.equal((await there.read(kind, 'race'))?.value, answers.indexOf(version + 1))
    }
  })

  it('are written in batches by both, each batch as a whole', async () => {
    const keys = Array.from({ length: 200 }, (_, n) => `many/${n}`)
    const writing = [here, there].flatMap((kv, from) =>
      Array.from({ length: 5 }, (_, round) => {
        const order = from === 0 ? keys : keys.toReversed()
        return kv.writeAll(
          kind,
          order.map((key) => ({ key, value: `${from} ${round}` })),
        )
      }),
    )
    await Promise.all(writing)
    const found = await here.list(kind, { prefix: 'many/', limit: 999 })
    assert.equal(found.length, keys.length)
    assert.equal(new Set(found.map(({ value, version }) => `${JSON.stringify(value)} at ${version}`)).size, 1)
  })

  it('are pruned by both at once, while others are created under the same keys', async () => {
    const past = Date.now() - 1_000
    const keys = Array.from({ length: 300 }, (_, n) => `old/${n}`)
    await here.writeAll(
      kind,
      keys.map((key) => ({ key, value: 'old', expiresAt: past })),
    )
    const renewed = keys.filter((_, n) => n % 3 === 0)
    await Promise.all([
      ...stores.map((store) => store.prune({ batch: 1 })),
      ...renewed.map((key, n) => (n % 2 === 0 ? here : there).write(kind, { key, value: 'new' }, 0)),
    ])
    const found = await there.list(kind, { prefix: 'old/', limit: 999 })
    assert.deepEqual(
      found.map(({ key }) => key),
      [...renewed].sort(),
    )
    assert.ok(found.every(({ value, version }) => value === 'new' && version === 1))
    const [row] = await database.query<{ count: string }>(
      `SELECT count(*) FROM parley.notes WHERE expires_at <= $1`,
      past,
    )
    assert.equal(Number(row?.count), 0)
  })

  it('are found by their index, in both orders', async () => {
    await database.query('ANALYZE parley.notes')
    const plan = async (order: string): Promise<string> => {
      const rows = await database.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT * FROM parley.notes WHERE kind = 'shared' AND key >= 'old/' AND key < 'old/z' ORDER BY key ${order} LIMIT 5`,
      )
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }
    assert.match(await plan(''), /Index Scan using notes_pkey/)
    assert.match(await plan('DESC'), /Index Scan Backward using notes_pkey/)
  })
})
