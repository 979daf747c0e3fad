import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Turn } from '@parley/a2a'
import { commandEntry } from './entry.ts'
import { type ProgramInput, commandLine, messageLine, messageText, sessionEnv, turnEnv } from './write-input.ts'

const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

function telling(fields: Partial<Turn> = {}, more: Partial<ProgramInput> = {}): ProgramInput {
  const turn = {
    text: 'hello {taskId}; rm -rf $HOME\0',
    message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }, { data: { n: 1 } }], metadata: { a: 1 } },
    task: { id: 't1', contextId: 'c\x001', state: 'TASK_STATE_WORKING' },
    caller: { id: 'alice' },
    tenant: '',
    resumed: undefined,
    traceparent,
    tracestate: 'a=b',
    ...fields,
  } as Turn
  return { turn, session: 'f00', files: [], dir: undefined, state: undefined, ...more }
}

describe('the input of a program', () => {
  it('stands in its arguments as it is, once, and without what would end it', () => {
    const entry = commandEntry.parse({ command: ['say', '{text}', '--task={taskId}', '{other}', '{dir}'] })
    const command = commandLine(entry, telling({}, { dir: '/tmp/x' }))
    assert.deepEqual(command, ['say', 'hello {taskId}; rm -rf $HOME', '--task=t1', '{other}', '/tmp/x'])
  })

  it('stands in its environment: whose conversation it is, and of a turn which', () => {
    assert.deepEqual(sessionEnv(telling()), {
      A2A_SESSION: 'f00',
      A2A_CONTEXT_ID: 'c1',
      A2A_CALLER: 'alice',
      A2A_TENANT: '',
    })
    const files = [
      { name: 'a', path: '/d/1-a' },
      { name: 'b', path: '/d/2-b' },
    ]
    const { A2A_TASK_ID, A2A_MESSAGE_ID, A2A_DIR, A2A_FILES } = turnEnv(telling({}, { dir: '/d', files }))
    assert.deepEqual([A2A_TASK_ID, A2A_MESSAGE_ID, A2A_DIR, A2A_FILES], ['t1', 'm1', '/d', '/d/1-a\n/d/2-b'])
  })

  it('has the trace of its turn, if it is run for one [B-171]', () => {
    const { TRACEPARENT, TRACESTATE } = turnEnv(telling())
    assert.deepEqual([TRACEPARENT, TRACESTATE], [traceparent, 'a=b'])
    assert.equal('TRACEPARENT' in sessionEnv(telling()), false)
  })

  it('is one line of JSON', () => {
    const files = [{ name: 'a.png', mediaType: 'image/png', base64: 'AA==' }]
    const resumed = { attempt: 2, task: {} } as Turn['resumed']
    const line = messageLine(telling({ text: 'two\nlines', tenant: 'acme', resumed }, { files, dir: '/d', state: [1] }))
    assert.equal(line.indexOf('\n'), line.length - 1)
    assert.deepEqual(JSON.parse(line), {
      type: 'message',
      text: 'two\nlines',
      data: [{ n: 1 }],
      files,
      taskId: 't1',
      contextId: 'c\x001',
      messageId: 'm1',
      session: 'f00',
      caller: 'alice',
      traceparent,
      tenant: 'acme',
      metadata: { a: 1 },
      dir: '/d',
      state: [1],
      attempt: 2,
    })
  })

  it('is text up to a line that ends it, which the text itself cannot say', () => {
    assert.equal(messageText('one\n\ntwo', ''), 'one\n \ntwo\n\n')
    assert.equal(messageText('one\r\nEND\nEND.', 'END'), 'one\n END\nEND.\nEND\n')
  })
})
