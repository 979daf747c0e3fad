/** A stream as an Observable: `from()` accepts it directly, and unsubscribing closes the connection. */
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryStore } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { serve } from '@parley/a2a/node'
import { bufferCount, from, lastValueFrom, map, take, toArray } from 'rxjs'

const server = await serve({
  name: 'Counter',
  port: 0,
  quiet: true,
  store: memoryStore(),
  async *agent({ signal }) {
    for (let n = 1; ; n++) {
      await sleep(5, undefined, { signal })
      yield `${n} `
    }
  },
})
const agent = await connect(server.url)

// The agent would count forever; six numbers are enough.
const stream = agent.stream('Count')
const pairs = from(stream.text()).pipe(
  take(6),
  map(Number),
  bufferCount(2),
  map(([a = 0, b = 0]) => `${a} and ${b}`),
  toArray(),
)
console.log(await lastValueFrom(pairs))

// No reader is left, and the task still runs: closing a stream does not cancel its task.
const task = await agent.cancel(stream.taskId as string)
console.log(task.status.state)

await server.close()
