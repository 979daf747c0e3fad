import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { globalOptions } from './args/global-options.ts'
import { resolveSettings } from './args/resolve-settings.ts'
import { createStopSignal, Interrupted } from './stop-signal.ts'
import { createMemoryTerminal } from './testing/memory-terminal.ts'

const settings = (timeout?: string) => {
  const options = timeout === undefined ? [] : [{ name: 'timeout', value: timeout }]
  const args = { options, operands: [] }
  return resolveSettings({ options: globalOptions, command: 'send', args, environment: {}, files: [] })
}

describe('the signal of a command', () => {
  it('aborts at the end of --timeout, with a timeout error', async () => {
    const stop = createStopSignal(settings('1ms'), createMemoryTerminal())
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve))
    assert.equal((stop.signal.reason as { code: string }).code, 'A2ACLI_ERR_TIMEOUT')
    stop.dispose()
  })

  it('aborts at Ctrl-C, unless the command handles it', () => {
    const terminal = createMemoryTerminal()
    const stop = createStopSignal(settings(), terminal)
    const counts: number[] = []
    const remove = stop.terminal.onInterrupt((count) => counts.push(count))
    terminal.interrupt()
    assert.deepEqual([counts, stop.signal.aborted], [[1], false])
    remove()
    terminal.interrupt()
    assert.deepEqual([counts, stop.signal.reason instanceof Interrupted], [[1], true])
    stop.dispose()
  })

  it('keeps the getters of the terminal', () => {
    const stop = createStopSignal(settings(), createMemoryTerminal())
    assert.equal(stop.terminal.program, 'a2a')
    assert.ok(stop.terminal.input.readable)
    stop.dispose()
  })
})
