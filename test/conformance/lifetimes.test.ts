/** Tasks end once, and never go back. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { closeInMemoryServers, openInMemoryServer, newMessage, v1 } from './in-memory-server.ts'
import type { InMemoryServer } from './in-memory-server.ts'

after(closeInMemoryServers)

const settled = async (server: InMemoryServer, text = 'go') =>
  (await server.rpc('SendMessage', { message: newMessage(text) }, v1)).body.result.task

describe('a task', () => {
  it('never goes back to an earlier state [S0-15]', async () => {
    const server = openInMemoryServer({
      async *agent() {
        yield { state: 'TASK_STATE_WORKING' as const }
        yield { state: 'TASK_STATE_SUBMITTED' as const }
        yield { state: 'TASK_STATE_COMPLETED' as const }
        yield { state: 'TASK_STATE_WORKING' as const }
      },
    })
    const events = await server.stream('SendStreamingMessage', { message: newMessage('go') }, v1)
    const states = events.flatMap((event) => (event.task ?? event.statusUpdate)?.status.state ?? [])
    const order = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED']
    const ranks = states.map((state: string) => order.indexOf(state))
    assert.deepEqual(
      ranks,
      ranks.toSorted((a: number, b: number) => a - b),
    )
    assert.ok(ranks.every((rank: number) => rank >= 0))
  })

  it('that ends in time is not ended again by its deadline [S0-21]', async () => {
    const server = openInMemoryServer({ turnTimeoutMs: 40, agent: () => 'done' })
    const task = await settled(server)
    await new Promise((resolve) => setTimeout(resolve, 80))
    assert.deepEqual((await server.rpc('GetTask', { id: task.id }, v1)).body.result, task)
  })

  it('that is canceled stays canceled, whatever its agent reports later [S4-19 B-43]', async () => {
    const finish = Promise.withResolvers<string>()
    const server = openInMemoryServer({ cancelGraceMs: 10, agent: () => finish.promise })
    const configuration = { returnImmediately: true }
    const { task } = (await server.rpc('SendMessage', { message: newMessage('go'), configuration }, v1)).body.result
    const canceled = (await server.rpc('CancelTask', { id: task.id }, v1)).body.result
    assert.equal(canceled.status.state, 'TASK_STATE_CANCELED')
    finish.resolve('too late')
    await finish.promise
    assert.deepEqual((await server.rpc('GetTask', { id: task.id }, v1)).body.result, canceled)
  })
})
