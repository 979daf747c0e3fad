/** One kind of peer with our client connected to it, for every case of the suite. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Artifact, StreamEvent } from '@parley/a2a'
import { A2AError } from '@parley/a2a'
import { clearCardCache, connect } from '@parley/a2a/client'
import type { AgentResponse, ConnectOptions, RemoteAgent, TaskResponse } from '@parley/a2a/client'
import type { Peer, PeerKind } from './peer.ts'

export interface ConnectedPeer {
  readonly kind: PeerKind
  /** From the first case on. */
  readonly peer: Peer
  readonly agent: RemoteAgent
  /** Everything the client has sent. */
  readonly requests: readonly Request[]
  /** Another connection to the same peer. */
  connect(more?: ConnectOptions): Promise<RemoteAgent>
  /** Asserts that the client fails without a request. */
  refusesUnasked(code: string, call: () => Promise<unknown>): Promise<void>
  /** A task that holds, so that any snapshot shows it. */
  running(text: string): Promise<TaskResponse>
}

/** Opens before the cases of the suite it is called in, and closes after them. */
export function openConnectedPeer(kind: PeerKind): ConnectedPeer {
  const requests: Request[] = []
  let peer: Peer
  let agent: RemoteAgent
  const scene: ConnectedPeer = {
    kind,
    requests,
    get peer() {
      return peer
    },
    get agent() {
      return agent
    },
    connect: (more = {}) =>
      connect(peer.url, {
        ...kind.options,
        limits: { pollMs: 20, firstDelayMs: 5, timeoutMs: 10_000 },
        fetch(request) {
          requests.push(request)
          return fetch(request)
        },
        ...more,
      }),
    async refusesUnasked(code, call) {
      const before = requests.length
      await rejectsWith(code, call())
      assert.equal(requests.length, before, 'it asked')
    },
    async running(text) {
      let task = await agent.start(text)
      while (textOf(task) !== 'held ') task = await agent.get(task.id)
      return task
    },
  }
  before(async () => {
    clearCardCache()
    peer = await kind.open()
    agent = await scene.connect()
  })
  after(() => peer.close())
  return scene
}

/** `code` undefined: any A2AError. */
export async function rejectsWith(code: string | undefined, promise: Promise<unknown>): Promise<A2AError> {
  const reason = await promise.then(
    (value) => assert.fail(`resolved with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  assert.ok(reason instanceof A2AError, `not an A2AError: ${reason instanceof Error ? reason.stack : String(reason)}`)
  if (code !== undefined) assert.equal(reason.code, code, reason.stack)
  return reason
}

export function taskOf(answer: AgentResponse): TaskResponse {
  assert.ok(answer.kind === 'task', `not a task: ${JSON.stringify(answer)}`)
  return answer
}

export const keyOf = (value: object): string => Object.keys(value)[0] ?? ''

export function textOf({ artifacts = [] }: { readonly artifacts?: readonly Artifact[] }): string {
  return artifacts.map(textOfArtifact).join('')
}

export function textOfArtifact({ parts }: Artifact): string {
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

/** The text of the chunks, one by one; chunks that only close an artifact have no text. */
export function chunksOf(events: readonly StreamEvent[]): string[] {
  return events
    .map((event) => ('artifactUpdate' in event ? textOfArtifact(event.artifactUpdate.artifact) : ''))
    .filter((text) => text !== '')
}

export function stateOf(event: StreamEvent | undefined): string | undefined {
  if (event === undefined) return undefined
  if ('statusUpdate' in event) return event.statusUpdate.status.state
  return 'task' in event ? event.task.status.state : undefined
}
