/** A changed `retention` takes effect in a running hub, and its dry run says what goes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openTestHub, waitFor } from '../admin/test-hub.ts'

describe('retention of a running hub', () => {
  it('changes without a restart: the preview shows what goes, and it goes', async () => {
    const hub = await openTestHub({ config: { store: { url: 'sqlite:' } } })
    const tasks: string[] = []
    for (const text of ['one', 'two', 'three']) tasks.push((await hub.send('talker', text)).id)
    assert.deepEqual((await hub.ask('GET', '/admin/prune')).json.estimates, [])
    const { json: before } = await hub.ask('GET', '/admin/config')
    const text = `${before.text}\nretention: { max: 1 }\n`
    const { json: applied } = await hub.ask('PUT', '/admin/config', { text })
    assert.deepEqual(applied.effects.restart, [])
    assert.ok(applied.effects.applied.includes('retention'))
    const { json: preview } = await hub.ask('GET', '/admin/prune')
    // The sweep of the engine may have come first.
    for (const { kind, rows } of preview.estimates) if (kind === 'tasks') assert.equal(rows, 2)
    const { status } = await hub.ask('POST', '/admin/prune')
    assert.equal(status, 200)
    await waitFor(async () => {
      const states = await Promise.all(tasks.map(async (id) => (await hub.ask('GET', `/admin/tasks/${id}`)).status))
      return states.join() === '404,404,200' || undefined
    }, 'the oldest two are removed')
  })
})
