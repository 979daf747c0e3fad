/** A hub in this process, from sections of a configuration file: closed with the test, which removes its folder. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { AgentLog, StreamEvent, Struct, Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import type { ConnectOptions, RemoteAgent } from '@parley/a2a/client'
import { agentKinds } from '../../packages/hub/src/agents/kinds.ts'
import { checkConfig } from '../../packages/hub/src/config/check-config.ts'
import { startHub } from '../../packages/hub/src/hub.ts'
import type { Hub } from '../../packages/hub/src/hub.ts'

export interface OpenHub {
  readonly hub: Hub
  readonly lines: readonly string[]
  agent(name: string, options?: ConnectOptions): Promise<RemoteAgent>
}

export const agentFile = (name: string): string => join(import.meta.dirname, 'agents', `${name}.ts`)
export const moduleAgent = (name: string, more: object = {}): object => ({
  kind: 'module',
  path: agentFile(name),
  ...more,
})

export async function openHub(t: TestContext, sections: object): Promise<OpenHub> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-delegation-'))
  const lines: string[] = []
  const note = (message: string, fields?: Record<string, unknown>): void =>
    void lines.push(`${message} ${JSON.stringify(fields ?? {})}`)
  const log: AgentLog = { debug: note, info: note, warn: note, error: note }
  const tree = { listen: { port: 0, grpcPort: false }, ...sections }
  const checked = checkConfig(tree, { kinds: agentKinds, baseDir: import.meta.dirname, dataDir: folder })
  assert.ok('config' in checked, JSON.stringify(checked))
  const hub = await startHub(checked.config, { log })
  t.after(async () => {
    await hub.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { hub, lines, agent: (name, options) => connect(`${hub.url}/a2a/${name}`, options) }
}

export const textOf = ({ artifacts = [] }: Task): string =>
  artifacts.flatMap(({ parts }) => parts.map((part) => ('text' in part ? part.text : ''))).join('|')

export const questionOf = ({ status }: Task): string =>
  (status.message?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')

export const metadataOf = (event: StreamEvent): Struct =>
  ('statusUpdate' in event ? event.statusUpdate.metadata : undefined) ?? {}

/** The tasks that status messages of a stream refer to. */
export const referencedTaskIdsIn = (events: readonly StreamEvent[]): readonly string[] => [
  ...new Set(
    events.flatMap((event) =>
      'statusUpdate' in event ? (event.statusUpdate.status.message?.referenceTaskIds ?? []) : [],
    ),
  ),
]
