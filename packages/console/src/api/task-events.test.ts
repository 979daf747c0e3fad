import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadTaskEvents } from './task-events.ts'

describe('the events of a task', () => {
  it('are loaded page by page, up to a limit', async (t) => {
    const pages: Readonly<Record<string, object>> = {
      '0': { events: [{ seq: 1 }, { seq: 2 }], after: 2 },
      '2': { events: [{ seq: 3 }] },
    }
    t.mock.method(globalThis, 'fetch', async (input: unknown) => {
      const { searchParams } = new URL(String(input), 'http://hub')
      return Response.json(pages[searchParams.get('after') ?? ''])
    })
    assert.deepEqual(
      (await loadTaskEvents('t1'))?.map(({ seq }) => seq),
      [1, 2, 3],
    )
    assert.equal(await loadTaskEvents('t1', { maxEvents: 2 }), undefined)
  })
})
