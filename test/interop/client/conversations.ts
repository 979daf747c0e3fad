/** Questions of the agent, and conversations: the client tracks the ids of each message. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { taskOf, textOf } from './connected-peer.ts'
import type { ConnectedPeer } from './connected-peer.ts'

export function conversations(scene: ConnectedPeer): void {
  it('answers a question by its task, by send and by stream', async () => {
    const asked = taskOf(await scene.agent.send('ask'))
    assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
    const answered = taskOf(await scene.agent.send('Oslo', { taskId: asked.id, contextId: asked.contextId! }))
    assert.deepEqual([answered.id, textOf(answered)], [asked.id, 'Weather in Oslo'])

    const question = taskOf(await scene.agent.stream('ask').result())
    assert.equal(question.status.state, 'TASK_STATE_INPUT_REQUIRED')
    assert.equal(await scene.agent.stream('Rome', { taskId: question.id }).text(), 'Weather in Rome')
  })

  it('keeps the ids of a conversation [B-44 B-59]', async () => {
    const chat = scene.agent.chat()
    const asked = taskOf(await chat.send('ask'))
    assert.deepEqual([chat.taskId, chat.contextId], [asked.id, asked.contextId])
    const answered = taskOf(await chat.send('Oslo'))
    assert.deepEqual([answered.id, textOf(answered), chat.taskId], [asked.id, 'Weather in Oslo', undefined])
    const next = taskOf(await chat.send('say more'))
    assert.notEqual(next.id, asked.id)
    assert.equal(next.contextId, asked.contextId)
  })

  it('answers the question of the agent and continues', async () => {
    const questions: string[] = []
    const onInputRequired = ({ text }: { readonly text: string }): string => {
      questions.push(text)
      return 'Rome'
    }
    assert.equal(await scene.agent.chat({ onInputRequired }).ask('ask'), 'Weather in Rome')
    assert.equal(await scene.agent.chat({ onInputRequired }).stream('ask').text(), 'Weather in Rome')
    assert.deepEqual(questions, ['Which city?', 'Which city?'])
  })
}
