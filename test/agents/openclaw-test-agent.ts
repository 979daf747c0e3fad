/** A fake gateway, an agent that uses it and a client, for one test. */
import type { TestContext } from 'node:test'
import type { Part, Struct, Task } from '@parley/a2a'
import { testAgent } from '@parley/a2a/testing'
import type { TestAgent, TestAgentOptions } from '@parley/a2a/testing'
import type { OpenclawFixture } from './openclaw-fixture.ts'
import { openOpenclawFixture } from './openclaw-fixture.ts'
import type { FakeGateway } from './openclaw-gateway/gateway.ts'
import { openFakeGateway } from './openclaw-gateway/gateway.ts'
import type { GatewayFaults } from './openclaw-gateway/faults.ts'

export interface OpenclawTestAgent {
  readonly gateway: FakeGateway
  readonly bench: OpenclawFixture
  readonly agent: TestAgent
}

export interface OpenclawTestAgentOptions {
  readonly entry?: object
  readonly trouble?: Partial<GatewayFaults>
  readonly test?: TestAgentOptions
}

export async function openOpenclawTestAgent(
  t: TestContext,
  { entry, trouble, test }: OpenclawTestAgentOptions = {},
): Promise<OpenclawTestAgent> {
  const gateway = await openFakeGateway()
  Object.assign(gateway.faults, trouble)
  const bench = openOpenclawFixture(gateway, { transport: 'ws', ...entry })
  const log = { debug() {}, info() {}, warn: bench.warn, error: bench.warn }
  const agent = testAgent(bench.agent, { ...test, server: { log, ...test?.server } })
  t.after(async () => {
    await agent.close()
    await bench.close()
    await gateway.close()
  })
  return { gateway, bench, agent }
}

export async function sendText(agent: TestAgent, text: string, about: object = {}): Promise<Task> {
  return (await agent.send(text, about)) as Task
}

export function textOf({ artifacts = [] }: Task): string {
  return artifacts.flatMap(({ parts }) => parts.map(partText)).join('')
}

export function statusOf({ status }: Task): string {
  return (status.message?.parts ?? []).map(partText).join('')
}

const partText = (part: Part): string => ('text' in part ? part.text : '')

/** The metadata of every status and every chunk of a stream, those that have any. */
export async function readEventMetadata(agent: TestAgent, text: string): Promise<readonly Struct[]> {
  const all: Struct[] = []
  for await (const event of agent.stream(text)) {
    const update =
      'statusUpdate' in event ? event.statusUpdate : 'artifactUpdate' in event ? event.artifactUpdate : undefined
    if (update?.metadata !== undefined) all.push(update.metadata)
  }
  return all
}

/** The chunks of a stream: the text, and whether it is added to what was there. */
export async function readChunks(
  agent: TestAgent,
  text: string,
  onChunk?: () => void,
): Promise<readonly (readonly [string, boolean])[]> {
  const all: [string, boolean][] = []
  for await (const event of agent.stream(text)) {
    if (!('artifactUpdate' in event)) continue
    const { artifact, append } = event.artifactUpdate
    all.push([artifact.parts.map(partText).join(''), append === true])
    onChunk?.()
  }
  return all
}

/** What chunks add up to. */
export function joinChunks(chunks: readonly (readonly [string, boolean])[]): string {
  return chunks.reduce((all, [text, append]) => (append ? all + text : text), '')
}

export { eventually as waitUntil } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
