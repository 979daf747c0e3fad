/** From a configuration to a running hub: the only file that knows all the parts. */
import { isDeepStrictEqual } from 'node:util'
import { A2AError } from '@parley/a2a'
import type { Agent, AgentLog, Caller, Notes, Store } from '@parley/a2a'
import { ConfigError } from '@parley/a2a/server'
import type { Admit, Engine } from '@parley/a2a/server'
import { guardedFetch, serve } from '@parley/a2a/node'
import type { Front, Server } from '@parley/a2a/node'
import { listAgents } from './agent-listing.ts'
import type { AgentKind } from './agents/kind.ts'
import { kinds as allKinds } from './agents/kinds.ts'
import { createPartBytes } from './agents/part-bytes.ts'
import { createAccess } from './auth/access.ts'
import type { Access } from './auth/access.ts'
import { grantsOf } from './auth/scopes.ts'
import { accessSettings } from './auth/settings.ts'
import type { AgentConfig, HubConfig } from './config/config.ts'
import { defined } from './defined.ts'
import { forHosts, oneOf } from './fronts.ts'
import { createHooks } from './hooks.ts'
import { createHouseCalls } from './house-calls.ts'
import { limitConcurrency } from './limits/concurrency.ts'
import { remoteReach } from './mcp/client-desk.ts'
import { createMcpFront } from './mcp/front.ts'
import type { McpFront, McpFrontParts } from './mcp/front.ts'
import { openStore } from './open-store.ts'
import { ownNotes } from './own-notes.ts'
import { olderDraft, olderDraftRest } from './profiles/older-draft.ts'
import { createSimpleTasks } from './profiles/simple-tasks.ts'
import { createRegistry } from './registry.ts'
import type { AgentStatus, Changes, Registry, RegistryParts } from './registry.ts'
import { houseOptions, isLoopback, tlsOf } from './serve-options.ts'

export interface HubParts {
  readonly log: AgentLog
  /** Lets anybody in from anywhere, if the configuration lets anybody in. */
  readonly insecure?: boolean | undefined
  /** What programs that agents start see of the environment. Default: nothing. */
  readonly programEnv?: Readonly<Record<string, string>> | undefined
  /** Default: all there are. */
  readonly kinds?: readonly AgentKind[] | undefined
}

export interface Reloaded extends Changes {
  /** Sections that changed, and hold. */
  readonly applied: readonly string[]
  /** What changed and only holds after a restart. */
  readonly restart: readonly string[]
}

export interface Hub extends Pick<Server, 'url' | 'port' | 'grpcPort'> {
  /** There if it was made just now: nobody can read it later. */
  readonly madeAdminKey?: string
  agents(): readonly AgentStatus[]
  /** Files whose change means that the configuration is to be applied anew. */
  files(): readonly string[]
  /** What changed takes effect without ending what runs. */
  reload(config: HubConfig): Promise<Reloaded>
  close(): Promise<void>
}

