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
