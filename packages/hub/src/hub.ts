/** From a configuration to a running hub: the only file that knows all the parts. */
import { isDeepStrictEqual } from 'node:util'
import type { Agent, AgentLog, Caller, Store } from '@parley/a2a'
import { ConfigError } from '@parley/a2a/server'
import type { Admit, Engine } from '@parley/a2a/server'
import { guardedFetch, serve } from '@parley/a2a/node'
import type { Front, Server } from '@parley/a2a/node'
import type { AgentKind } from './agents/kind.ts'
import { kinds as allKinds } from './agents/kinds.ts'
import { createPartBytes } from './agents/part-bytes.ts'
import { createAccess } from './auth/access.ts'
import type { Access } from './auth/access.ts'
import { grantsOf } from './auth/scopes.ts'
import { accessSettings } from './auth/settings.ts'
import type { AgentConfig, HubConfig } from './config/config.ts'
import { defined } from './defined.ts'
import { createHooks } from './hooks.ts'
import { createHouseCalls } from './house-calls.ts'
import { limitConcurrency } from './limits/concurrency.ts'
import { openStore } from './open-store.ts'
import { ownNotes } from './own-notes.ts'
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
  /** Sections that changed and only hold after a restart. */
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
  if (config.access === undefined && !insecure && !isLoopback(config.listen.host)) throw openToAll(config.listen.host)
  const store = openStore({ ...storeOf(config), dataDir: config.dataDir })
  let server: Server | undefined
  let current = config
  let registry: Registry | undefined
  let access: Access | undefined
  const url = (): string | undefined => current.publicUrl ?? server?.url

  try {
    access = await openAccess()
    registry = createRegistry({ kinds, log, kindParts: kindPartsOf(access), limit, security: access.security })
    await registry.apply(config)
    // What is open needs the store until it is closed, and what ran has ended before the store is.
    closeFirst(store, registry, access)
    server = await start(registry, access)
  } catch (reason) {
    if (server === undefined) await closeAll(store, registry, access)
    throw reason
  }
  const { handler } = server
  registry.attach(handler.agents)
  return asHub(server, registry, access)

  function openAccess(): Promise<Access> {
    return createAccess({
      notes: store.notes,
      settings: accessSettings(config),
      adminKey: config.admin.key,
      log,
      agents: () => (registry?.names() ?? []).map(listing),
      hasAgent: (name) => registry?.status(name) !== undefined,
    })
  }

  /** For whoever runs the hub. */
  function listing(name: string): object {
    const { settings, ...status } = registry?.status(name) as AgentStatus
    const { name: title, description, skills = [] } = settings
    return { ...status, title, description, url: `${url()}/a2a/${name}`, skills: skills.map(({ id }) => id) }
  }

  function kindPartsOf(known: Access): RegistryParts['kindParts'] {
    const guard = guardedFetch({ allowHttp: true })
    const guarded: typeof fetch = (input, init) => guard(new Request(input, init))
    const bytes = createPartBytes({
      guardedFetch: guarded,
      ...(config.limits.fetched !== undefined ? { limitBytes: config.limits.fetched } : {}),
    })
    const houseParts = {
      engine: (): Engine | undefined => server?.handler.engine,
      settings: (agent: string) => registry?.status(agent)?.settings,
      requireOpen: (agent: string) => registry?.requireOpen(agent),
      admitted: (caller: Caller, agent: string) => admitted(known, caller, agent),
      url: (agent: string) => `${url()}/a2a/${agent}`,
    }
    return (name, { persona, timeout: turnTimeoutMs }, kind, baseDir) => ({
      name,
      log: named(log, name),
      baseDir,
      fetch: globalThis.fetch,
      guardedFetch: guarded,
      notes: ownNotes(store.notes, `agent/${name}`),
      kindNotes: ownNotes(store.notes, `kind/${kind.kind}`),
      programEnv: parts.programEnv ?? {},
      bytes,
      house: createHouseCalls(houseParts, name),
      model: (agent) => registry?.open(agent)?.model,
      ...defined({ persona, turnTimeoutMs: turnTimeoutMs ?? kind.turnTimeoutMs }),
      publicUrl: url,
      now: Date.now,
    })
  }

  function limit(agent: Agent, name: string, { limits }: AgentConfig): Agent {
    const { concurrent, queue, queueTimeout: queueTimeoutMs } = { ...current.limits.perAgent[name], ...limits }
    return concurrent === undefined ? agent : limitConcurrency(agent, { concurrent, queue, queueTimeoutMs })
  }

  function start({ settings, defaultName, requireOpen, open }: Registry, known: Access): Promise<Server> {
    const { isOpen } = accessSettings(config)
    const house = houseOptions(config, Object.keys(config.agents).some(isOpen))
    const hooks = createHooks({ open, log, bodyBytes: house.limits?.bodyBytes ?? 20_000_000 })
    return serve({
      ...house,
      store,
      log,
      agents: settings(),
      default: defaultName(),
      authenticate: known.authenticate,
      admit: whereOpen(requireOpen, known.admit),
      onAnswer: known.onAnswer,
      onEvent: known.onEvent,
      front: oneOf(known.front, hooks),
    })
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
      reload(next) {
        const done = reloading.then(() => reload(next, agents, known))
        reloading = done.catch(() => {})
        return done
      },
      close,
    }
  }

  async function reload(next: HubConfig, agents: Registry, known: Access): Promise<Reloaded> {
    const restart = needRestart.filter((section) => !isDeepStrictEqual(pick(current, section), pick(next, section)))
    // What the server was made with stays what it is made with.
    current = { ...next, ...Object.fromEntries(restart.map((section) => [section, current[section]])) }
    known.configure(accessSettings(current))
    const changes = await agents.apply(current)
    renewCertificate()
    return { ...changes, restart }
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
] as const satisfies readonly (keyof HubConfig)[]

function pick(config: HubConfig, section: (typeof needRestart)[number]): unknown {
  return config[section]
}

function storeOf({ store: { url, ...rest } }: HubConfig) {
  const { direct, masterKey }: { direct?: string | undefined; masterKey?: string | undefined } = rest
  return { store: url, directStore: direct, masterKey }
}

function openToAll(host: string): ConfigError {
  return new ConfigError(
    'listen.host',
    `everybody who reaches ${host} could call every agent: say who may under \`access\`, or start with --insecure`,
  )
}

/** With what the caller may use of that agent. */
function admitted(access: Access, caller: Caller, agent: string) {
  if (!access.mayUse(caller, agent)) return undefined
  const grants = grantsOf(caller.scopes)
  const skills = grants.mayUse(agent) ? grants.skillsOf(agent) : undefined
  return skills === undefined ? {} : { skills }
}

/** New work for an agent that is not open is refused before anybody counts it. */
function whereOpen(requireOpen: (agent: string) => void, admit: Admit): Admit {
  return (asking) => {
    if (asking.operation === 'SendMessage' || asking.operation === 'SendStreamingMessage') requireOpen(asking.agent)
    return admit(asking)
  }
}

function oneOf(...fronts: readonly Front[]): Front {
  return (request, response) => fronts.some((front) => front(request, response))
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
