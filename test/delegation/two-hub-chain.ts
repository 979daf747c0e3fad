/**
 * Agents of four kinds on two hubs, each hub in a separate process:
 *
 *     caller → A front (module) → A to-b (a2a) → B middle (loop) → B to-a (a2a) → A leaf (command)
 *
 * with one `to-b` and one `to-a` for each binding (`allowPrivate`, because gRPC has a port of its own). B is in the middle: it can be killed and restarted.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Span } from '@parley/a2a/internal'
import type { LogRecord } from '@parley/a2a/stores'
import { connect, type RemoteAgent } from '@parley/a2a/client'
import { grpc } from '@parley/a2a/grpc'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import { freePort } from '../free-port.ts'
import { scriptedModel } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import type { Script } from '../../packages/hub/src/agents/testing/scripted-model.ts'
import { createSharedFolder } from '../agents/shared-folder.ts'
import type { SharedFolder } from '../agents/shared-folder.ts'
import { newFolder, startHub } from '../hub/running-hub.ts'
import type { RunningHub } from '../hub/running-hub.ts'
import { agentFile } from './open-hub.ts'

export const bindings = { jsonrpc: 'JSONRPC', rest: 'HTTP+JSON', grpc: 'GRPC' } as const
export type ChainBinding = keyof typeof bindings
export const chainBindings = Object.keys(bindings) as readonly ChainBinding[]

export interface TwoHubChain {
  readonly bench: SharedFolder
  readonly a: string
  readonly b: string
  /** The first agent, called by this binding. */
  front(way: ChainBinding): Promise<RemoteAgent>
  /** The content of both stores after the hubs have ended. */
  end(): Promise<readonly StoredTask[]>
  /** Kills and restarts B. Resolves when it is ready again. Not in a subtest: processes of a subtest end with it. */
  killB(): Promise<void>
}

/** A task from its log. */
export interface StoredTask {
  readonly hub: 'a' | 'b'
  readonly id: string
  readonly agent: string
  readonly state: string
  readonly records: readonly LogRecord[]
  readonly spans: readonly Span[]
}

const program = JSON.stringify([process.execPath, join(import.meta.dirname, 'programs', 'leaf.ts')])

export async function openTwoHubChain(t: TestContext): Promise<TwoHubChain> {
  const bench = createSharedFolder()
  const model = await scriptedModel(middleScript)
  const [portA, portB, grpcA, grpcB] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const [a, b] = [`http://127.0.0.1:${portA}`, `http://127.0.0.1:${portB}`]
  const toward = (agent: string, url: string): string =>
    chainBindings
      .map(
        (way) =>
          `  ${agent}-${way}: { kind: a2a, url: ${url}, bindings: [${bindings[way]}], answerTimeout: 10s, allowPrivate: true }`,
      )
      .join('\n')
  const folderA = await newFolder({
    'parley.yaml': `
publicUrl: ${a}
delegation: { trust: [{ issuer: ${b}, jwks: ${b}/.well-known/jwks.json }] }
agents:
  front: { kind: module, path: ${agentFile('tree-front')}, default: true }
${toward('to-b', `${b}/a2a/middle`)}
  leaf: { kind: command, command: ${program}, protocol: jsonl, killGrace: 1s, env: { BENCH: ${JSON.stringify(bench.path)} } }
`,
  })
  const folderB = await newFolder({
    'parley.yaml': `
publicUrl: ${b}
delegation: { trust: [{ issuer: ${a}, jwks: ${a}/.well-known/jwks.json }] }
agents:
  gpt: { kind: openai, baseUrl: ${model.url}, model: scripted }
  middle: { kind: loop, model: gpt, default: true, tools: [${chainBindings.map((way) => `{ agent: to-a-${way} }`).join(', ')}] }
${toward('to-a', `${a}/a2a/leaf`)}
`,
  })
  const startA = (): Promise<RunningHub> => startHub(folderA, [], { PORT: `${portA}`, GRPC_PORT: `${grpcA}` })
  const startB = (): Promise<RunningHub> => startHub(folderB, [], { PORT: `${portB}`, GRPC_PORT: `${grpcB}` })
  const hubs = await Promise.all([startA(), startB()])
  t.after(async () => {
    for (const hub of hubs) hub.signal('SIGKILL')
    await model.close()
    bench.remove()
  })
  return {
    bench,
    a,
    b,
    front: (way) => connect(`${a}/a2a/front`, { prefer: [bindings[way]], bindings: [grpc()] }),
    async killB() {
      hubs[1].signal('SIGKILL')
      await hubs[1].stop()
      hubs[1] = await startB()
    },
    async end() {
      await Promise.all(hubs.map((hub) => hub.stop()))
      return [...(await readTasks('a', folderA)), ...(await readTasks('b', folderB))]
    },
  }
}

/** Calls the agent that leads back over the same binding, and answers with its answer. */
const middleScript: Script = ({ body }) => {
  const results = body.messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []))
  if (results.length > 0) return { say: `middle read: ${results.join(' | ')}` }
  const asked = String(body.messages.findLast(({ role }) => role === 'user')?.content)
  const [, way] = asked.split(' ')
  return { calls: [{ name: `ask_to-a-${way}`, input: { message: asked } }] }
}

async function readTasks(hub: StoredTask['hub'], folder: string): Promise<readonly StoredTask[]> {
  const store = sqliteStore(join(folder, '.parley', 'parley.db'))
  try {
    const ids = new Set((await store.feed.read(0, 100_000)).map(({ taskId }) => taskId))
    return await Promise.all(
      [...ids].map(async (id) => {
        const row = await store.tasks.load(id)
        assert.ok(row !== undefined)
        const records = await store.tasks.read(id, 0, 10_000)
        const spans = records.flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
        return { hub, id, agent: row.agent, state: row.status.state, records, spans }
      }),
    )
  } finally {
    await store.close()
  }
}
