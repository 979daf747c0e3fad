import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Agent } from '../agents/agent.ts'
import { inputRequired, reply } from '../agents/reports.ts'
import { testAgent } from './test-agent.ts'

const booking: Agent = async function* ({ text }) {
  if (text === 'hi') yield reply('Hello')
  else if (text === 'book') yield inputRequired('Which city?')
  else yield `Booked ${text}.`
}

it('the answer of an agent under test tells tasks and messages apart by kind, as the answer of a client does', async () => {
  const agent = testAgent(booking)
  const [task, message] = [await agent.send('book'), await agent.send('hi')]
  assert.deepEqual([task.kind, message.kind], ['task', 'message'])
  assert.ok(task.kind === 'task')
  assert.equal(task.status.state, 'TASK_STATE_INPUT_REQUIRED')
  await agent.close()
})

for (const binding of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const) {
  it(`a chat with an agent under test continues its task over ${binding}`, async () => {
    const agent = testAgent(booking, { binding })
    const questions: string[] = []
    const answering = agent.chat({
      onInputRequired({ text }) {
        questions.push(text)
        return 'Lisbon'
      },
    })
    assert.equal(await answering.ask('book'), 'Booked Lisbon.')
    assert.deepEqual(questions, ['Which city?'])
    const chat = agent.chat()
    await chat.send('book')
    assert.deepEqual(await Array.fromAsync(chat.stream('Porto').text()), ['Booked Porto.'])
    await agent.close()
  })
}

it('an agent under test is closed when it is disposed', async () => {
  const agent = testAgent(booking)
  await agent[Symbol.asyncDispose]()
  await assert.rejects(agent.send('hi'))
})
