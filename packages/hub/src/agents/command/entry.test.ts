import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CommandEntry } from './entry.ts'
import { commandEntry } from './entry.ts'

const problems = (entry: object): readonly string[] =>
  (commandEntry.safeParse(entry).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)

describe('a command entry', () => {
  it('needs a program and nothing else', () => {
    assert.deepEqual(commandEntry.parse({ command: 'date' }), {
      command: ['date'],
      mode: 'turn',
      protocol: 'text',
      end: '',
      env: {},
      files: 'paths',
      resume: 'fail',
      processes: 8,
      idleTimeout: 600_000,
      killGrace: 5_000,
      outputLimit: 10_000_000,
    } satisfies CommandEntry)
  })

  it('says what is wrong with it', () => {
    assert.deepEqual(problems({}), ['command: give the program and its arguments as a list: [node, agent.js]'])
    assert.deepEqual(problems({ command: [''] }), ['command: name the program first'])
    assert.deepEqual(problems({ command: ['x'], files: 'base64' }), ['files: base64 needs protocol: jsonl'])
    assert.deepEqual(problems({ command: ['x', '{text}'], mode: 'keep' }), [
      'command: a program that is kept has no message in its arguments: use mode: turn',
    ])
    assert.deepEqual(problems({ command: ['x'], env: { 'A=B': '1' } }), ['env.A=B: Invalid key in record'])
    assert.deepEqual(problems({ command: ['x'], end: 'a\nb' }), ['end: give one line'])
    assert.deepEqual(problems({ command: ['x'], processes: 0 }), ['processes: give 1 or more'])
  })
})
