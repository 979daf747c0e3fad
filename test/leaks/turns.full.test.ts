/**
 * Guards against: memory held for tasks without a running turn. In other servers each task that
 * waited for input, and each agent that threw, left its event bus behind.
 * Counted in a separate process that can trigger garbage collection.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'

interface Count {
  readonly made: number
  readonly kept: number
}
interface Report {
  readonly waiting: Count
  readonly thrown: Count
  readonly canceled: Count
  readonly streams: Count
  readonly timers: number
  readonly streamsAgain: number
  readonly bytesPerTask: number
}

describe('idle tasks', () => {
  it('cost only their record: 300 tasks that wait, 250 agents that threw, 300 readers that left', async () => {
    const child = spawn(
      process.execPath,
      ['--conditions=parley-source', '--expose-gc', join(import.meta.dirname, 'count-turns.ts')],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: 120_000,
      },
    )
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    // It exits on its own: no timer and no promise may keep a process alive.
    const code = await new Promise((resolve) => child.once('close', resolve))
    assert.equal(code, 0)
    const report = JSON.parse(text) as Report
    // The last of each may still be in a register or on the stack.
    for (const [what, { made, kept }] of Object.entries({
      waiting: report.waiting,
      thrown: report.thrown,
      canceled: report.canceled,
      streams: report.streams,
    })) {
      assert.ok(made >= 250 && kept <= 5, `${what}: ${kept} of ${made} turns are still held`)
    }
    assert.ok(report.timers <= 1, `${report.timers} timers are running`)
    assert.equal(report.streamsAgain, 300, 'those who left still hold their places')
    assert.ok(report.bytesPerTask < 200, `each task leaves ${report.bytesPerTask} bytes behind`)
  })
})
