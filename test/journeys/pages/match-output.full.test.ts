/** The comparison would notice a page that shows something else. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertOutput, hasPrinted } from './match-output.ts'
import { pageSteps } from './page-steps.ts'

describe('the output on a page', () => {
  const text = (content: string) => ({ format: 'text', content }) as const
  const json = (content: string) => ({ format: 'json', content }) as const

  it('is the whole output of a command, except for …', () => {
    assertOutput('Hello\nid 17\n', text('Hello\nid …\n'))
    assertOutput('a\nb\nc\nd\n', text('a\n…\nd\n'))
    assertOutput('a\nb\nc\n', text('a\n…\n'))
    assert.throws(() => assertOutput('Hello\nid 17\nmore\n', text('Hello\nid …\n')))
    assert.throws(() => assertOutput('Hallo\n', text('Hello\n')))
    assert.throws(() => assertOutput('a.c', text('abc')))
  })

  it('is a part of what a program prints that keeps running', () => {
    const printed = 'starting\nlistening on 3000\nnoise\nready\n'
    assert.ok(hasPrinted(printed, text('listening on …\nready\n')))
    assert.ok(!hasPrinted(printed, text('ready\nlistening on …\n')))
    assert.ok(!hasPrinted(printed, text('ready now\n')))
  })

  it('is compared by value if it is JSON', () => {
    const actual = '{"id":"17","parts":[{"text":"Hello"}]}'
    assertOutput(actual, json('{ "parts": [{ "text": "Hello" }], "id": "…" }'))
    assertOutput(actual, json('{ "id": "…", "…": "…" }'))
    for (const wrong of ['{ "id": "…" }', '{ "id": "18", "…": "…" }', '{ "id": "17", "parts": [] }', '[]']) {
      assert.throws(() => assertOutput(actual, json(wrong)), wrong)
    }
    assert.throws(() => assertOutput('not JSON', json('{}')))
  })
})

describe('the steps of a page', () => {
  it('are its files and commands, each command with its output', () => {
    const page = [
      '```ts [a.ts]\n1\n```',
      '```sh [terminal 1]\nnode a.ts\n```',
      'It prints:\n```text\nHi\n```',
      '```sh\ncat b\n```',
      '```yaml\nan: illustration\n```',
      '```text [terminal 1]\nBye\n```',
      '- in a list:\n  ```sh\n  ls\n  ```',
    ]
    assert.deepEqual(pageSteps(page.join('\n\n')), [
      { kind: 'file', name: 'a.ts', content: '1\n' },
      { kind: 'command', script: 'node a.ts\n', terminal: 'terminal 1', output: { format: 'text', content: 'Hi\n' } },
      { kind: 'command', script: 'cat b\n' },
      { kind: 'shown', terminal: 'terminal 1', output: { format: 'text', content: 'Bye\n' } },
      { kind: 'command', script: 'ls\n' },
    ])
  })
})
