/** Our own server as the remote agent: the same script, as reports. */
import { artifact, memoryStore, type Agent, type Report, type Turn } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { serve, type ServeOptions } from '@parley/a2a/node'
import { cursor } from '@parley/a2a/server'
import { agentName, mood, optionsPreferring } from '../interop/client/peer.ts'
import type { Binding, Peer, PeerKind, Version } from '../interop/client/peer.ts'
import { createNamedGates, defaultScript } from '../interop/client/agent-script.ts'
import type { EndState, NamedGates, AgentScript, ScriptOutput } from '../interop/client/agent-script.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export const parleyPeer = (version: Version, binding: Binding, more: Partial<ServeOptions> = {}): PeerKind => ({
  name: `a server of ours, ${version} over ${binding}`,
  version,
  binding,
  absent: version === '1.0' ? '0.3' : '1.0',
  options: optionsPreferring(binding),
  missingCapabilities: [],
  open: (script) => openParleyPeer(script ?? defaultScript, { versions: [version], ...more }),
})

export async function openParleyPeer(
  script: AgentScript,
  more: Partial<ServeOptions> = {},
  store?: Store,
): Promise<Peer> {
  const holds = createNamedGates()
  const server = await serve({
    name: agentName,
    description: 'Does what the message says',
    version: '2.1.0',
    skills: [{ id: 'act', name: 'Act', description: 'Plays a part', tags: ['test'] }],
    extensions: [cursor(), { uri: mood }],
    agent: scriptedAgent(script, holds),
    store: store ?? memoryStore(),
    push: { allow: ['127.0.0.1'] },
    port: 0,
    grpcPort: 0,
    drainMs: 0,
    log: silent,
    ...more,
  } as ServeOptions)
  return { url: server.url, release: holds.release, close: () => server.close() }
}

/** A script pushes, an agent is pulled: output waits until it is read. */
export function scriptedAgent(script: AgentScript, holds: NamedGates): Agent {
  return async function* (turn: Turn): AsyncGenerator<Report> {
    const said: Report[] = []
    let wake = Promise.withResolvers<void>()
    const push = (report: Report): void => {
      said.push(report)
      wake.resolve()
    }
    let isOver = false
    const canceled = new Promise<void>((resolve) =>
      turn.signal.addEventListener('abort', () => resolve(), { once: true }),
    )
    const isAnswer = (await turn.history()).length > 1
    const over = script(scriptOutputOf(turn, isAnswer, push), holds, canceled).finally(() => {
      isOver = true
      wake.resolve()
    })
    over.catch(() => {})
    for (;;) {
      if (said.length === 0 && isOver) break
      yield* said.splice(0)
      if (said.length > 0 || isOver) continue
      await wake.promise
      wake = Promise.withResolvers()
    }
    await over
  }
}

function scriptOutputOf(
  { text, task, message }: Turn,
  isAnswer: boolean,
  push: (report: Report) => void,
): ScriptOutput {
  const state = (name: EndState) => `TASK_STATE_${name}` as const
  return {
    text,
    contextId: task.contextId,
    isAnswer,
    open() {},
    working: (words) => push({ state: 'TASK_STATE_WORKING', message: words }),
    chunk: (id, words, { append, last }) => push(artifact(id, { text: words, append, last })),
    showParts() {
      push(artifact('shown', { parts: shownParts, last: true }))
      push(artifact('mirror', { parts: message.parts, last: true }))
    },
    end: (name, words) => push({ state: state(name), ...(words !== undefined ? { message: words } : {}) }),
    reply: (words) => push({ reply: words }),
  }
}

const shownParts = [
  { data: { rows: [1, 2.5], ok: true } },
  { raw: 'AQL/', filename: 'a.bin', mediaType: 'application/x-a' },
] as const
