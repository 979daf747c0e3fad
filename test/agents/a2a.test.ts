/** The kind `a2a` keeps the agent contract with every remote implementation, version and binding. */
import { memoryKeyValueStore } from '@parley/a2a/stores'
import type { Agent, AgentFunction, Report, Turn } from '@parley/a2a'
import { clearCardCache } from '@parley/a2a/client'
import { agentContract, type AgentUnderTest } from '@parley/a2a/testing'
import { a2aKind } from '../../packages/hub/src/agents/a2a/index.ts'
import type { OpenAgent } from '../../packages/hub/src/agents/kind.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'
import { parleyPeer } from '../a2a-proxy/parley-peer.ts'
import { createRemoteScript, heldText } from '../a2a-proxy/remote-script.ts'
import type { RemoteScript } from '../a2a-proxy/remote-script.ts'
import type { Peer, PeerKind } from '../interop/client/peer.ts'
import { sdk02 } from '../interop/client/sdk-0.2-server.ts'
import { sdk03 } from '../interop/client/sdk-0.3-server.ts'
import { sdk1 } from '../interop/client/sdk-1-server.ts'

interface Bench extends AgentUnderTest {
  readonly script: RemoteScript
  readonly peer: Peer
  /** Resolves when the hub has received the output of the remote agent up to its pause, and stored that it has. */
  readonly received: Promise<void>
}

async function openBench(kind: PeerKind): Promise<Bench> {
  clearCardCache()
  const script = createRemoteScript()
  const peer = await kind.open(script.play)
  const entry = a2aKind.schema.parse({
    url: peer.url,
    bindings: [kind.binding],
    protocol: kind.version,
    allowPrivate: true,
    pollEvery: '20ms',
  })
  const parts = testAgentServices({ kv: memoryKeyValueStore() })
  const opened: OpenAgent[] = []
  const received = Promise.withResolvers<void>()
  const open = async () => {
    const next = await a2aKind.open(entry, parts)
    opened.push(next)
    return withReportListener(next.agent, (report) => JSON.stringify(report).includes('two ') && received.resolve())
  }
  return {
    agent: await open(),
    reopen: open,
    script,
    peer,
    received: received.promise,
    async close() {
      for (const each of opened) await each.close?.()
      await peer.close()
    },
  }
}

/** Calls the listener with each report, after the checkpoints before it are durable. */
function withReportListener(agent: Agent, onReport: (report: Report) => void): Agent {
  if (typeof agent === 'function' || agent.resume !== 'reattach') throw new Error('it can be picked up again')
  const around = (run: AgentFunction): AgentFunction =>
    async function* (turn) {
      let saved: Promise<void> = Promise.resolve()
      const watched = withCheckpoint(turn, (data) => (saved = turn.checkpoint(data)))
      for await (const report of (await run(watched)) as AsyncIterable<Report>) {
        yield report
        // In a process that was killed no checkpoint becomes durable any more.
        saved.then(
          () => onReport(report),
          () => {},
        )
      }
    }
  return { ...agent, run: around(agent.run), reattach: around(agent.reattach) }
}

function withCheckpoint(turn: Turn, checkpoint: Turn['checkpoint']): Turn {
  return new Proxy(turn, {
    get(target, key) {
      if (key === 'checkpoint') return checkpoint
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function keepsContract(kind: PeerKind, { streams = true, mark = ' [full]' } = {}): void {
  agentContract(`a2a, before ${kind.name}${streams ? '' : ' that cannot stream'}${mark},`, {
    open: () => openBench(kind),
    chat: { text: 'say hello there', answer: /^hello there $/, ...(streams ? { pieces: 2 } : {}) },
    each: (word) => ({ text: `say ${word}`, answer: word }),
    long: {
      text: 'hold for ever',
      begun: ({ script }) => script.begun('hold for ever'),
      stopped: ({ script }) => script.canceled('hold for ever'),
    },
    failing: { text: 'fail', shown: 'Out of paper' },
    memory: { tell: 'tell teal', ask: 'recall', expects: 'teal' },
    question: { text: 'ask', asks: 'Which city?', answer: 'Oslo', then: 'Weather in Oslo' },
    resume: 'reattach',
    slow: {
      text: 'slow one',
      answer: new RegExp(`^${heldText}$`),
      // Before the task id has arrived, a task cannot be found again at a remote agent that does not list its tasks.
      begun: ({ received }) => received,
      release: ({ peer }) => peer.release('slow one'),
    },
  })
}

keepsContract(parleyPeer('1.0', 'JSONRPC'), { mark: '' })
keepsContract(parleyPeer('0.3', 'HTTP+JSON'))
keepsContract(parleyPeer('1.0', 'GRPC'))
keepsContract(parleyPeer('1.0', 'HTTP+JSON', { streaming: false }), { streams: false })
keepsContract(sdk1('1.0', 'JSONRPC'))
keepsContract(sdk1('1.0', 'GRPC'))
keepsContract(sdk03('JSONRPC'))
keepsContract(sdk03('HTTP+JSON'))
keepsContract(sdk02)
