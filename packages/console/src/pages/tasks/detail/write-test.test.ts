import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import type { LogRecord } from '../../../api/admin.ts'
import { writeTest } from './write-test.ts'

const user = (text: string, more: object = {}): any => ({
  messageId: text,
  role: 'ROLE_USER',
  parts: [{ text, ...more }],
})
const agent = (text: string): any => ({ messageId: text, role: 'ROLE_AGENT', parts: [{ text }] })
const logged = (bodies: readonly any[]): readonly LogRecord[] =>
  bodies.map((body, index) => ({ seq: index + 1, at: '', type: body.type, isVisible: true, bytes: 1, body }))
const message = (said: object) => ({ type: 'message', message: said })
const status = (state: string, text?: string) => ({
  type: 'status',
  status: { state: `TASK_STATE_${state}`, ...(text === undefined ? {} : { message: agent(text) }) },
})
const source = { agent: 'talker', origin: 'http://127.0.0.1:3000' }
const task = (state: string, more: object = {}): any => ({
  id: 't1',
  status: { state: `TASK_STATE_${state}` },
  ...more,
})

/** Checks the syntax only. */
function parses(text: string): void {
  execFileSync(process.execPath, ['--check', '--input-type=module', '-'], { input: text })
}

describe('a task as a test', () => {
  it('sends the same messages, and compares the state and the texts', () => {
    const text = writeTest({
      ...source,
      events: logged([message(user('Hello')), status('COMPLETED')]),
      task: task('COMPLETED', {
        artifacts: [{ artifactId: 'x', name: 'answer', parts: [{ text: 'You said: ' }, { text: 'Hello' }] }],
      }),
    })
    parses(text)
    assert.match(text, /process\.env\.PARLEY_URL \?\? "http:\/\/127\.0\.0\.1:3000"/)
    assert.match(text, /connect\(url \+ "\/a2a\/talker"/)
    assert.match(text, /agent\.send\(\{\s+"parts": \[\s+\{\s+"text": "Hello"/)
    assert.match(text, /assert\.equal\(task\.status\.state, "TASK_STATE_COMPLETED"\)/)
    assert.match(text, /"name": "answer",\s+"text": "You said: Hello"/)
    assert.doesNotMatch(text, /messageId|contextId/)
  })

  it('answers the questions of the agent, and checks that it asks', () => {
    const events = logged([
      message(user('Book')),
      status('INPUT_REQUIRED', 'Where to?'),
      message(user('Rome')),
      status('COMPLETED', 'Done'),
    ])
    const text = writeTest({
      ...source,
      events,
      task: { ...task('COMPLETED'), status: status('COMPLETED', 'Done').status as any },
    })
    parses(text)
    const order = ['"Book"', '"TASK_STATE_INPUT_REQUIRED"', '"Where to?"', '"Rome"', '{ taskId: task.id }', '"Done"']
    assert.deepEqual(
      order.map((one) => text.lastIndexOf(one)).toSorted((a, b) => a - b),
      order.map((one) => text.lastIndexOf(one)),
    )
  })

  it('reads a secret from the environment', () => {
    const secret = user('[redacted]', { metadata: { 'urn:x': { redacted: true } } })
    const text = writeTest({
      ...source,
      events: logged([message(user('a')), message(secret)]),
      task: task('COMPLETED'),
    })
    parses(text)
    assert.match(text, /process\.env\.PARLEY_SECRET_2/)
    assert.doesNotMatch(text, /\[redacted\]/)
  })

  it('cancels a canceled task', () => {
    const text = writeTest({ ...source, events: logged([message(user('wait'))]), task: task('CANCELED') })
    parses(text)
    assert.match(text, /agent\.start\(/)
    assert.match(text, /agent\.cancel\(task\.id\)/)
  })

  it('uses the history if the log was dropped', () => {
    const text = writeTest({
      ...source,
      events: [],
      task: task('COMPLETED', { history: [user('Hello'), agent('Hi')] }),
    })
    parses(text)
    assert.equal(text.match(/agent\.send/g)?.length, 1)
  })

  it('embeds hostile text as JSON', () => {
    const hostile = '*/ process.exit(1) // `${process.exit(1)}` "\' \u2028 </script>\n*/'
    const text = writeTest({
      agent: `'+evil+'`,
      origin: 'http://h',
      events: logged([message(user(hostile))]),
      task: { ...task('COMPLETED'), id: hostile, status: { state: 'TASK_STATE_COMPLETED', message: agent(hostile) } },
    })
    parses(text)
    execFileSync(process.execPath, ['--input-type=module', '-'], {
      // Runs the program as far as it goes without the client.
      input: `const it = () => {}\nconst connect = 0\n${text.replaceAll(/^import .*$/gm, '')}`,
    })
  })
})