export async function startHub(config: HubConfig, parts: HubParts): Promise<Hub> {
  const { log, insecure = false, kinds = allKinds } = parts
  const hasGuests = guestsOf(config).length > 0
  const isAtHome = isLoopback(config.listen.host)
  if (!isAtHome && !insecure) requireAccess(config)
  // On a machine of one's own, whoever lets anybody in must look at the Host (DNS rebinding), which is decided at the start.
  const mayOpen = hasGuests || !isAtHome || config.trustProxy
  const store = openStore({ ...storeOf(config), dataDir: config.dataDir })
  let server: Server | undefined
  let current = config
  let registry: Registry | undefined
  let access: Access | undefined
  let mcp: McpFront | undefined
  // Turns that a crash interrupted are taken up before the server is there, and may call other agents at once.
  const engine = Promise.withResolvers<Engine>()
  engine.promise.catch(() => {})
  const url = (): string | undefined => current.publicUrl ?? server?.url

  try {
    access = await openAccess()
    registry = createRegistry({ kinds, log, kindParts: kindPartsOf(access), limit, security: access.security })
    await registry.apply(config)
    // What is open needs the store until it is closed, and what ran has ended before the store is.
    closeFirst(store, registry, access)
    server = await start(registry, access)
  } catch (reason) {
    engine.reject(reason)
    await closeAll(store, registry, access)
    throw reason
  }
  engine.resolve(server.handler.engine)
  registry.attach(server.handler.agents)
  return asHub(server, registry, access)

  function openAccess(): Promise<Access> {
    return createAccess({
      notes: store.notes,
      settings: accessSettings(config),
      adminKey: config.admin.key,
      auditMs: config.retention.audit,
      log,
      agents: () => (registry === undefined ? [] : listAgents(registry, url())),
      hasAgent: (name) => registry?.status(name) !== undefined,
    })
  }

  function kindPartsOf(known: Access): RegistryParts['kindParts'] {
    const guard = guardedFetch({ allowHttp: true })
    const guarded: typeof fetch = (input, init) => guard(new Request(input, init))
    const bytes = createPartBytes({
      guardedFetch: guarded,
      ...(config.limits.fetched !== undefined ? { limitBytes: config.limits.fetched } : {}),
    })
    const houseParts = {
      engine: () => engine.promise,
      settings: (agent: string) => registry?.status(agent)?.settings,
      requireOpen: (agent: string) => registry?.requireOpen(agent),
      admitted: (caller: Caller, agent: string) => admitted(known, caller, agent),
      url: (agent: string) => `${url()}/a2a/${agent}`,
    }
    // The same object for all agents of a kind: what they have in common, such as a connection, hangs on it.
    const ofKinds = new Map<string, Notes>()
    const notesOfKind = (kind: string): Notes => {
      const notes = ofKinds.get(kind) ?? ownNotes(store.notes, `kind/${kind}`)
      ofKinds.set(kind, notes)
      return notes
    }
    return (name, { persona, timeout: turnTimeoutMs }, kind, baseDir) => ({
      name,
      log: named(log, name),
      baseDir,
      fetch: globalThis.fetch,
      guardedFetch: guarded,
      notes: ownNotes(store.notes, `agent/${name}`),
      kindNotes: notesOfKind(kind.kind),
      programEnv: parts.programEnv ?? {},
      bytes,
      house: createHouseCalls(houseParts, name),
      model: (agent) => registry?.open(agent)?.model,
      ...defined({ persona, turnTimeoutMs: turnTimeoutMs ?? kind.turnTimeoutMs }),
      publicUrl: url,
      now: Date.now,
    })
  }

  function start({ settings, defaultName, requireOpen, open }: Registry, known: Access): Promise<Server> {
    const house = houseOptions(config, hasGuests)
    const admit = whereOpen(requireOpen, known.admit)
    const hooks = createHooks({ open, log, bodyBytes: house.limits?.bodyBytes ?? 20_000_000 })
    const { authenticate, onAnswer } = known
    const shared = {
      engine: () => server?.handler.engine,
      requireOpen,
      authenticate,
      admit,
      onAnswer,
      log,
      now: Date.now,
    }
    const fronts: Front[] = [known.front, hooks]
    if (config.profiles.simpleTasks) fronts.push(createSimpleTasks({ ...shared, defaultAgent: chosenDefault }))
    if (config.profiles.olderDraft) fronts.unshift(olderDraft)
    mcp = openMcp(shared, house.limits?.bodyBytes ?? 20_000_000, known)
    if (mcp !== undefined) fronts.push(mcp.front)
    return serve({
      ...house,
      ...(config.profiles.olderDraft ? { restInKind: olderDraftRest } : {}),
      store,
      log,
      agents: settings(),
      default: defaultName(),
      authenticate,
      admit,
      onAnswer,
      onEvent: known.onEvent,
      front: forHosts(house.hosts, oneOf(...fronts)),
    })
  }

  /** The agents as tools for MCP clients. */
  function openMcp(
    shared: Pick<McpFrontParts, 'engine' | 'authenticate' | 'admit' | 'onAnswer' | 'log' | 'now'>,
    bodyBytes: number,
    known: Access,
  ): McpFront | undefined {
    if (config.mcp === false) return undefined
    const { tools, wait: waitMs, remote } = config.mcp
    const allow = typeof remote === 'object' ? remote.allow : []
    const reach = remote === false ? undefined : remoteReach(guardedFetch({ allowHttp: true, allow }))
    return createMcpFront({
      ...shared,
      settings: { tools, waitMs },
      identify: known.identify,
      admitted: (caller, agent) => admitted(known, caller, agent),
      names: () => registry?.names() ?? [],
      agentSettings: (agent) => registry?.status(agent)?.settings,
      isOpen: (agent) => registry?.open(agent) !== undefined,
      url: (agent) => `${url()}/a2a/${agent}`,
      hasOpenAgents: () => guestsOf(current).length > 0,
      // For those who may use every agent here; of those without a name only where nobody has one.
      remoteFor: (caller) =>
        known.mayUse(caller, '*') && (caller.anonymous !== true || current.access === undefined) ? reach : undefined,
      bodyBytes,
      publicUrl: url,
      issuers: () => (current.access?.jwt ?? []).map(({ issuer }) => issuer),
      cors: config.cors,
    })
  }

  /** The one whose entry says that it is. */
  function chosenDefault(): string | undefined {
    return Object.entries(current.agents).find(([, agent]) => agent.default)?.[0]
  }

  function asHub({ url: address, port, grpcPort, close }: Server, agents: Registry, known: Access): Hub {
    let reloading: Promise<unknown> = Promise.resolve()
    return {
      url: address,
      port,
      ...(grpcPort !== undefined ? { grpcPort } : {}),
      ...(known.madeAdminKey !== undefined ? { madeAdminKey: known.madeAdminKey } : {}),
      agents: () => agents.names().flatMap((name) => agents.status(name) ?? []),
      files: () => [...(current.file === undefined ? [] : [current.file]), ...agents.files()],
      reload(wanted) {
        const done = reloading.then(() => change(wanted, agents, known))
        reloading = done.catch(() => {})
        return done
      },
      async close() {
        await Promise.all([mcp?.close(), close()])
      },
    }
  }

  async function change(wanted: HubConfig, agents: Registry, known: Access): Promise<Reloaded> {
    if (!isAtHome && !insecure) requireAccess(wanted)
    const differ = <T extends object>(before: T, after: T, names: readonly (keyof T & string)[]): readonly string[] =>
      names.filter((name) => !isDeepStrictEqual(before[name], after[name]))
    const sections = differ(current, wanted, needRestart)
    const bounds = differ(current.limits, wanted.limits, boundsOfServer).map((name) => `limits.${name}`)
    const applied = differ(current, wanted, holdAtOnce)
    const guests = guestsOf(wanted)
    // What the server was made with stays what it is made with.
    current = { ...wanted, ...Object.fromEntries(sections.map((name) => [name, current[name as keyof HubConfig]])) }
    known.configure({ ...accessSettings(current), ...(mayOpen ? {} : { isOpen: () => false }) })
    const changes = await agents.apply(current)
    mcp?.changed()
    renewCertificate()
    const shut = mayOpen ? [] : guests.map((name) => `access without credentials to ${name}`)
    return { ...changes, applied, restart: [...sections, ...bounds, ...shut] }
  }

  function renewCertificate(): void {
    const tls = tlsOf(current)
    if (tls !== undefined && server !== undefined && 'setSecureContext' in server.server) {
      server.server.setSecureContext(tls)
    }
  }
}

