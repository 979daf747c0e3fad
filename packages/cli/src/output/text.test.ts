import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { artifactText, partsText, sizeOfBase64 } from './parts.ts'
import { taskText } from './task-text.ts'
import { formatSize } from './printer.ts'
import { block, field } from './text.ts'

const options = { isVerbose: false, program: 'a2a', resumeArgs: '-a localhost:3000' }

describe('the text format', () => {
  it('writes one line per value, and an indented block for several lines, which a blank line ends', () => {
    assert.equal(field('Name', 'Ada'), 'Name: Ada\n')
    assert.equal(field('Text', 'a\n\nTask ID: forged'), 'Text:\n  a\n  \n  Task ID: forged\n\n')
    assert.equal(block('Data', '{}'), 'Data:\n  {}\n\n')
    assert.deepEqual([field('Text', 'a\n'), field('Text', 'a\nb\n')], ['Text: a\n', 'Text:\n  a\n  b\n\n'])
    assert.equal(field('Text', ''), 'Text: ""\n')
  })

  it('shows control characters of an agent instead of passing them to the terminal', () => {
    assert.equal(
      field('Text', '\u001b[31mred\u009b \u202eevil\u0000'),
      'Text: \\u001b[31mred\\u009b \\u202eevil\\u0000\n',
    )
    assert.equal(field('Text', 'a\r\nb\tc'), 'Text:\n  a\n  b    c\n\n')
    // A carriage return alone would overwrite the line.
    assert.equal(field('Text', 'a\rb'), 'Text:\n  a\n  b\n\n')
  })

  it('shows every kind of part', () => {
    const text = partsText(
      [
        { text: 'hi' },
        { text: '' },
        { data: { a: [1, null] } },
        { data: null },
        { raw: Buffer.alloc(1_500).toString('base64'), filename: 'chart.png', mediaType: 'image/png' },
        { url: 'https://files.example.com/terms.pdf', filename: 'terms.pdf' },
      ],
      options,
    )
    assert.equal(
      text,
      'Text: hi\nText: ""\nData:\n  {\n    "a": [\n      1,\n      null\n    ]\n  }\n\nData: null\n' +
        'File: chart.png (image/png, 1.5 kB)\nFile: terms.pdf (unknown type, https://files.example.com/terms.pdf)\n',
    )
  })

  it('shows ids, state, history, message and artifacts of a task, and the commands that continue it', () => {
    const text = taskText(
      {
        id: 't1',
        contextId: 'c1',
        status: {
          state: 'TASK_STATE_INPUT_REQUIRED',
          message: { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'Which?' }] },
        },
        history: [{ messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Book' }] }],
        artifacts: [{ artifactId: 'a1', name: 'plan', parts: [{ raw: 'AAAA', filename: 'x' }] }],
      },
      options,
    )
    assert.deepEqual(text.trimEnd().split('\n'), [
      'Task ID: t1',
      'Context ID: c1',
      'State: TASK_STATE_INPUT_REQUIRED',
      'History: ROLE_USER',
      'Text: Book',
      'Message: ROLE_AGENT',
      'Text: Which?',
      'Artifact: plan (a1)',
      'File: x (unknown type, 3 B)',
      'Download: a2a task download -a localhost:3000 t1',
      'Resume: a2a send -a localhost:3000 --task-id t1 "<reply>"',
    ])
  })

  it('quotes an id that a shell would read as more than a word', () => {
    const status = { state: 'TASK_STATE_INPUT_REQUIRED' } as const
    assert.match(taskText({ id: "x'; rm -rf /", status }, options), /--task-id 'x'\\''; rm -rf \/' "<reply>"/)
  })

  it('adds details if they are asked for', () => {
    const artifact = { artifactId: 'a', parts: [{ text: 'x', mediaType: 'text/markdown', metadata: { k: 1 } }] }
    assert.equal(artifactText(artifact, options), 'Artifact: a\nText: x\n')
    assert.match(artifactText(artifact, { isVerbose: true }), /Media Type: text\/markdown\nMetadata:\n {2}\{\n/)
  })

  it('counts the bytes of Base64 with and without padding', () => {
    for (const text of ['', 'a', 'ab', 'abc', 'abcd']) {
      const raw = Buffer.from(text).toString('base64')
      assert.deepEqual([raw, raw.replaceAll('=', '')].map(sizeOfBase64), [text.length, text.length])
    }
  })

  it('writes sizes with their unit', () => {
    assert.deepEqual([0, 999, 1_000, 1_234_567].map(formatSize), ['0 B', '999 B', '1.0 kB', '1.2 MB'])
  })
})
