/** An agent of the OpenAI Agents SDK whose process is killed. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { killTests } from '../kill-tests.ts'
import { openKillableServer } from '../killable-server.ts'

const program = join(import.meta.dirname, 'killed-program.ts')

killTests('OpenAI Agents', program)

it('OpenAI Agents, killed while the model reads the output of a tool, does not run the tool again', async (t) => {
  const server = await openKillableServer(t, program)
  const { id } = await (await connect(server.url)).start('step')
  await server.printed('begun')
  await server.kill()
  await server.start()
  const done = await (await connect(server.url)).wait(id)
  assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
  const parts = (done.artifacts ?? []).flatMap((artifact) => artifact.parts)
  assert.equal(parts.map((part) => ('text' in part ? part.text : '')).join(''), 'Counting.\n\ncounted')
  assert.equal(server.effects(), 1)
})

it('OpenAI Agents, killed after the effect of an approved tool, resumes the stored run again', async (t) => {
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
  assert.equal(server.effects(), 2)
})
