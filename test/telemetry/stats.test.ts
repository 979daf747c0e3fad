/** The statistics of a hub survive a restart, and a kill without what was not yet written. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { openHistory } from '../../packages/hub/src/telemetry/testing/observed-history.ts'
import { newFolder, openHub } from './open-hub.ts'

const agents = {
  echo: { kind: 'module', path: './agents/echo.ts' },
  broken: { kind: 'module', path: './agents/broken.ts' },
  unused: { kind: 'module', path: './agents/echo.ts' },
}

describe('the statistics of a hub', () => {
  it('survive a restart, by agent and for the hub', async (t) => {
    const folder = await newFolder(t)
    const first = await openHub(t, { agents }, folder)
    const echo = await first.agent('echo')
    await echo.ask('one')
    await echo.ask('two')
    await (await first.agent('broken')).send('hi')
    const before = await first.admin('/admin/stats?range=24h')
    assert.deepEqual([before.totals.calls, before.totals.failed], [3, 1])
    const callersBefore = await first.admin('/admin/callers')
    assert.deepEqual([callersBefore.callers[0].caller, callersBefore.callers[0].calls], ['anonymous', 3])
    assert.equal(callersBefore.callers[0].errors, 1)
    await first.close()

    const second = await openHub(t, { agents }, folder)
    for (const range of ['1h', '24h', '7d', '30d']) {
      const { totals, steps } = await second.admin(`/admin/stats?range=${range}`)
      assert.deepEqual(totals, before.totals)
      assert.equal(steps.at(-1).calls + steps.at(-2).calls, 3)
    }
    assert.deepEqual(await second.admin('/admin/callers?range=30d'), callersBefore)
    const ofBroken = await second.admin('/admin/stats?range=1h&agent=broken')
    assert.deepEqual([ofBroken.agent, ofBroken.totals.calls, ofBroken.totals.failed], ['broken', 1, 1])
    const { agents: listed } = await second.admin('/admin/agents')
    const usage = Object.fromEntries(listed.map((one: { name: string; usage: object }) => [one.name, one.usage]))
    assert.deepEqual([usage.echo.calls, usage.echo.errors], [2, 0])
    assert.deepEqual([usage.broken.calls, usage.broken.errors], [1, 1])
    assert.deepEqual(usage.unused, { calls: 0, errors: 0 })
    assert.ok(Date.parse(usage.echo.lastUsedAt) <= Date.parse(usage.broken.lastUsedAt))
  })

  it('survive a kill, except for what was counted since the last write', async (t) => {
    const file = join(await newFolder(t), 'parley.db')
    const program = join(import.meta.dirname, 'killed-history.ts')
    const child = spawn(process.execPath, ['--conditions=parley-source', program, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    t.after(() => child.kill('SIGKILL'))
    await once(createInterface({ input: child.stdout }), 'line')
    child.kill('SIGKILL')
    await exited
    const store = sqliteStore({ file })
    t.after(() => store.close())
    const history = openHistory({ kv: store.kv })
    assert.equal((await history.series('1h')).totals.requests, 1)
    assert.equal((await history.usage()).get('echo')?.calls, 1)
  })
})
