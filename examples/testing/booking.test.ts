/** Testing an agent that asks: by its task, and by a conversation as a client has it. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { inputRequired, type Turn } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'

async function* booking({ text, history }: Turn) {
  const isFirst = (await history()).filter(({ role }) => role === 'ROLE_USER').length === 1
  yield isFirst ? inputRequired('Which city?') : `Booked ${text}`
}

it('asks for the city', async () => {
  const agent = testAgent(booking)
  const asked = await agent.send('Book a flight')
  assert.ok(asked.kind === 'task')
  assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
  assert.equal(await agent.ask('Lisbon', { taskId: asked.id }), 'Booked Lisbon')
  await agent.close()
})

it('books the city that the client answers', async () => {
  const agent = testAgent(booking)
  const questions: string[] = []
  const chat = agent.chat({
    onInputRequired({ text }) {
      questions.push(text)
      return 'Lisbon'
    },
  })
  assert.equal(await chat.ask('Book a flight'), 'Booked Lisbon')
  assert.deepEqual(questions, ['Which city?'])
  await agent.close()
})
