/** An agent of the Claude Agent SDK whose process is killed. Every life has another folder for transcripts, as replicas have. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { connect } from '@parley/a2a/client'
import { killTests } from '../kill-tests.ts'
import { openKillableServer } from '../killable-server.ts'
import { processList } from './claude-options.ts'

const program = join(import.meta.dirname, 'killed-program.ts')

after(() => {
  const list = processList(process.pid)
  if (!existsSync(list)) return
  for (const id of readFileSync(list, 'utf8').trim().split('\n')) endProcess(Number(id))
  rmSync(list)
})

killTests('Claude Agent SDK', program)

it('Claude Agent SDK, killed after a tool result, continues there: the tool is not repeated, nor is its text', async (t) => {
  const server = await openKillableServer(t, program)
  const { id } = await (await connect(server.url)).start('steps')
  await server.printed('checkpoint')
  await server.printed('working')
  assert.equal(server.effects(), 2)
  await server.kill()
  await server.start()
  const { status, artifacts = [] } = await (await connect(server.url)).wait(id)
  assert.equal(status.state, 'TASK_STATE_COMPLETED', JSON.stringify(status))
  assert.deepEqual(
    artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join(''),
    'First.\n\nworked',
  )
  assert.equal(server.effects(), 3, 'only the second tool ran again')
})

it('Claude Agent SDK, killed after the effect of an approved tool, continues the stored session again', async (t) => {
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
  assert.match(JSON.stringify(done.artifacts), /charged/)
  assert.equal(server.effects(), 2)
})

function endProcess(id: number): void {
  try {
    process.kill(id, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
