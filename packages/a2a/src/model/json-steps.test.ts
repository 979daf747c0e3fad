import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeTextInSteps, encodeJsonInSteps, parseJsonInSteps, writeJsonInSteps } from './json-steps.ts'

const soon = (): Promise<void> => Promise.resolve()
const long = (text: string): string => text.repeat(Math.ceil(400_000 / text.length))

/** Each is larger than a piece, and most hold a character that no piece may end in. */
const values: Readonly<Record<string, unknown>> = {
  'a text': long('abc '),
  'escapes at every position': long('\n"\\\\u\t'),
  'control characters': long('\u0000\u001f'),
  'two halves of a character': long('a😀'),
  'half a character': `${long('x')}\ud83d`,
  backslashes: long('\\'),
  'long keys': { [long('k"')]: 1, after: 2 },
  'a task': {
    id: 't',
    status: { state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: long('é\r\n') }] } },
    artifacts: [
      { artifactId: 'a', parts: [{ text: long('漢') }, { text: 'short' }, { data: { deep: [[long('x')]] } }] },
    ],
    history: Array.from({ length: 9_000 }, (_, index) => ({ messageId: String(index), parts: [{ text: '"]},' }] })),
  },
  'what JSON leaves out': {
    none: undefined,
    run: soon,
    list: [undefined, soon, Number.NaN],
    at: new Date(0),
    text: long('x'),
  },
  'empty containers': [[], {}, long('x'), [], {}],
  numbers: Array.from({ length: 60_000 }, (_, index) => index / 7),
  'a member named __proto__': JSON.parse(`{"__proto__": {"a": 1}, "long": "${long('x')}"}`) as unknown,
  'nested arrays': JSON.parse(`${'['.repeat(400)}"${long('x')}"${']'.repeat(400)}`) as unknown,
  'a short text': 'short',
  nothing: null,
}

describe('JSON in steps', () => {
  for (const [name, value] of Object.entries(values)) {
    it(`writes and reads ${name} as JSON does`, async () => {
      const text = JSON.stringify(value)
      const bytes = await encodeJsonInSteps(value, soon)
      assert.ok(Buffer.from(bytes).equals(Buffer.from(text)), 'the bytes differ')
      assert.equal(await decodeTextInSteps(bytes, soon), Buffer.from(text).toString())
      assert.equal(await writeJsonInSteps(value, soon), text)
      assert.deepEqual(await parseJsonInSteps(text, soon), JSON.parse(text))
      const spaced = JSON.stringify(value, null, '\t')
      assert.deepEqual(await parseJsonInSteps(` \n${spaced}\r `, soon), JSON.parse(spaced))
    })
  }

  it('reads bytes that are not UTF-8 as a decoder of the whole would', async () => {
    const sequences = [[0x80], [0xff], [0xe2, 0x82], [0xf0, 0x9f, 0x98, 0x80, 0x80], [0xc3, 0xa9, 0xed, 0xa0, 0x80]]
    for (const sequence of sequences) {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => sequence[index % sequence.length] as number)
      for (let shift = 0; shift < sequence.length; shift += 1) {
        const shifted = bytes.subarray(shift)
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(shifted)
        assert.ok((await decodeTextInSteps(shifted, soon)) === text, `${sequence.join()} from ${shift}`)
      }
    }
  })

  it('rests between pieces', async () => {
    let steps = 0
    const nextStep = async (): Promise<void> => void (steps += 1)
    const items = Array.from({ length: 40 }, () => long('"escaped"'))
    const text = JSON.stringify(items)
    assert.deepEqual(await parseJsonInSteps(text, nextStep), items)
    assert.ok(steps > 0)
  })

  it('reads each character of deeply nested values a few times, not once for each level', async (t) => {
    let reads = 0
    const { charCodeAt } = String.prototype
    t.after(() => Object.assign(String.prototype, { charCodeAt }))
    Object.assign(String.prototype, {
      charCodeAt(this: string, index: number) {
        reads += 1
        return charCodeAt.call(this, index)
      },
    })
    const value = `${'[0,'.repeat(100)}${' '.repeat(150_000)}1${']'.repeat(100)}`
    const text = `[${value},{"key":${value}}]`
    assert.deepEqual(await parseJsonInSteps(text, soon), JSON.parse(text))
    assert.ok(reads < 6 * text.length, `${reads} reads of ${text.length} characters`)
  })

  const texts: Readonly<Record<string, string>> = {
    'ends in a string': `["${long('x')}`,
    'ends in an array': `["${long('x')}"`,
    'ends in an object': `{"a": "${long('x')}"`,
    'has a comma too many': `["${long('x')}",]`,
    'has two commas': `["${long('x')}",,1]`,
    'begins with a comma': `[,"${long('x')}"]`,
    'lacks a comma': `["${long('x')}" 1]`,
    'closes what was not opened': `["${long('x')}"}`,
    'continues after its end': `["${long('x')}"] 1`,
    'has a key without a value': `{"${long('x')}"}`,
    'has a key that is no string': `{1: "${long('x')}"}`,
    'has a line break in a string': `["${long('x')}\n"]`,
    'has an unknown escape': `["${long('x')}\\x"]`,
    'is a word': long('x'),
    'is empty': ' ',
  }
  for (const [name, text] of Object.entries(texts)) {
    it(`refuses a text that ${name}`, async () => {
      assert.throws(() => JSON.parse(text) as unknown, SyntaxError)
      await assert.rejects(() => parseJsonInSteps(text, soon), SyntaxError)
    })
  }
})
