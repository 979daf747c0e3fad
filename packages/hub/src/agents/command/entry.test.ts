import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CommandEntry, commandEntry } from './entry.ts'

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
    assert.deepEqual(problems({}), ['command: must be a list of the program and its arguments: [node, agent.js]'])
    assert.deepEqual(problems({ command: [''] }), ['command: must start with the program'])
    assert.deepEqual(problems({ command: ['x'], files: 'base64' }), ['files: base64 requires protocol: jsonl'])
    assert.deepEqual(problems({ command: ['x', '{text}'], mode: 'keep' }), [
      'command: mode: keep cannot pass the message as an argument: use mode: turn',
    ])
    assert.deepEqual(problems({ command: ['x'], env: { 'A=B': '1' } }), ['env.A=B: Invalid key in record'])
    assert.deepEqual(problems({ command: ['x'], end: 'a\nb' }), ['end: must be one line'])
    assert.deepEqual(problems({ command: ['x'], processes: 0 }), ['processes: must be at least 1'])
  })
})
