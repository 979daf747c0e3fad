/** Builds a running hub from a configuration. The only file that knows all the parts. */
import { omitUndefined, type AgentLog } from '@parley/a2a'
import { systemClock, verifyMasterKey } from '@parley/a2a/server'
import type { Handler, HandlerCall } from '@parley/a2a/server'
import { serve, type Middleware, type Server } from '@parley/a2a/node'
import { createAdminApi, type AdminApi } from './admin/admin-api.ts'
import type { AgentKind } from './agents/kind.ts'
import { agentKinds as allKinds } from './agents/kinds.ts'
import { createAccessControl, type AccessControl } from './auth/access-control.ts'
import { withAvailabilityCheck, accessSettings } from './auth/admit-request.ts'
import { anonymousAgents, requireAccess } from './auth/anonymous-agents.ts'
import {
  closeAllQuietly,
  closeBeforeStore,
  describeStore,
  firstReadError,
  openStore,
  storeSettingsOf,
} from './store/open-store.ts'
import { lastBackup } from './store/last-backup.ts'
import { applyLive, diffConfig, type ReloadResult } from './config/diff-config.ts'
import type { HubConfig } from './config/hub-config.ts'
import type { ConfigSource } from './config/config-source.ts'
import { createConsole } from './console/console-routes.ts'
import { intersectCallerScopes } from './delegation/chain-scopes.ts'
import { hopPurpose } from './delegation/hop-token.ts'
import { createDiscovery } from './discovery/discovery-routes.ts'
import { restrictHosts, composeMiddleware } from './http/middleware.ts'
import { agentPermission, setUpDelegation, type DelegationSetup } from './delegation/delegation-setup.ts'
import { createAgentWebhooks } from './http/agent-webhooks.ts'
import { createAgentServices } from './registry/agent-services.ts'
import { createAgentQueues } from './limits/limit-concurrency.ts'
import type { McpEndpoint } from './mcp/http-endpoint.ts'
import { openMcpEndpoint } from './mcp/open-endpoint.ts'
import { openReplicaRecords, type ReplicaRecords } from './key-rotation/replica-records.ts'
import { hubVersion } from './config/hub-version.ts'
import { namespacedKv } from './store/namespaced-kv.ts'
import { createChatEndpoint } from './profiles/chat-endpoint.ts'
import { legacyV03Draft } from './profiles/legacy-v03-draft.ts'
import { createSimpleTasksEndpoint } from './profiles/simple-tasks-endpoint.ts'
import { createAgentRegistry, type AgentStatus, type AgentRegistry } from './registry/agent-registry.ts'
import { serveOptionsFrom, isLoopback, readTls } from './http/serve-options.ts'
import { openDataRemoval, type DataRemoval } from './retention/data-removal.ts'
import { traceRetentionMs } from './retention/retention-service.ts'
import { modelCost } from './telemetry/model-prices.ts'
import { openTelemetry, type TelemetryDeps } from './telemetry/telemetry.ts'
import type { LogBuffer } from './telemetry/logs/log-buffer.ts'
import { openAuditExports, type AuditExports } from './audit/open-audit-exports.ts'

export interface HubOptions {
  readonly log: AgentLog
  /** The last lines of `log`, for the admin API. Default: none. */
  readonly logBuffer?: LogBuffer | undefined
  /** Accepts anonymous access on any address, if the configuration allows anonymous access. */
  readonly insecure?: boolean | undefined
  /** Opens a SQLite file even if acknowledged writes are missing. Default `false`: the hub refuses to start. */
  readonly acceptLoss?: boolean | undefined
  /** Environment variables for programs that agents start. Default: none. */
  readonly programEnv?: Readonly<Record<string, string>> | undefined
  /** Default: all built-in kinds. */
  readonly kinds?: readonly AgentKind[] | undefined
  /** The folder of the console files. Default: the output folder of the build. */
  readonly consoleFolder?: URL | undefined
  /** Writes to the standard output, for `audit.export`. Default: that of the process. */
  readonly print?: ((text: string) => void | Promise<void>) | undefined
  /** The configuration source for changes through the admin API. Default: none, so such changes are refused. */
  readonly source?: ConfigSource | undefined
  /** The providers of secrets, for metrics. Default: none. */
  readonly secretProviders?: TelemetryDeps['secretProviders'] | undefined
}

