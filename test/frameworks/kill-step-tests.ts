/**
 * What adapters of frameworks with durable steps promise in addition to `killTests`. The program under test also answers:
 *
 * - `charge`: like `work`, with a tool that needs an approval.
 * - `step`: calls a tool that causes an effect and returns. In its first life the model then prints `begun` and never answers; later
 *   the answer is `counted`.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { openKillableServer } from './killable-server.ts'

export function killStepTests(name: string, program: string): void {
  it(`${name}, killed while the model reads the output of a tool, does not run the tool again`, async (t) => {
    const server = await openKillableServer(t, program)
    const { id } = await (await connect(server.url)).start('step')
    await server.printed('begun')
    await server.kill()
    await server.start()
    const done = await (await connect(server.url)).wait(id)
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
    assert.match(JSON.stringify(done.artifacts), /counted/)
    assert.equal(server.effects(), 1)
  })

  it(`${name}, killed after the effect of an approved tool, resumes the waiting run again`, async (t) => {
    const server = await openKillableServer(t, program)
    const first = await connect(server.url)
    const asked = await first.send('charge')
    assert.ok(asked.kind === 'task')
    const { id: taskId, contextId = '' } = asked
    const answered = first.stream({ parts: [{ text: 'yes' }], taskId, contextId })
    // Until the start of the turn is in the log.
    for await (const event of answered)
      if ('statusUpdate' in event && event.statusUpdate.status.state === 'TASK_STATE_WORKING') break
    await server.printed('effect')
    await server.kill()
    await server.start()
    const done = await (await connect(server.url)).wait(taskId)
    assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
    assert.match(JSON.stringify(done.artifacts), /worked/)
    assert.equal(server.effects(), 2)
  })
}
