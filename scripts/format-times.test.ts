import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatSlowestFiles, formatSuiteTimes } from './format-times.ts'

describe('the times of npm test', () => {
  it('are a line for each suite, the longest first, and the sum', () => {
    assert.equal(
      formatSuiteTimes({ units: 60_540, check: 17_700, console: 406_400, setup: 12 }, 300_000),
      [
        'suite         time',
        'console    406.4 s  84 %',
        'units       60.5 s  12 %',
        'check       17.7 s   4 %',
        'setup        0.0 s   0 %',
        'sum        484.7 s  (8.1 min)',
        'took       300.0 s  (5.0 min)',
      ].join('\n'),
    )
  })

  it('are the ten slowest files, with their paths in the repository', () => {
    const fileMs = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`/repo/test/${n}.test.ts`, n * 1000]))
    const lines = formatSlowestFiles(fileMs, '/repo').split('\n')
    assert.equal(lines.length, 11)
    assert.deepEqual([lines[1], lines[10]], ['   11.0 s  test/11.test.ts', '    2.0 s  test/2.test.ts'])
  })
})
