/** A scenario: a sentence that holds in every cell, and the test for it. */
import assert from 'node:assert/strict'
import type { Agent, Task } from '@parley/a2a'
import type { MessageInput } from '@parley/a2a/client'
import type { EngineLog } from '@parley/a2a/internal'
import { cursor } from '@parley/a2a/server'
import { testAgent, type TestAgent, type TestAgentOptions } from '@parley/a2a/testing'
import type { Binding, Cell, CellBinding } from './cells.ts'
import { createGrpcRawClient } from './grpc-raw-client.ts'
import { createRawClient } from './raw-client.ts'
import type { RawClient } from './raw-client.ts'
import { formOf } from './spelling.ts'
import type { Form } from './spelling.ts'

export interface Scenario {
  /** A sentence that ends with the ids of its rules. */
  readonly name: string
  /** Why the scenario does not apply to a cell. */
  skip?(cell: Cell): string | undefined
  check(world: ScenarioContext): Promise<void>
}

/** One agent as a client of this cell sees it. */
export interface Peer extends Omit<TestAgent, 'as'> {
  readonly cellBinding: CellBinding
  readonly form: Form
  readonly raw: RawClient
  as(way: CellBinding): Peer
}

export interface ScenarioContext {
  readonly cell: Cell
  readonly form: Form
  /** A server with this agent and a separate store, closed after the scenario. */
  open(agent: Agent, options?: Omit<TestAgentOptions, 'store' | 'version' | 'binding'>): Peer
}

export function createScenarioContext(cell: Cell): { readonly world: ScenarioContext; close(): Promise<void> } {
  const opened: TestAgent[] = []
  const world: ScenarioContext = {
    cell,
    form: formOf(cell),
    open(agent, options = {}) {
      const { version, binding, openStore } = cell
      // Streams of gRPC have no `id:`, so events carry their positions on request.
      const extensions = [cursor(), ...(options.server?.extensions ?? [])]
      const server = { log: silent, ...options.server, extensions }
      // The task of a silent agent is created early here, so that tests do not wait.
      const made = testAgent(agent, { openAfterMs: 20, ...options, server, version, binding, store: openStore() })
      opened.push(made)
      return peerOf(made, cell)
    },
  }
  return { world, close: async () => void (await Promise.all(opened.map((agent) => agent.close()))) }
}

function peerOf(agent: TestAgent, { version, binding }: { version: Cell['version']; binding: Binding }): Peer {
  const way = { version, binding }
  return {
    ...agent,
    cellBinding: way,
    form: formOf(way),
    raw: binding === 'GRPC' ? createGrpcRawClient(version, agent) : createRawClient({ version, binding }, agent.fetch),
    as: (other) => peerOf(agent.as(other.version, other.binding), other),
  }
}

/** Agents fail on purpose here. */
const silent: EngineLog = { debug() {}, info() {}, warn() {}, error() {} }

/** A send whose result must be a task. */
export async function sendForTask(
  peer: Pick<TestAgent, 'send'>,
  message: MessageInput,
  options?: Parameters<TestAgent['send']>[1],
): Promise<Task> {
  const { kind, ...answer } = await peer.send(message, options)
  assert.ok('status' in answer, `a ${kind} instead of a task: ${JSON.stringify(answer)}`)
  return answer
}

/** A gate that opens once: scenarios and agents wait for it. */
export interface Gate {
  readonly opened: Promise<void>
  open(): void
}

export function createGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

export { eventually as waitUntil } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
