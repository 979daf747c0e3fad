/** A resumed stream: the connection is cut during the answer, and every word arrives once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'

const server = await serve({
  name: 'Storyteller',
  port: 0,
  quiet: true,
  store: memoryStore(),
  async *agent({ text, signal }) {
    for (const word of `Once upon a time there was ${text}`.split(' ')) {
      await sleep(20, undefined, { signal })
      yield `${word} `
    }
  },
})

let resumed = 0
const agent = await connect(server.url, { log: { warn: console.warn, debug: () => resumed++ } })
const stream = agent.stream('a cat')

let words = 0
for await (const chunk of stream.text()) {
  console.log(chunk)
  // Simulates a lost connection.
  if (++words === 3) server.server.closeAllConnections()
}

// After reading, the stream has its result.
const answer = await stream.result()
if (answer.kind === 'task') console.log(`${answer.status.state}, over ${1 + resumed} connections`)

await server.close()
