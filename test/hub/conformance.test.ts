/**
 * The judge on the hub as it starts without a configuration: its demo agents break no rule of the specification,
 * except the one that test/conformance/deviations.ts explains.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runConformance } from '@parley/cli/conformance'
import type { CheckResult, ConformanceOptions, ConformanceReport } from '@parley/cli/conformance'
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

describe('the hub with its demo agents', { timeout: 360_000 }, () => {
  it('breaks no must and no should, over every interface of its cards [full]', async () => {
    const hub = await startHub(await newFolder(), [], { GRPC_PORT: '0' })
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

  // The first is the cheapest part of the second.
  const commands: readonly (readonly [what: string, undecided: number, args: readonly string[]])[] = [
    ['over one interface, with at most 5 undecided musts', 5, ['--a2a-version', '1.0', '--binding', 'jsonrpc']],
    ['over every interface, with at most 15 undecided musts [full]', 15, ['--parallel', '7']],
  ]
  for (const [what, mostUndecided, args] of commands) {
    it(`passes the command of the README ${what}`, async () => {
      const hub = await startHub(await newFolder(), [], { GRPC_PORT: '0' })
      const { code, report } = await judgeRehearsal(hub.url, args)
      await hub.stop()
      assert.deepEqual(failed(report.results), [])
      assert.equal(code, 0)
      const interfaces = report.targets.map(({ version, binding }) => `${version} ${binding}`)
      // gRPC of 0.x has no tenant, so only the card of the default agent offers it.
      const others = ['0.3 JSONRPC', '0.3 HTTP+JSON', '0.2 JSONRPC', '0.2 HTTP+JSON']
      const all = ['1.0 JSONRPC', '1.0 HTTP+JSON', '1.0 GRPC', ...others]
      assert.deepEqual(interfaces, args.includes('jsonrpc') ? ['1.0 JSONRPC'] : all)
      const undecided = report.results.filter(({ outcome, level }) => outcome === 'undecided' && level === 'must')
      assert.ok(undecided.length <= mostUndecided, JSON.stringify(undecided.map(({ id, note }) => [id, note])))
      for (const { id, note = '' } of undecided) assert.notEqual(note, '', id)
      const known = report.results.filter((result) => result.accepted !== undefined).map(({ id }) => id)
      assert.deepEqual(new Set(known), new Set(['version.missing-is-not-1.0']))
    })
  }

  it('breaks none without an exception if it is strict about versions', async () => {
    const agents = 'agents: { echo: { kind: demo, agent: echo } }'
    const hub = await startHub(await newFolder({ 'parley.yaml': `strict: true\n${agents}\n` }))
    const { results } = await runConformance(`${hub.url}/a2a/echo`, { only: ['version'], versions: ['1.0'] })
    assert.deepEqual(failed(results), [])
    assert.ok(results.some(({ id, outcome }) => id === 'version.missing-is-not-1.0' && outcome === 'pass'))
    await hub.stop()
  })
})

const judgeProgram = join(import.meta.dirname, '../../packages/cli/src/main.ts')

/** Runs the third command of the README. */
async function judgeRehearsal(url: string, args: readonly string[]) {
  const command = ['conformance', `${url}/a2a/rehearsal`, '--profile', 'parley-demo', '-o', 'json', ...args]
  const all = ['--conditions=parley-source', judgeProgram, ...command]
  return new Promise<{ readonly code: unknown; readonly report: ConformanceReport }>((resolve, reject) => {
    execFile(process.execPath, all, { maxBuffer: 16_000_000 }, (reason, stdout, stderr) => {
      if (stdout === '') reject(new Error(stderr))
      else resolve({ code: reason?.code ?? 0, report: JSON.parse(stdout) as ConformanceReport })
    })
  })
}
