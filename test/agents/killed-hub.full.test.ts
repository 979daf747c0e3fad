/** A hub that is killed while its programs run, and what the next process does with their tasks. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import type { StreamEvent, Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { RemoteAgent } from '@parley/a2a/client'
import { newFolder, startHub } from '../hub/running-hub.ts'
import type { RunningHub } from '../hub/running-hub.ts'
import type { SharedFolder } from './shared-folder.ts'
import { createSharedFolder } from './shared-folder.ts'
import { waitForProcessExit, isProcessAlive } from './process-liveness.ts'

const program = (name: string, ...args: readonly string[]): string =>
  JSON.stringify([process.execPath, join(import.meta.dirname, 'programs', name), ...args])
const names = ['rerun', 'failing', 'kept', 'coder', 'forgetful'] as const
type Name = (typeof names)[number]

const config = (folders: Readonly<Record<Name, SharedFolder>>): string => {
  const env = (name: Name, more = ''): string => `env: { BENCH: ${JSON.stringify(folders[name].path)}${more} }`
  const scripted = `kind: command, command: ${program('scripted-program.ts')}, killGrace: 1s`
  return `
listen: { port: 0, grpcPort: false }
access: { anonymous: [${names.join(', ')}] }
agents:
  rerun: { ${scripted}, protocol: jsonl, resume: rerun, ${env('rerun')} }
  failing: { ${scripted}, protocol: jsonl, ${env('failing')} }
  kept: { kind: command, command: ${program('scripted-program.ts', 'keep')}, mode: keep, protocol: jsonl, resume: rerun, ${env('kept')} }
  coder: { kind: acp, command: ${program('acp-agent.ts')}, killGrace: 1s, ${env('coder')} }
  forgetful: { kind: acp, command: ${program('acp-agent.ts')}, killGrace: 1s, ${env('forgetful', ', LACKS: load')} }
`
}

interface Begun {
  readonly events: readonly StreamEvent[]
  readonly taskId: string
  readonly lastEventId: string
  /** Of the program. */
  readonly pid: number
}

/** Reads until the first piece of the answer has come, then no more. */
async function begin(agent: RemoteAgent, folder: SharedFolder): Promise<Begun> {
  const stream = agent.stream('slow')
  const events: StreamEvent[] = []
  for await (const event of stream) {
    events.push(event)
    if ('artifactUpdate' in event) break
  }
  await folder.waitForFile('begun')
  const pid = Number(await folder.read('begun'))
  return { events, taskId: stream.taskId ?? '', lastEventId: stream.lastEventId ?? '', pid }
}

const said = (task: Task): string =>
  (task.artifacts ?? []).flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('')
const reason = ({ status }: Task): string =>
  (status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')

it('a hub that was killed during turns', { timeout: 120_000 }, async (t) => {
  t.after(() => {
    for (const folder of Object.values(folders)) folder.remove()
  })
  const folders = Object.fromEntries(names.map((name) => [name, createSharedFolder()])) as Record<Name, SharedFolder>
  const begun = {} as Record<Name, Begun>
  const rest = {} as Record<Name, readonly StreamEvent[]>
  let hub: RunningHub
  const agentAt = (name: Name): Promise<RemoteAgent> => connect(`${hub.url}/a2a/${name}`)

  const folder = await newFolder({ 'parley.yaml': config(folders) })
  hub = await startHub(folder)
  await Promise.all(names.map(async (name) => (begun[name] = await begin(await agentAt(name), folders[name]))))
  hub.signal('SIGKILL')
  await hub.stop()
  // Programs that read stdin notice; others keep running as orphans.
  assert.ok(
    isProcessAlive(begun.rerun.pid),
    'the program of the killed hub is gone, and nothing is shown by what follows',
  )
  hub = await startHub(folder)
  for (const name of names) await waitForProcessExit(begun[name].pid)
  for (const name of names) folders[name].createFile('released')
  await Promise.all(
    names.map(async (name) => {
      const { taskId, lastEventId } = begun[name]
      rest[name] = await (await agentAt(name)).subscribe(taskId, { lastEventId }).all()
    }),
  )

  /** The events before and after the restart form one log with one end. */
  async function finished(name: Name): Promise<Task> {
    const { taskId, events } = begun[name]
    const task = await (await agentAt(name)).get(taskId)
    const all = [...events, ...rest[name]]
    const ends = all.filter((event) => 'statusUpdate' in event && event.statusUpdate.status.state === task.status.state)
    assert.equal(ends.length, 1)
    assert.equal(all.indexOf(ends[0] as StreamEvent), all.length - 1)
    return task
  }

  await t.test('is followed by one that runs a program again, if its entry declares it', async () => {
    for (const name of ['rerun', 'kept'] as const) {
      const task = await finished(name)
      assert.deepEqual([task.status.state, said(task)], ['TASK_STATE_COMPLETED', 'one two three'])
      const anew = rest[name].find((event) => 'artifactUpdate' in event)
      assert.ok(anew !== undefined && 'artifactUpdate' in anew && anew.artifactUpdate.append !== true)
    }
  })

  await t.test('is followed by one that fails the task with a reason, if its entry declares it', async () => {
    const task = await finished('failing')
    assert.deepEqual([task.status.state, reason(task)], ['TASK_STATE_FAILED', 'The task was interrupted by a restart'])
  })

  await t.test(
    'is followed by one that loads the session of an ACP agent and continues without repeated output',
    async () => {
      const task = await finished('coder')
      assert.deepEqual([task.status.state, said(task)], ['TASK_STATE_COMPLETED', 'one two three'])
      const pieces = [...begun.coder.events, ...rest.coder].flatMap((event) =>
        'artifactUpdate' in event
          ? event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : ''))
          : [],
      )
      assert.equal(pieces.join(''), 'one two three')
    },
  )

  await t.test(
    'is followed by one that fails the task of an ACP agent that cannot load its session, with the reason',
    async () => {
      const task = await finished('forgetful')
      assert.deepEqual(
        [task.status.state, reason(task)],
        ['TASK_STATE_FAILED', 'The agent cannot resume the turn that a restart interrupted'],
      )
    },
  )
})
