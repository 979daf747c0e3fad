/** Calls an agent by its URL. The agent runs in the same program. */
import { memoryStore } from '@parley/a2a'
import { A2AError, connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'

const server = await serve({
  name: 'Librarian',
  port: 0,
  quiet: true,
  store: memoryStore(),
  agent: ({ text, message }) => `${text} ${message.parts.length - 1} file(s) came along.`,
})

const agent = await connect(server.url)
const { protocolBinding, version, why } = agent.interface
console.log(`${agent.card.name} uses A2A ${version} over ${protocolBinding}. ${why}.`)

// Sends a text and returns a text.
const notes = new File(['Buy milk'], 'notes.txt', { type: 'text/plain' })
console.log(await agent.ask('Have a look!', { files: [notes] }))

// The whole answer: a task with its artifacts and history, or a message, distinguished by `kind`.
const answer = await agent.send('Have a look!')
if (answer.kind === 'task') console.log(`${answer.status.state}, ${answer.artifacts?.length} artifact`)

// Errors have a code.
try {
  await agent.get('an unknown task')
} catch (error) {
  if (error instanceof A2AError) console.log(`${error.code}: ${error.message}`)
}

await server.close()
