import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toolReport } from './run-events.ts'

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
  it('is told by name, when it begins and when it ends [S4-17]', () => {
    const told = new Set<string>()
    assert.deepEqual(
      calls(toolReport('tool', start, false, told, 'names'), toolReport('tool', result, false, told, 'names')),
      [
        { id: 'c1', name: 'exec', phase: 'start' },
        { id: 'c1', name: 'exec', phase: 'result', isError: false },
      ],
    )
  })

  it('is told in full only where the entry says so, and never with the paths of the machine', () => {
    const told = new Set<string>()
    assert.deepEqual(
      calls(toolReport('tool', start, false, told, 'full'), toolReport('tool', result, false, told, 'full')),
      [
        { id: 'c1', name: 'exec', phase: 'start', args: { command: 'echo hi' } },
        { id: 'c1', name: 'exec', phase: 'result', isError: false, result: [{ text: 'hi' }] },
      ],
    )
    assert.equal(toolReport('tool', start, false, new Set(), 'none'), undefined)
  })

  it('is told by other events where we did not begin the run', () => {
    const told = new Set<string>()
    const item = { kind: 'tool', toolCallId: 'c1', name: 'exec', phase: 'start' }
    assert.deepEqual(
      calls(
        toolReport('item', item, true, told, 'names'),
        toolReport('item', { ...item, phase: 'end', status: 'failed' }, true, told, 'names'),
      ),
      [
        { id: 'c1', name: 'exec', phase: 'start' },
        { id: 'c1', name: 'exec', phase: 'result', isError: true },
      ],
    )
    assert.equal(toolReport('item', { ...item, kind: 'preamble' }, true, new Set(), 'names'), undefined)
  })

  it('is told once, and its progress not at all', () => {
    const told = new Set<string>()
    assert.notEqual(toolReport('tool', start, false, told, 'names'), undefined)
    assert.equal(toolReport('tool', start, false, told, 'names'), undefined)
    assert.equal(toolReport('tool', { ...start, phase: 'update' }, false, told, 'names'), undefined)
  })

  it('is told of briefly, however much it says', () => {
    const long = { ...start, args: { text: 'x'.repeat(100_000) } }
    const [call] = calls(toolReport('tool', long, false, new Set(), 'full'))
    assert.ok(JSON.stringify(call).length < 5_000)
  })
})
