/** A conversation: the agent asks for input, a callback answers, and the next message belongs to the same context. */
import { inputRequired, memoryStore } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'

const server = await serve({
  name: 'Travel agent',
  port: 0,
  quiet: true,
  store: memoryStore(),
  async *agent({ text, history }) {
    const said = (await history()).filter(({ role }) => role === 'ROLE_USER').length
    if (text.startsWith('Book') && said === 1) yield inputRequired('Where to?')
    else if (said === 2) yield inputRequired(`${text}! And when?`)
    else yield `Noted: ${text}.`
  },
})

const answers = ['Lisbon', 'tomorrow']
const agent = await connect(server.url)
const chat = agent.chat({
  onInputRequired(question) {
    const answer = answers.shift()
    console.log(`Agent: ${question.text}\nMe: ${answer}`)
    return answer
  },
})

console.log('Me: Book a flight')
console.log(`Agent: ${await chat.ask('Book a flight')}`)

// The task has ended; the conversation continues.
const context = chat.contextId
console.log(`Agent: ${await chat.ask('A window seat')}`)
console.log(`${chat.tasks.size} tasks in one context: ${chat.contextId === context}`)

await server.close()
