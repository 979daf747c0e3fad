import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startProgram } from './program.ts'
import { createErrorOutput } from './error-output.ts'

function setUp(linesPerMinute?: number) {
  const lines: string[] = []
  let dropped = 0
  let time = 0
  const output = createErrorOutput({
    onLine: (line) => void lines.push(line),
    onDropped: () => void (dropped += 1),
    now: () => time,
    ...(linesPerMinute !== undefined ? { linesPerMinute } : {}),
  })
  return {
    lines,
    dropped: () => dropped,
    pass: (ms: number) => void (time += ms),
    push: (text: string) => output.push(Buffer.from(text)),
    output,
  }
}

/** A chunk that counts how often it was searched for a line break. */
function watchedChunk(text: string): { readonly chunk: Uint8Array; searched(): number } {
  const chunk = Buffer.from(text)
  let searched = 0
  chunk.indexOf = ((value: number, from?: number) => {
    searched += 1
    return Buffer.prototype.indexOf.call(chunk, value, from)
  }) as Buffer['indexOf']
  return { chunk, searched: () => searched }
}

describe('the error output of a program', () => {
  it('is reported line by line, wherever the pipe splits it; empty lines are left out, long ones cut off', () => {
    const { lines, push, output } = setUp()
    for (const text of ['on', 'e\r\n\n  \ntw', 'o\n', 'x'.repeat(5_000), 'y\nlast']) push(text)
    output.end()
    assert.deepEqual(lines, ['one', 'two', 'x'.repeat(4_000), 'last'])
  })

  it('is dropped beyond its bound without being looked at', () => {
    const { lines, dropped, push, output } = setUp(2)
    push('1\n2\n3\n4\n')
    assert.deepEqual([lines, dropped()], [['1', '2'], 1])
    const { chunk, searched } = watchedChunk('5\n6\n'.repeat(10_000))
    output.push(chunk)
    output.end()
    assert.deepEqual([lines.length, dropped(), searched()], [2, 1, 0])
  })

  it('is reported again a minute later, from the next whole line on', () => {
    const { lines, dropped, push, pass } = setUp(1)
    push('1\n2\n')
    pass(59_999)
    push('3\nbegin')
    pass(1)
    push('ning of 4\n5\n6\n')
    assert.deepEqual([lines, dropped()], [['1', '5'], 2])
  })

  it('never holds the program up', async () => {
    const lines: string[] = []
    let dropped = 0
    const flood = 'for (let n = 0; n < 64; n += 1) process.stderr.write("words of a line\\n".repeat(16384))'
    const program = startProgram({
      command: [process.execPath, '-e', `${flood}; process.stdout.write("done")`],
      cwd: process.cwd(),
      env: {},
      graceMs: 1_000,
      onError: (line) => void lines.push(line),
      onErrorsDropped: () => void (dropped += 1),
    })
    const said = (await Array.fromAsync(program.output)).map((chunk) => Buffer.from(chunk).toString()).join('')
    assert.deepEqual(await program.exited, { code: 0 })
    assert.equal(said, 'done')
    // 200 a minute, however long the machine takes, out of a million.
    assert.ok(lines.length >= 200 && lines.length < 100_000, `${lines.length} lines`)
    assert.ok(dropped >= 1)
  })
})