export interface Hub extends Pick<Server, 'url' | 'port' | 'grpcPort'> {
  /** The URL of the console, if it is enabled. */
  readonly console?: string
  /** Set if the key was created by this start. It cannot be read again later. */
  readonly newAdminKey?: string
  agents(): readonly AgentStatus[]
  /** Files whose change requires a reload of the configuration. */
  files(): readonly string[]
  /** Applies changes without ending running work. */
  reload(config: HubConfig): Promise<ReloadResult>
  close(): Promise<void>
}

/** The output folder of the build, beside the sources and beside the compiled files. */
const consoleFolder = new URL('../console/', import.meta.url)

export async function startHub(config: HubConfig, parts: HubOptions): Promise<Hub> {
  const { log, insecure = false, kinds = allKinds } = parts
  const hasAnonymousAgents = anonymousAgents(config).length > 0
  const isLoopbackHost = isLoopback(config.listen.host)
  if (!isLoopbackHost && !insecure) requireAccess(config)
  // On loopback with anonymous access the server must check the Host (DNS rebinding). That is decided at the start.
  const canAllowAnonymous = hasAnonymousAgents || !isLoopbackHost || config.trustProxy
  let server: Server | undefined
  let current = config
  let registry: AgentRegistry | undefined
  let access: AccessControl | undefined
  let mcp: McpEndpoint | undefined
  let delegationSetup: DelegationSetup | undefined
  let admin: AdminApi | undefined
  let removal: DataRemoval | undefined
  let auditExports: AuditExports | undefined
  let replicas: ReplicaRecords | undefined
  let reloading: Promise<unknown> = Promise.resolve()
  // Turns that a crash interrupted resume before the server exists, and may call other agents at once.
  const handler = Promise.withResolvers<Handler>()
  handler.promise.catch(() => {})
  const handlerCall: HandlerCall = async (...call) => (await handler.promise).call(...call)
  const url = (): string | undefined => current.publicUrl ?? server?.url
  const queues = createAgentQueues()
  const storeSettings = storeSettingsOf(config)
  const telemetry = await openTelemetry(config.telemetry, {
    store: await openStore({ ...storeSettings, acceptLoss: parts.acceptLoss, log }),
    log,
    ...systemClock,
    get retentionMs() {
      return traceRetentionMs(current.retention)
    },
    isLoopbackOnly: isLoopbackHost && !config.trustProxy,
    isAdmin: async (key) => (await access?.adminKey.matches(key)) === true,
    streams: (agent) => server?.handler.openStreams(agent) ?? 0,
    readers: () => server?.handler.readers,
    connections: () => server?.connections(),
    agents: () => registry,
    queues: queues.lengths,
    auditExports: async () => (await auditExports?.status()) ?? [],
    secretProviders: parts.secretProviders ?? (() => []),
    lastBackupAt: async () => (await lastBackup(storeSettings, store))?.at,
  })
  const { store } = telemetry

  try {
    await verifyMasterKey(store).catch((reason: unknown) => {
      throw firstReadError(reason, storeSettings)
    })
    replicas = await openReplicaRecords(store, log)
    access = await openAccess()
    auditExports = openAuditExports(config, { store, log, print: parts.print, ...systemClock })
    delegationSetup = await setUpDelegation({
      kv: namespacedKv(store.kv, 'delegation'),
      config: () => current,
      access,
      registry: () => registry,
      handler: handler.promise,
      url,
      agentChanged: (name) => admin?.agentChanged(name),
      log,
    })
    const { delegation, routing, inProcessClient, observe } = delegationSetup
    registry = createAgentRegistry({
      kinds,
      log,
      agentServices: createAgentServices({
        kv: store.kv,
        log,
        limitBytes: config.limits.fetched,
        jsonNodes: config.limits.jsonNodes,
        inProcessClient,
        programEnv: parts.programEnv ?? {},
        model: (agent) => registry?.open(agent)?.model,
        cost: (model, usage) => modelCost(model, usage, current.prices),
        publicUrl: url,
        agentChanged: (name) => admin?.agentChanged(name),
      }),
      limit: (agent, agentConfig, name) => queues.limit(observe(name, agent), agentConfig.limits, name),
      routing,
      security: access.security,
      extensions: (name) => [delegation.extension(name)],
      onChange: (name) => admin?.agentChanged(name),
    })
    await registry.apply(config)
    // Open parts need the store until they are closed, and running work ends before the store closes.
    closeBeforeStore(store, replicas, delegationSetup, registry, access, auditExports, telemetry)
    removal = openDataRemoval(handler.promise, { store, access, telemetry, log, settings: () => current.retention })
    admin = openAdminApi(registry, access, delegationSetup, removal)
    server = await start(registry, access, admin)
  } catch (reason) {
    handler.reject(reason)
    await closeAllQuietly(store, replicas, delegationSetup, registry, access, auditExports, telemetry)
    throw reason
  }
  handler.resolve(server.handler)
  registry.attachServer(server.handler.agents)
  removal.start()
  return toHub(server, registry, access)

  function openAccess(): Promise<AccessControl> {
    return createAccessControl({
      kv: store.kv,
      settings: accessSettings(config),
      admin: config.admin,
      get auditMs() {
        return current.retention.audit
      },
      get endedKeysMs() {
        return current.retention.keys
      },
      isShared: Number.isFinite(store.leaseTtlMs),
      log,
      secrets: async () => (await handler.promise).secrets,
    })
  }

  function openAdminApi(
    agents: AgentRegistry,
    known: AccessControl,
    { health, routing }: DelegationSetup,
    dataRemoval: DataRemoval,
  ): AdminApi {
    return createAdminApi({
      ...dataRemoval,
      access: known,
      store,
      replicas,
      storeName: describeStore({ store: config.store.url, dataDir: config.dataDir }),
      registry: agents,
      handler: () => handler.promise,
      stats: telemetry.stats,
      storeReport: telemetry.storeReport,
      auditExports: auditExports as AuditExports,
      kinds,
      programEnv: parts.programEnv ?? {},
      config: () => current,
      source: parts.source,
      preview,
      reload,
      isAnonymousAllowed: (agent) => canAllowAnonymous && accessSettings(current).isAnonymousAllowed(agent),
      health,
      dryRun: routing.dryRun,
      traces: () => telemetry.traces,
      url,
      version: hubVersion(),
      log,
      logBuffer: parts.logBuffer,
      ...systemClock,
    })
  }

  function openDiscovery(agents: AgentRegistry, known: AccessControl): Middleware {
    return createDiscovery({
      registry: agents,
      identify: known.identify,
      permissionFor: (caller, agent) => agentPermission(known, caller, agent),
      publicUrl: () => current.publicUrl,
      url,
      log,
    })
  }

  function start(
    agents: AgentRegistry,
    known: AccessControl,
    { middleware: front, withListeners }: AdminApi,
  ): Promise<Server> {
    const { settings, defaultName, requireOpen, open } = agents
    const serveOptions = serveOptionsFrom(config, hasAnonymousAgents)
    const admit = withAvailabilityCheck(requireOpen, known.admit)
    const webhooks = createAgentWebhooks({ open, log, bodyBytes: serveOptions.limits?.bodyBytes ?? 20_000_000 })
    const { onAnswer, onEvent, push } = withListeners(telemetry.withListeners(known, serveOptions.push))
    const shared = { handlerCall, admit, onAnswer, log, ...systemClock }
    const { pages, notFound } = createConsole({
      folder: parts.consoleFolder ?? consoleFolder,
      isEnabled: () => current.admin.console,
      routes: (request, response, next) =>
        server === undefined ? next() : server.handler.node(request, response, next),
    })
    const { limits = {} } = serveOptions
    mcp = openMcpEndpoint({ ...shared, config, current: () => current, limits, access: known, registry: agents, url })
    const middleware = composeMiddleware({
      admin: front,
      console: pages,
      discovery: openDiscovery(agents, known),
      webhooks,
      metrics: telemetry.middleware,
      simpleTasks: config.profiles.simpleTasks
        ? createSimpleTasksEndpoint({
            ...shared,
            defaultAgent: explicitDefault,
            hasMessagePerText: (agent) => open(agent)?.hasMessagePerText === true,
            records: (taskId) => store.tasks.read(taskId, 0),
          })
        : undefined,
      chat: config.profiles.botChat ? createChatEndpoint({ ...shared, cardName }) : undefined,
      mcp: mcp?.middleware,
      notFound,
    })
    return serve({
      ...serveOptions,
      retention: liveRetention(() => current.retention),
      // The command prints the address, and browsers get the console.
      quiet: true,
      homePage: false,
      ...(config.profiles.olderDraft ? { endpointVariants: legacyV03Draft } : {}),
      store,
      log,
      agents: settings(),
      default: defaultName(),
      authenticate: known.authenticate,
      admit,
      canSeeAgent: known.canUse,
      intersectScopes: intersectCallerScopes,
      onAnswer,
      onEvent,
      onStream: known.onStream,
      ...omitUndefined({ push }),
      signingPurposes: [hopPurpose],
      middleware: restrictHosts(serveOptions.hosts, middleware),
    })
  }

  function cardName(agent: string): string | undefined {
    const status = registry?.status(agent)
    return status === undefined ? undefined : (status.settings.name ?? agent)
  }

  /** The agent whose entry sets `default`. */
  function explicitDefault(): string | undefined {
    return Object.entries(current.agents).find(([, agent]) => agent.default)?.[0]
  }

  function toHub({ url: address, port, grpcPort, close }: Server, agents: AgentRegistry, known: AccessControl): Hub {
    return {
      url: address,
      port,
      ...omitUndefined({ grpcPort }),
      ...(config.admin.console ? { console: `${address}/` } : {}),
      ...omitUndefined({ newAdminKey: known.newAdminKey }),
      agents: () => agents.names().flatMap((name) => agents.status(name) ?? []),
      files: () => [current.file, current.secretFiles, agents.files()].flatMap((files) => files ?? []),
      reload,
      async close() {
        // Before the store closes.
        await Promise.all([admin?.close(), removal?.close()])
        await Promise.all([mcp?.close(), close()])
      },
    }
  }

  /** Reloads run one after the other. */
  function reload(nextConfig: HubConfig): Promise<ReloadResult> {
    const done = reloading.then(() => change(nextConfig, registry as AgentRegistry, access as AccessControl))
    reloading = done.catch(() => {})
    return done
  }

  async function change(nextConfig: HubConfig, agents: AgentRegistry, known: AccessControl): Promise<ReloadResult> {
    const { applied, restart } = preview(nextConfig)
    current = applyLive(current, nextConfig)
    const anonymous = canAllowAnonymous ? {} : { isAnonymousAllowed: () => false }
    known.configure({ ...accessSettings(current), ...anonymous }, current.admin)
    delegationSetup?.configure()
    const changes = await agents.apply(current)
    // Resolves when the gRPC ports of the agents are open.
    await server?.grpcPorts()
    mcp?.toolsChanged()
    admin?.configChanged()
    renewCertificate()
    return { ...changes, applied, restart }
  }

  /** Returns what `change` would do. Throws ConfigError, as `change` does. */
  function preview(nextConfig: HubConfig): ReloadResult {
    if (!isLoopbackHost && !insecure) requireAccess(nextConfig)
    const changes = diffConfig(current, nextConfig)
    const anonymousAfterRestart = canAllowAnonymous
      ? []
      : anonymousAgents(nextConfig).map((name) => `access without credentials to ${name}`)
    // Which key counts then is decided at the start, which may have to create one and show it.
    const keyAfterRestart = current.admin.key !== undefined && nextConfig.admin.key === undefined ? ['admin.key'] : []
    return { ...changes, restart: [...changes.restart, ...anonymousAfterRestart, ...keyAfterRestart] }
  }

  function renewCertificate(): void {
    const tls = readTls(current)
    if (tls !== undefined && server !== undefined && 'setSecureContext' in server.server) {
      server.server.setSecureContext(tls)
    }
  }
}

/** The retention of the engine, which reads it for every sweep: a changed setting takes effect at once. */
function liveRetention(settings: () => HubConfig['retention']): NonNullable<Parameters<typeof serve>[0]['retention']> {
  return {
    get finishedMs() {
      return settings().finished
    },
    get maxTasks() {
      return settings().max
    },
    get logMs() {
      return settings().log
    },
    get deliveriesMs() {
      return settings().deliveries
    },
  }
}
