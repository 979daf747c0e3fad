/** The services that the hub passes to each agent. */
import type { AgentLog } from '@parley/a2a'
import { omitUndefined, systemClock } from '@parley/a2a/internal'
import { guardedLookup, guardedFetch, nodeFetch } from '@parley/a2a/node'
import type { KeyValueStore } from '@parley/a2a/stores'
import type { AgentServices } from '../agents/kind.ts'
import { createPartReader } from '../agents/part-reader.ts'
import { namespacedKv } from '../store/namespaced-kv.ts'
import type { AgentRegistryDeps } from './agent-registry.ts'

export interface AgentServicesDeps extends Pick<AgentServices, 'programEnv' | 'model' | 'publicUrl'> {
  readonly kv: KeyValueStore
  readonly log: AgentLog
  /** Limit for fetching the URL of a part. */
  readonly limitBytes?: number | undefined
  readonly jsonNodes?: number | undefined
  inProcessClient(name: string): AgentServices['inProcessClient']
  readonly cost: AgentServices['cost']
  /** Reports that an agent changed. */
  agentChanged(name: string): void
}

export function createAgentServices(deps: AgentServicesDeps): AgentRegistryDeps['agentServices'] {
  const { kv, log, limitBytes, jsonNodes, inProcessClient, agentChanged, programEnv, model, cost, publicUrl } = deps
  const guard = guardedFetch({ allowHttp: true })
  const resolve = guardedLookup()
  const guarded: AgentServices['guardedFetch'] = Object.assign(
    ((input, init) => guard(new Request(input, init))) satisfies typeof fetch,
    { exchange: guard.exchange },
  )
  // The platform's fetch for agents that upload streams or need HTTP features; A2A clients use `exchange`.
  const unguarded: AgentServices['fetch'] = Object.assign(
    ((input, init) => globalThis.fetch(input, init)) satisfies typeof fetch,
    { exchange: nodeFetch().exchange },
  )
  const bytes = createPartReader({ guardedFetch: guarded, ...omitUndefined({ limitBytes }) })
  // The same object for all agents of a kind: shared state, such as a connection, is keyed by it.
  const kvByKind = new Map<string, KeyValueStore>()
  const kvOfKind = (kind: string): KeyValueStore => {
    const own = kvByKind.get(kind) ?? namespacedKv(kv, `kind/${kind}`)
    kvByKind.set(kind, own)
    return own
  }
  return (name, { persona, timeout: turnTimeoutMs }, kind, baseDir) => ({
    name,
    log: logForAgent(log, name),
    baseDir,
    fetch: unguarded,
    guardedFetch: guarded,
    guardedLookup: resolve,
    kv: namespacedKv(kv, `agent/${name}`),
    kindKv: kvOfKind(kind.kind),
    programEnv,
    readPart: bytes,
    inProcessClient: inProcessClient(name),
    model,
    ...omitUndefined({ cost, persona, jsonNodes, turnTimeoutMs: turnTimeoutMs ?? kind.turnTimeoutMs }),
    publicUrl,
    ...systemClock,
    notifyChange: () => agentChanged(name),
  })
}

function logForAgent(log: AgentLog, agent: string): AgentLog {
  const at =
    (level: keyof AgentLog): AgentLog[keyof AgentLog] =>
    (message, fields) =>
      log[level](message, { agent, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
