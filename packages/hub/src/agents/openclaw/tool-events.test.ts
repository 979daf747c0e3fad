import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toolReport } from './tool-report.ts'

const start = { phase: 'start', name: 'exec', toolCallId: 'c1', args: { command: 'echo hi' } }
const result = {
  phase: 'result',
  name: 'exec',
  toolCallId: 'c1',
  isError: false,
  result: { content: [{ text: 'hi' }], details: { cwd: '/home' } },
}
const calls = (...reports: unknown[]): unknown[] =>
  reports.map((report) => (report as { metadata?: { toolCall: unknown } } | undefined)?.metadata?.toolCall)

describe('a tool that is used', () => {
  it('is reported by name, when it begins and when it ends [S4-17]', () => {
    const reported = new Set<string>()
    assert.deepEqual(
      calls(toolReport('tool', start, false, reported, 'names'), toolReport('tool', result, false, reported, 'names')),
      [
        { id: 'c1', name: 'exec', phase: 'start' },
        { id: 'c1', name: 'exec', phase: 'result', isError: false },
      ],
    )
  })

  it('is reported in full only if the entry enables it, and never with the paths of the machine', () => {
    const reported = new Set<string>()
    assert.deepEqual(
      calls(toolReport('tool', start, false, reported, 'full'), toolReport('tool', result, false, reported, 'full')),
      [
        { id: 'c1', name: 'exec', phase: 'start', args: { command: 'echo hi' } },
        { id: 'c1', name: 'exec', phase: 'result', isError: false, result: [{ text: 'hi' }] },
      ],
    )
    assert.equal(toolReport('tool', start, false, new Set(), 'none'), undefined)
  })

  it('is reported by other events if another process started the run', () => {
    const reported = new Set<string>()
    const item = { kind: 'tool', toolCallId: 'c1', name: 'exec', phase: 'start' }
    assert.deepEqual(
      calls(
        toolReport('item', item, true, reported, 'names'),
        toolReport('item', { ...item, phase: 'end', status: 'failed' }, true, reported, 'names'),
      ),
      [
        { id: 'c1', name: 'exec', phase: 'start' },
        { id: 'c1', name: 'exec', phase: 'result', isError: true },
      ],
    )
    assert.equal(toolReport('item', { ...item, kind: 'preamble' }, true, new Set(), 'names'), undefined)
  })

  it('is reported once, and its progress not at all', () => {
    const reported = new Set<string>()
    assert.notEqual(toolReport('tool', start, false, reported, 'names'), undefined)
    assert.equal(toolReport('tool', start, false, reported, 'names'), undefined)
    assert.equal(toolReport('tool', { ...start, phase: 'update' }, false, reported, 'names'), undefined)
  })

  it('is reported with bounded arguments and results', () => {
    const long = { ...start, args: { text: 'x'.repeat(100_000) } }
    const [call] = calls(toolReport('tool', long, false, new Set(), 'full'))
    assert.ok(JSON.stringify(call).length < 5_000)
  })
})
