/** One task in every version and binding, and what readers accept. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { inputRequired } from '@parley/a2a'
import { versionOf } from '../../packages/a2a/src/versions/index.ts'
import { closeInMemoryServers, openInMemoryServer, newMessage, newLegacyMessage, v0_3, v1 } from './in-memory-server.ts'

after(closeInMemoryServers)

describe('a task', () => {
  it('created in one version is read, followed and canceled in the others [B-13 B-168]', async () => {
    const server = openInMemoryServer({ allowAnonymousList: true, agent: () => inputRequired('Which city?') })
    const made = await server.rpc('message/send', { message: newLegacyMessage('a trip') }, v0_3)
    const { id } = made.body.result
    assert.equal(made.body.result.status.state, 'input-required')

    const read = await server.rpc('GetTask', { id }, v1)
    assert.equal(read.body.result.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const listed = await server.fetch('/tasks', { headers: v1 })
    assert.deepEqual(
      listed.body.tasks.map((task: { id: string }) => task.id),
      [id],
    )

    const canceled = await server.fetch(`/v1/tasks/${id}:cancel`, { method: 'POST', headers: v0_3 })
    assert.equal(canceled.body.status.state, 'TASK_STATE_CANCELLED')
    const spellings = [
      (await server.rpc('GetTask', { id }, v1)).body.result.status.state,
      (await server.fetch(`/tasks/${id}`, { headers: v1 })).body.status.state,
      (await server.rpc('tasks/get', { id }, { 'a2a-version': '0.2' })).body.result.status.state,
    ]
    assert.deepEqual(spellings, ['TASK_STATE_CANCELED', 'TASK_STATE_CANCELED', 'canceled'])
  })

  it('can be sent, read and canceled in 0.3, the minimum that it requires [B-175]', async () => {
    const server = openInMemoryServer()
    const { id } = (await server.rpc('message/send', { message: newLegacyMessage('hi') }, v0_3)).body.result
    assert.equal((await server.rpc('tasks/get', { id }, v0_3)).body.result.status.state, 'completed')
    assert.equal((await server.rpc('tasks/cancel', { id }, v0_3)).body.error.code, -32_002)
  })
})

describe('a request', () => {
  it('has its version in a header whose name is case-insensitive [F-11]', async () => {
    for (const name of ['A2A-Version', 'a2a-version', 'A2a-VERSION']) {
      const answer = await openInMemoryServer().rpc(
        'message/send',
        { message: newLegacyMessage('hi') },
        { [name]: '1.0' },
      )
      assert.equal(answer.body.error.code, -32_601, name)
    }
  })

  it('may have unknown fields, which are dropped [J-10]', async () => {
    const server = openInMemoryServer()
    const message = { ...newMessage('hi'), mood: 'sunny', parts: [{ text: 'hi', colour: 'blue' }] }
    const { task } = (await server.rpc('SendMessage', { message, haste: true }, v1)).body.result
    assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    assert.doesNotMatch(JSON.stringify(task), /mood|sunny|colour|haste/)
  })

  it('may have numbers as strings, in a query and in a body [J-11]', async () => {
    const server = openInMemoryServer({ allowAnonymousList: true })
    for (const text of ['one', 'two', 'three']) await server.rpc('SendMessage', { message: newMessage(text) }, v1)
    const overRest = await server.fetch('/tasks?pageSize=2', { headers: v1 })
    const overJsonRpc = await server.rpc('ListTasks', { pageSize: '2' }, v1)
    assert.deepEqual([overRest.body.tasks.length, overJsonRpc.body.result.tasks.length], [2, 2])
    assert.deepEqual([overRest.body.pageSize, overJsonRpc.body.result.pageSize], [2, 2])
  })
})

describe('a state', () => {
  const read = (state: string): string => {
    const task = { kind: 'task', id: 't', contextId: 'c', status: { state } }
    return versionOf('0.3').json.decodeResult('GetTask', task).status.state
  }

  it('that is unknown is read as unknown [B-174 S2-9]', () => {
    assert.deepEqual(
      ['dreaming', 'unknown', ''].map(read),
      Array.from({ length: 3 }, () => 'TASK_STATE_UNSPECIFIED'),
    )
  })

  it('of an older draft is read as its successor [S2-18]', () => {
    assert.equal(read('started'), 'TASK_STATE_SUBMITTED')
  })
})
