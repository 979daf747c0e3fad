/** The keys of the keyring. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { KeyRow } from '../../stores/store.ts'
import { type OpenStore, reopened, withStore } from './harness.ts'

const key = (id: string, createdAt: number, material = `secret of ${id}`): KeyRow => ({
  id,
  purpose: 'page-token',
  material,
  createdAt,
})

export function keyContract(open: OpenStore): void {
  describe('keys', () => {
    it(
      'are listed oldest first, and deleted by id',
      withStore(open, async ({ store }) => {
        assert.deepEqual(await store.keys.list(), [])
        const rows = [key('b', 2), key('c', 3), key('a', 1)]
        for (const row of rows) await store.keys.save(row)
        assert.deepEqual(await store.keys.list(), [rows[2], rows[0], rows[1]])
        await store.keys.delete('b')
        await store.keys.delete('never there')
        assert.deepEqual(await store.keys.list(), [rows[2], rows[1]])
      }),
    )

    it(
      'keep the first saved value, so that two creators agree',
      withStore(open, async ({ store }) => {
        await Promise.all([store.keys.save(key('k', 1, 'first')), store.keys.save(key('k', 1, 'second'))])
        await store.keys.save(key('k', 2, 'third'))
        assert.deepEqual(await store.keys.list(), [key('k', 1, 'first')])
      }),
    )

    it(
      'get new material all at once, or none of them if one has changed',
      withStore(open, async ({ store }) => {
        const { keys } = store
        // Optional: without it, the master key of the store cannot be rotated.
        if (keys.replace === undefined) return
        await keys.save(key('a', 1, 'one'))
        await keys.save(key('b', 2, 'two'))
        const change = (id: string, from: string, to: string) => ({ id, from, to })
        assert.equal(await keys.replace([change('a', 'one', 'ONE'), change('b', 'two', 'TWO')]), true)
        assert.deepEqual(await keys.list(), [key('a', 1, 'ONE'), key('b', 2, 'TWO')])
        assert.equal(await keys.replace([change('a', 'ONE', 'uno'), change('b', 'two', 'dos')]), false)
        assert.equal(await keys.replace([change('a', 'ONE', 'uno'), change('c', 'none', 'tres')]), false)
        assert.deepEqual(await keys.list(), [key('a', 1, 'ONE'), key('b', 2, 'TWO')])
      }),
    )
  })
}

export function keyReopenContract(open: OpenStore): void {
  it(
    'are the same after reopening the data',
    withStore(open, async (opened) => {
      await opened.store.keys.save(key('k', 1))
      const again = await reopened(opened)
      assert.deepEqual(await again.keys.list(), [key('k', 1)])
    }),
  )
}
