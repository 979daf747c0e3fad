import { connect } from '@parley/a2a/client'
const agent = await connect('https://agent.example.com')
const stream = agent.stream('Write a report')
for await (const event of stream) {
  if ('statusUpdate' in event) console.log(event.statusUpdate.status.state)
}
console.log(stream.taskId, stream.lastEventId, [...stream.relatedTaskIds])
console.log(await stream.result()) // what it came to: the Task, or the Message
