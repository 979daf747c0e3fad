/** Builds a running hub from a configuration. The only file that knows all the parts. */
import { omitUndefined, systemClock, verifyMasterKey, type HandlerCall } from '@parley/a2a/internal'
import type { Handler } from '@parley/a2a/server'
import { serve, type Middleware, type Server } from '@parley/a2a/node'
import { createAdminApi, type AdminApi } from './admin/admin-api.ts'
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
import { createConsole } from './console/console-routes.ts'
import { intersectCallerScopes } from './delegation/chain-scopes.ts'
import { hopPurpose } from './delegation/hop-token.ts'
import { createDiscovery } from './discovery/discovery-routes.ts'
import { composeMiddleware } from './http/middleware.ts'
import { agentPermission, setUpDelegation, type DelegationSetup } from './delegation/delegation-setup.ts'
import { createAgentWebhooks } from './http/agent-webhooks.ts'
import { createCallRequest, decodeSegment, sendJson } from './http/route-request.ts'
import { createAgentServices } from './registry/agent-services.ts'
import { createAgentQueues } from './limits/limit-concurrency.ts'
import type { McpEndpoint } from './mcp/http-endpoint.ts'
import { openMcpEndpoint } from './mcp/open-endpoint.ts'
import { openReplicaRecords, type ReplicaRecords } from './key-rotation/replica-records.ts'
import { hubVersion } from './config/hub-version.ts'
import { namespacedKv } from './store/namespaced-kv.ts'
import { createProfiles } from './profiles/index.ts'
import { createAgentRegistry, type AgentStatus, type AgentRegistry } from './registry/agent-registry.ts'
import { serveOptionsFrom, isLoopback, renewTls, withLocalWebhooks } from './http/serve-options.ts'
import { recordConfigFile } from './config/config-record.ts'
import { openDataRemoval, type DataRemoval } from './retention/data-removal.ts'
import { traceRetentionMs } from './retention/retention-service.ts'
import { openHubSecrets, type HubSecrets } from './secrets/hub-secrets.ts'
import { modelCost } from './telemetry/model-prices.ts'
import { createObserver } from './telemetry/observer.ts'
import { openTelemetry } from './telemetry/telemetry.ts'
import { openAuditExports, type AuditExports } from './audit/open-audit-exports.ts'
import type { HubOptions } from './hub-options.ts'

export type { HubOptions }

