import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { splitLines } from './lines.ts'

async function* bytes(...chunks: readonly (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
const read = async (limit: number, ...chunks: readonly (string | Uint8Array)[]) =>
  (await Array.fromAsync(splitLines(bytes(...chunks), limit))).map(({ text, endsAt }) => `${text}|${endsAt}`)

describe('lines', () => {
  it('are cut at line breaks, wherever the chunks are cut', async () => {
    assert.deepEqual(await read(100, 'on', 'e\ntw', 'o\r\n', '\nthree\n'), [
      'one|break',
      'two|break',
      '|break',
      'three|break',
    ])
  })

  it('say that the last one has no end', async () => {
    assert.deepEqual(await read(100, 'one\n{"ty'), ['one|break', '{"ty|end'])
  })

  it('join characters that the pipe has cut, and replace bytes that are none', async () => {
    const [first, second] = [Buffer.from('é\n').subarray(0, 1), Buffer.from('é\n').subarray(1)]
    assert.deepEqual(await read(100, first, second, new Uint8Array([0x61, 0xff, 0x0a])), ['é|break', 'a\u{fffd}|break'])
  })

  it('stop at a bound, with or without a break after it', async () => {
    assert.deepEqual(await read(3, 'abc\nabcd\nx\n'), ['abc|break', '|limit'])
    assert.deepEqual(await read(3, 'ab', 'cd', 'ef'), ['|limit'])
  })
})
