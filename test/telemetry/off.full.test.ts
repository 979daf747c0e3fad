/** Unconfigured modules are not loaded. In a separate process, because tests of one process share modules. */
import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { describe, it } from 'node:test'

const loaded = new Set<string>()
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const [, name] = /node_modules\/(@opentelemetry\/[^/]+)/.exec(found.url) ?? []
    if (name !== undefined) loaded.add(name)
    return found
  },
})

describe('a hub without a collector', () => {
  it('loads no OpenTelemetry module; one with an unreachable collector does, and works', async (t) => {
    const { openHub } = await import('./open-hub.ts')
    const agents = { echo: { kind: 'module', path: './agents/echo.ts' } }
    const off = await openHub(t, { agents, telemetry: { traces: false, metrics: false } })
    assert.equal(await (await off.agent('echo')).ask('hi'), 'echo hi')
    const plain = await openHub(t, { agents })
    assert.equal(await (await plain.agent('echo')).ask('hi'), 'echo hi')
    assert.deepEqual([...loaded], [])
    assert.equal((await fetch(`${off.hub.url}/metrics`)).status, 404)
    const unreachable = { url: 'http://127.0.0.1:9' }
    const on = await openHub(t, { agents, telemetry: { otlp: unreachable } })
    assert.equal(await (await on.agent('echo')).ask('hi'), 'echo hi')
    assert.ok(loaded.has('@opentelemetry/sdk-trace'))
  })
})