export interface Hub extends Pick<Server, 'url' | 'port' | 'grpcPort'> {
  /** The URL of the console, if it is enabled. */
  readonly console?: string
  /** Set if the key was created by this start. Keep it: the store has only its hash. */
  readonly newAdminKey?: string
  /** A path of the console that signs in once, within a minute. `undefined` if this is not the admin key. */
  signInPath(key: string): Promise<string | undefined>
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
  let secrets: HubSecrets | undefined
  let reloading: Promise<unknown> = Promise.resolve()
  // Turns that a crash interrupted resume before the server exists, and may call other agents at once.
  const handler = Promise.withResolvers<Handler>()
  handler.promise.catch(() => {})
  const handlerCall: HandlerCall = async (...call) => (await handler.promise).call(...call)
  const url = (): string | undefined => current.publicUrl ?? server?.url
  const queues = createAgentQueues()
  const observer = createObserver({ hasAgent: (name) => registry?.has(name) === true, log })
  const storeSettings = storeSettingsOf(config)
  const telemetry = await openTelemetry(config.telemetry, {
    store: await openStore({ ...storeSettings, acceptLoss: parts.acceptLoss, log }),
    observer,
    log,
    ...systemClock,
    get retentionMs() {
      return traceRetentionMs(current.retention)
    },
    config: () => current,
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
    await recordConfigFile(store.kv, config.file, log)
    secrets = await openHubSecrets(store, log, () => server?.handler.secrets, secretsChanged)
    access = await openAccess()
    observer.follow('call', ({ call }) => access?.onOutcome(call))
    observer.follow('task', access.onTask)
    if (access.newAdminKey !== undefined) await parts.onNewAdminKey?.(access.newAdminKey)
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
    const { delegation, routing, inProcessClient, observe, checkMessage } = delegationSetup
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
      checkMessage,
      security: access.security,
      extensions: (name) => [delegation.extension(name)],
      onChange: (name) => admin?.agentChanged(name),
      secrets: () => secrets?.values,
    })
    await registry.apply(config)
    // Open parts need the store until they are closed, and running work ends before the store closes.
    closeBeforeStore(store, replicas, secrets, delegationSetup, registry, access, auditExports, telemetry)
    removal = openDataRemoval(handler.promise, { store, access, telemetry, log, settings: () => current.retention })
    admin = openAdminApi(registry, access, delegationSetup, removal, secrets)
    server = await start(registry, access, admin)
  } catch (reason) {
    handler.reject(reason)
    await closeAllQuietly(store, replicas, secrets, delegationSetup, registry, access, auditExports, telemetry)
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
      firstAdminKey: parts.firstAdminKey,
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
    hubSecrets: HubSecrets,
  ): AdminApi {
    return createAdminApi({
      ...dataRemoval,
      access: known,
      observer,
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
      secrets: hubSecrets,
      redact: parts.redact,
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
      trustProxy: config.trustProxy,
      permissionFor: (caller, agent) => agentPermission(known, caller, agent),
      publicUrl: () => current.publicUrl,
      url,
      log,
    })
  }

  function start(agents: AgentRegistry, known: AccessControl, { middleware: front }: AdminApi): Promise<Server> {
    const { settings, defaultName, requireOpen, open } = agents
    const serveOptions = serveOptionsFrom(config, hasAnonymousAgents)
    const admit = withAvailabilityCheck(requireOpen, known.admit)
    const webhooks = createAgentWebhooks({ open, log, bodyBytes: serveOptions.limits?.bodyBytes ?? 20_000_000 })
    const { onOutcome, onEvent } = observer
    const { push } = serveOptions
    const shared = { handlerCall, admit, onOutcome, log, ...systemClock }
    const { pages, notFound } = createConsole({
      folder: parts.consoleFolder ?? consoleFolder,
      isEnabled: () => current.admin.console,
      routes: (request, response, next) =>
        server === undefined ? next() : server.handler.node(request, response, next),
    })
    const { limits = {} } = serveOptions
    const readers = async () => (await handler.promise).readers
    mcp = openMcpEndpoint({
      ...shared,
      ...{ config, current: () => current, limits, access: known, registry: agents, url, readers },
    })
    const profiles = createProfiles(config.profiles, {
      ...shared,
      http: { openRequest: (incoming) => createCallRequest(incoming, config), decodeSegment, sendJson },
      // The one whose entry sets `default`.
      defaultAgent: () => Object.entries(current.agents).find(([, agent]) => agent.default)?.[0],
      hasMessagePerText: (agent) => open(agent)?.hasMessagePerText === true,
      records: (taskId) => store.tasks.read(taskId, 0),
      cardName,
    })
    const middleware = composeMiddleware({
      admin: front,
      console: pages,
      discovery: openDiscovery(agents, known),
      webhooks,
      metrics: telemetry.middleware,
      simpleTasks: profiles.simpleTasks,
      chat: profiles.chat,
      mcp: mcp?.middleware,
      notFound,
    })
    return serve({
      ...serveOptions,
      // Read at every use: a changed setting takes effect at once.
      retention: {
        get finishedMs() {
          return current.retention.finished
        },
        get maxTasks() {
          return current.retention.max
        },
        get logMs() {
          return current.retention.log
        },
        get deliveriesMs() {
          return current.retention.deliveries
        },
      },
      // The command prints the address, and browsers get the console.
      quiet: true,
      homePage: false,
      ...profiles.endpointVariants,
      store,
      log,
      agents: settings(),
      default: defaultName(),
      authenticate: known.authenticate,
      admit,
      canSeeAgent: known.canUse,
      intersectScopes: intersectCallerScopes,
      onOutcome,
      onEvent,
      onStream: known.onStream,
      ...(push === undefined
        ? {}
        : {
            push: {
              ...withLocalWebhooks(push, () => current),
              onResult: (result) => observer.observe('push', result),
            },
          }),
      signingPurposes: [hopPurpose],
      middleware,
    })
  }

  function cardName(agent: string): string | undefined {
    const status = registry?.status(agent)
    return status === undefined ? undefined : (status.settings.name ?? agent)
  }

  function toHub({ url: address, port, grpcPort, close }: Server, agents: AgentRegistry, known: AccessControl): Hub {
    return {
      url: address,
      port,
      ...omitUndefined({ grpcPort, newAdminKey: known.newAdminKey }),
      ...(config.admin.console ? { console: `${address}/` } : {}),
      signInPath: async (key) => admin?.signInPath(key),
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

  async function reload(nextConfig: HubConfig): Promise<ReloadResult> {
    // It may refer to a secret that was just set on another replica.
    await secrets?.refresh().catch(() => {})
    return applyNext(() => nextConfig)
  }

  /** The first ones are read before there is a server. */
  async function secretsChanged(values: HubSecrets['values']): Promise<void> {
    parts.onSecrets?.([...values.values()])
    if (server !== undefined) await applyNext(() => current)
  }

  /** Changes run one after the other. */
  function applyNext(configOf: () => HubConfig): Promise<ReloadResult> {
    const done = reloading.then(() => change(configOf(), registry as AgentRegistry, access as AccessControl))
    reloading = done.catch(() => {})
    return done
  }

  async function change(nextConfig: HubConfig, agents: AgentRegistry, known: AccessControl): Promise<ReloadResult> {
    const { applied, restart } = preview(nextConfig)
    current = applyLive(current, nextConfig)
    const anonymous = canAllowAnonymous ? {} : { isAnonymousAllowed: () => false }
    known.configure({ ...accessSettings(current), ...anonymous }, current.admin)
    delegationSetup?.configure()
    const result = { ...(await agents.apply(current)), applied, restart }
    // Resolves when the gRPC ports of the agents are open.
    await server?.grpcPorts()
    mcp?.toolsChanged()
    admin?.configChanged()
    if (server !== undefined) renewTls(server, current)
    // A reload without a file has said so already.
    if (nextConfig.file !== undefined) await recordConfigFile(store.kv, nextConfig.file, log).catch(() => {})
    parts.onReload?.(result)
    return result
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
}