/** What a server is made with once. */
const needRestart = [
  'listen',
  'store',
  'publicUrl',
  'admin',
  'retention',
  'push',
  'signing',
  'cors',
  'trustProxy',
  'profiles',
  'mcp',
] as const satisfies readonly (keyof HubConfig)[]

const boundsOfServer = ['body', 'fetched', 'parts', 'tasksPerCaller', 'streamsPerCaller', 'wait'] as const
const holdAtOnce = ['access', 'limits', 'skillBundles'] as const

function storeOf({ store: { url, ...rest } }: HubConfig) {
  const { direct, masterKey }: { direct?: string | undefined; masterKey?: string | undefined } = rest
  return { store: url, directStore: direct, masterKey }
}

/** The agents that may be called without credentials. */
function guestsOf(config: HubConfig): readonly string[] {
  return Object.keys(config.agents).filter(accessSettings(config).isOpen)
}

function limit(agent: Agent, { limits: { concurrent, queue, queueTimeout: queueTimeoutMs } }: AgentConfig): Agent {
  return concurrent === undefined ? agent : limitConcurrency(agent, { concurrent, queue, queueTimeoutMs })
}

function requireAccess(config: HubConfig): void {
  if (config.access !== undefined || guestsOf(config).length === 0) return
  throw new ConfigError(
    'listen.host',
    `everybody who reaches ${config.listen.host} could call every agent: say who may under \`access\`, or start with --insecure`,
  )
}

/** With what the caller may use of that agent. */
function admitted(access: Access, caller: Caller, agent: string) {
  if (!access.mayUse(caller, agent)) return undefined
  const grants = grantsOf(caller.scopes)
  const skills = grants.mayUse(agent) ? grants.skillsOf(agent) : undefined
  return skills === undefined ? {} : { skills }
}

/** New work for an agent that is not open is refused; after the rest, so that only who may use it learns of its trouble. */
function whereOpen(requireOpen: (agent: string) => void, admit: Admit): Admit {
  return async (asking) => {
    const admission = await admit(asking)
    const isNew = asking.operation === 'SendMessage' || asking.operation === 'SendStreamingMessage'
    if (admission.refuse !== undefined || !isNew) return admission
    try {
      requireOpen(asking.agent)
      return admission
    } catch (reason) {
      return { ...admission, refuse: A2AError.from(reason) }
    }
  }
}

function named(log: AgentLog, agent: string): AgentLog {
  const at =
    (level: keyof AgentLog): AgentLog[keyof AgentLog] =>
    (message, fields) =>
      log[level](message, { agent, ...fields })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function closeFirst(store: Store, ...others: readonly { close(): Promise<void> }[]): void {
  const close = store.close.bind(store)
  store.close = async () => {
    for (const other of others) await other.close()
    await close()
  }
}

async function closeAll(store: Store, ...others: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  for (const other of others) await other?.close().catch(() => {})
  await store.close().catch(() => {})
}
