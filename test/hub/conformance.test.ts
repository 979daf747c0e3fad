/**
 * The judge on the hub as it starts without a configuration: its demo agents break no rule of the specification,
 * except the one that test/conformance/deviations.ts explains.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runConformance } from '@parley/cli/conformance'
import type { CheckResult, ConformanceOptions } from '@parley/cli/conformance'
import { newFolder, startHub } from './running-hub.ts'

/** Quick mode checks 1.0; test/conformance/live-agent.test.ts checks every version of the server. */
const isFullMode = process.env['PARLEY_FULL'] === '1'
const accepted = {
  'version.missing-is-not-1.0': 'B-10: without a version the method decides; a header always wins',
}
const options: ConformanceOptions = { parallel: 4, quietMs: 50, maxMessages: 2_000, profile: { accepted } }
const failed = (results: readonly CheckResult[]): readonly string[] =>
  results
    .filter((result) => result.outcome === 'fail' && result.level !== 'info' && result.accepted === undefined)
    .map(({ level, version, binding, id, note }) => `${level} ${version} ${binding} ${id}: ${note}`)

describe('the hub with its demo agents', { timeout: 180_000 }, () => {
  it('breaks no must and no should, over every interface of its cards [full]', async () => {
    const hub = await startHub(await newFolder())
    const judge = (agent: string, more: ConformanceOptions) =>
      runConformance(`${hub.url}/a2a/${agent}`, { ...options, ...more })
    const { targets, results } = await judge('echo', isFullMode ? {} : { versions: ['1.0'] })
    assert.ok(targets.length >= (isFullMode ? 6 : 2), JSON.stringify(targets))
    assert.deepEqual(failed(results), [])
    const asks = { accepted, messages: { inputRequired: { text: 'A table, please' } } }
    const concierge = await judge('concierge', { profile: asks, versions: ['1.0'], bindings: ['JSONRPC'] })
    assert.deepEqual(failed(concierge.results), [])
    await hub.stop()
  })

  it('breaks none without an exception if it is strict about versions', async () => {
    const agents = 'agents: { echo: { kind: demo, agent: echo } }'
    const hub = await startHub(await newFolder({ 'parley.yaml': `strict: true\n${agents}\n` }))
    const { results } = await runConformance(`${hub.url}/a2a/echo`, { only: ['version'], versions: ['1.0'] })
    assert.deepEqual(failed(results), [])
    assert.ok(results.some(({ id, outcome }) => id === 'version.missing-is-not-1.0' && outcome === 'pass'))
    await hub.stop()
  })
})
