import { connect } from '@parley/a2a/client'
const agent = await connect('https://agent.example.com')
const first = agent.stream('Write a report')
for await (const _ of first) if (first.lastEventId !== undefined) break
const { taskId, lastEventId } = first

// Later, elsewhere.
if (taskId !== undefined && lastEventId !== undefined) {
  for await (const event of agent.subscribe(taskId, { lastEventId })) console.log(Object.keys(event)[0])
}
