/**
 * Push instead of polling: a webhook that accepts only authentic notifications, each event once and those of a task in
 * order. Any agent that declares push notifications may be the sender; here the program simulates it.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StreamEvent } from '@parley/a2a'
import { pushHeaders, webhook } from '@parley/a2a/server'

const token = 'only you and I know this'
const hook = webhook({ token })
hook.handle(async ({ taskId, event }) => {
  if ('statusUpdate' in event) console.log(`${taskId} is now ${event.statusUpdate.status.state}`)
  if ('artifactUpdate' in event) console.log(`${taskId} has brought ${event.artifactUpdate.artifact.name}`)
})
const receiver = createServer(hook.node).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

// With an agent that supports push notifications:
//   await agent.start('Long job', { push: { url, token } })

/** What such an agent sends. */
async function push(id: string, event: StreamEvent, shown = token): Promise<number> {
  const headers = { 'content-type': 'application/a2a+json', [pushHeaders.token]: shown, [pushHeaders.eventId]: id }
  const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(event) })
  return status
}
const about = { taskId: 'task-1', contextId: 'context-1' }
const report = { artifactId: 'a', name: 'report.pdf', parts: [{ text: '…' }] }

console.log(await push('1', { statusUpdate: { ...about, status: { state: 'TASK_STATE_WORKING' } } }))
console.log(await push('2', { artifactUpdate: { ...about, artifact: report } }))
// Sent again after a lost response: acknowledged, and not handled again.
console.log(await push('2', { artifactUpdate: { ...about, artifact: report } }))
console.log(await push('3', { statusUpdate: { ...about, status: { state: 'TASK_STATE_COMPLETED' } } }))
// A sender with a wrong token gets a 401.
console.log(await push('4', { statusUpdate: { ...about, status: { state: 'TASK_STATE_FAILED' } } }, 'a guess'))

receiver.close()
