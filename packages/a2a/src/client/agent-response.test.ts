import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { A2AError } from '../model/error.ts'
import type { TaskState } from '../model/state.ts'
import type { Message, Task } from '../model/task.ts'
import { toAgentResponse, requireCompletedText, extractText } from './agent-response.ts'

const said = (text: string, role: Message['role'] = 'ROLE_AGENT'): Message => ({
  messageId: text,
  role,
  parts: [{ text }],
})
const task = (state: TaskState, over: Partial<Task> = {}, message?: Message): Task => ({
  id: 't1',
  contextId: 'c1',
  status: { state, ...(message !== undefined ? { message } : {}) },
  ...over,
})

describe('an answer', () => {
  it('is distinguished by its kind', () => {
    assert.equal(toAgentResponse({ task: task('TASK_STATE_WORKING') }).kind, 'task')
    assert.equal(toAgentResponse({ message: said('hi') }).kind, 'message')
  })

  it('has the text of its artifacts, else the last message of the agent', () => {
    const artifacts = [
      { artifactId: 'a', parts: [{ text: 'One ' }, { data: 1 }, { text: 'two ' }] },
      { artifactId: 'b', parts: [{ text: 'three' }] },
    ]
    const history = [said('earlier'), said('last'), said('thanks', 'ROLE_USER')]
    const read = (over: Partial<Task>, message?: Message): string =>
      requireCompletedText(toAgentResponse({ task: task('TASK_STATE_COMPLETED', over, message) }))
    assert.equal(read({ artifacts, history }, said('done')), 'One two three')
    assert.equal(read({ artifacts: [{ artifactId: 'a', parts: [{ data: 1 }] }], history }, said('done')), 'done')
    assert.equal(read({ history }), 'last')
    assert.equal(read({}), '')
    assert.equal(requireCompletedText(toAgentResponse({ message: said('hi') })), 'hi')
  })

  it('throws without a text: an open question, or a failure', () => {
    const expect = (state: TaskState, code: string, message: RegExp, words?: Message): void => {
      assert.throws(
        () => requireCompletedText(toAgentResponse({ task: task(state, {}, words) })),
        (error) => {
          assert.ok(error instanceof A2AError)
          assert.equal(error.code, code)
          assert.match(error.message, message)
          assert.deepEqual(error.details, { taskId: 't1', contextId: 'c1', state })
          return true
        },
      )
    }
    expect('TASK_STATE_INPUT_REQUIRED', 'INPUT_REQUIRED', /^Which city\?$/, said('Which city?'))
    expect('TASK_STATE_AUTH_REQUIRED', 'INPUT_REQUIRED', /asks/)
    expect('TASK_STATE_FAILED', 'TASK_FAILED', /^Broken$/, said('Broken'))
    expect('TASK_STATE_CANCELED', 'TASK_FAILED', /ended as TASK_STATE_CANCELED/)
    expect('TASK_STATE_WORKING', 'TASK_FAILED', /still TASK_STATE_WORKING/)
  })

  it('can be read in any state', () => {
    assert.equal(extractText(toAgentResponse({ task: task('TASK_STATE_FAILED', {}, said('Broken')) })), 'Broken')
  })
})
