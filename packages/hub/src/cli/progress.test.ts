import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createProgress } from './progress.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

describe('the progress of a command', () => {
  it('is one line that is written again, ten times a second at most', () => {
    const terminal = createTestTerminal()
    let time = 0
    const progress = createProgress(terminal, { label: 'Reading', total: 200, now: () => time })
    progress.update(0)
    progress.update(10)
    time += 100
    progress.update(50, '5 tasks')
    progress.clear()
    assert.deepEqual(
      terminal.progress.map((text) => text.replaceAll('\r\u001b[K', '<')),
      ['<Reading 0 %', '<Reading 25 % (5 tasks)', '<'],
    )
  })

  it('is silent unless stderr is a terminal', () => {
    const terminal = { ...createTestTerminal(), isErrorTerminal: false }
    const progress = createProgress(terminal, { label: 'Reading' })
    progress.update(1)
    progress.clear()
    assert.deepEqual(terminal.progress, [])
  })
})
