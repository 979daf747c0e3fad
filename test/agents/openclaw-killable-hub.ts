/** A hub with an agent of an OpenClaw gateway, fake or real, that is killed during a turn and restarted. */
import assert from 'node:assert/strict'
import type { StreamEvent, Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { RemoteAgent } from '@parley/a2a/client'
import { newFolder, startHub } from '../hub/running-hub.ts'
import type { RunningHub } from '../hub/running-hub.ts'
import type { GatewayTarget } from './openclaw-fixture.ts'

export interface OpenclawKillableHub {
  readonly events: readonly StreamEvent[]
  readonly hub: () => RunningHub
  agent(): Promise<RemoteAgent>
  /** Sends a message and reads until the answer begins. */
  begin(text: string): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  /** Reads from the last event before the kill to the end; returns the task. */
  readRest(): Promise<Task>
}

export async function openOpenclawKillableHub({ url, token }: GatewayTarget, entry = ''): Promise<OpenclawKillableHub> {
  const config = `
listen: { port: 0, grpcPort: false }
access: { anonymous: [bot, other] }
agents:
  bot: { kind: openclaw, url: "${url}", token: "\${env:OPENCLAW_TOKEN}"${entry} }
  other: { kind: openclaw, url: "${url}", token: "\${env:OPENCLAW_TOKEN}"${entry} }
`
  const folder = await newFolder({ 'parley.yaml': config })
  const events: StreamEvent[] = []
  let hub = await startHub(folder, [], { OPENCLAW_TOKEN: token })
  let taskId = ''
  let lastEventId = ''
  const agent = (): Promise<RemoteAgent> => connect(`${hub.url}/a2a/bot`)
  return {
    events,
    hub: () => hub,
    agent,
    async begin(text) {
      const stream = (await agent()).stream(text)
      for await (const event of stream) {
        events.push(event)
        if ('artifactUpdate' in event) break
      }
      taskId = stream.taskId ?? ''
      lastEventId = stream.lastEventId ?? ''
    },
    async kill() {
      hub.signal('SIGKILL')
      await hub.stop()
    },
    async start() {
      hub = await startHub(folder, [], { OPENCLAW_TOKEN: token })
    },
    async readRest() {
      const again = await agent()
      for await (const event of again.subscribe(taskId, { lastEventId })) events.push(event)
      return again.get(taskId)
    },
  }
}

/** One log with one end; its chunks form the answer, none lost or doubled. */
export function assertEachEventOnce(events: readonly StreamEvent[], { status }: Task, answer: string): void {
  assert.equal(status.state, 'TASK_STATE_COMPLETED', JSON.stringify(status))
  const ends = events.flatMap((event, index) =>
    'statusUpdate' in event && event.statusUpdate.status.state === status.state ? [index] : [],
  )
  assert.deepEqual(ends, [events.length - 1])
  const chunks = events.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []))
  assert.equal(chunks.map(({ artifact }) => artifact.parts.map(partText).join('')).join(''), answer)
  assert.ok(
    chunks.slice(1).every(({ append }) => append === true),
    'the answer was begun anew',
  )
}

const partText = (part: object): string => ('text' in part ? String(part.text) : '')
