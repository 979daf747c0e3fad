/** Assembles the admin API: its routes, its access checks and the change feed. */
import { type AgentLog, newId } from '@parley/a2a'
import type { FullStore } from '@parley/a2a/stores'
import type { Handler } from '@parley/a2a/server'
import { z } from 'zod'
import type { LogBuffer } from '../telemetry/logs/log-buffer.ts'
import type { AgentKind } from '../agents/kind.ts'
import type { AccessControl } from '../auth/access-control.ts'
import { adminSubject } from '../auth/console-session.ts'
import { signInPath } from '../auth/sign-in-codes.ts'
import type { HubConfig } from '../config/hub-config.ts'
import type { ErasedTasks } from '../erase/erased-tasks.ts'
import { editorSchema, type JsonSchema } from '../config/json-schema.ts'
import type { ConfigSource } from '../config/config-source.ts'
import { createKeyRotation } from '../key-rotation/key-rotation.ts'
import type { ReplicaRecords } from '../key-rotation/replica-records.ts'
import type { HealthMonitor } from '../health/health-monitor.ts'
import type { ReloadResult } from '../config/diff-config.ts'
import type { AgentRegistry } from '../registry/agent-registry.ts'
import type { Routing } from '../routing/routing.ts'
import type { HubSecrets } from '../secrets/hub-secrets.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { AuditExports } from '../audit/open-audit-exports.ts'
import type { StoreReport } from '../telemetry/store/store-monitor.ts'
import type { StatsHistory } from '../telemetry/stats/stats-history.ts'
import type { Traces } from '../telemetry/traces/trace-types.ts'
import { createAgentView } from './agent-view.ts'
import { createConfigService } from './config-service.ts'
import { requireSecrets } from './entry-secrets.ts'
import { createChangeFeed } from './change-feed.ts'
import { createChangeJournal } from './change-journal.ts'
import { buildOpenApi } from './openapi.ts'
import { createOidc } from './oidc.ts'
import { type AdminRoute, jsonRoute, taggedRoutes } from './route.ts'
import type { AdminMiddleware } from './admin-router.ts'
import { agentRoutes } from './routes/agents.ts'
import { auditExportRoutes } from './routes/audit.ts'
import { agentEntryRoutes } from './routes/agent-entries.ts'
import { erasureRoutes, type ErasureRoutesDeps } from './routes/erasures.ts'
import { callerRoutes } from './routes/callers.ts'
import { configRoutes } from './routes/config.ts'
import { eventRoutes } from './routes/events.ts'
import { keyRotationRoutes } from './routes/key-rotation.ts'
import { logRoutes } from './routes/logs.ts'
import { failureRoutes } from './routes/failures.ts'
import { healthRoutes } from './routes/health.ts'
import { pushRoutes } from './routes/push.ts'
import { routingRoutes } from './routes/routing.ts'
import { searchRoutes } from './routes/search.ts'
import { secretRoutes } from './routes/secrets.ts'
import { statsRoutes } from './routes/stats.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { taskRoutes } from './routes/tasks.ts'
import { traceRoutes } from './routes/traces.ts'
import { withCallerNames } from './caller-names.ts'
import { createFailureGroups } from './failure-groups.ts'
import { createTaskFacts } from './task-facts.ts'
import { createSecretRedactor } from '../telemetry/logs/redactor.ts'
import { taskSummaryOf } from './task-view.ts'
import { createAdminHandler, isSecureRequest } from './admin-handler.ts'

export interface AdminApiDeps {
  readonly access: AccessControl
  readonly observer: Observer
  readonly store: FullStore
  /** Where tasks are stored, for display. */
  readonly storeName: string
  /** The running replicas; `undefined` if the store serves one process. */
  readonly replicas: ReplicaRecords | undefined
  readonly registry: AgentRegistry
  /** Resolves when the hub has started. */
  handler(): Promise<Handler>
  readonly stats: Pick<StatsHistory, 'series' | 'usage' | 'callers' | 'endedTasks'>
  storeReport(): Promise<StoreReport | undefined>
  readonly auditExports: Pick<AuditExports, 'reader' | 'status'>
  readonly kinds: readonly AgentKind[]
  readonly programEnv: Readonly<Record<string, string>>
  /** The current configuration. */
  config(): HubConfig
  readonly source: ConfigSource | undefined
  readonly secrets: HubSecrets
  /** Removes the secrets of the configuration from an error. */
  readonly redact: ((text: string) => string) | undefined
  preview(config: HubConfig): ReloadResult
  reload(config: HubConfig): Promise<ReloadResult>
  /** Whether the agent may be called without credentials. */
  isAnonymousAllowed(agent: string): boolean
  readonly health: Pick<HealthMonitor, 'get' | 'probe' | 'retryNow' | 'stopRetrying'>
  dryRun: Routing['dryRun']
  traces(): Traces | undefined
  /** The URL of the hub. */
  url(): string | undefined
  readonly version: string
  readonly log: AgentLog
  /** The last lines of the log. */
  readonly logBuffer: LogBuffer | undefined
  readonly now: () => number
  readonly erasures: ErasureRoutesDeps['erasures']
  readonly erasedTasks: Pick<ErasedTasks, 'has'>
  readonly retention: ErasureRoutesDeps['retention']
}

export interface AdminApi {
  readonly middleware: AdminMiddleware
  agentChanged(name: string): void
  configChanged(): void
  /** A path of the console that signs in once, within a minute. `undefined` if this is not the admin key. */
  signInPath(key: string): Promise<string | undefined>
  /** Disconnects the readers of the change feed, and writes pending data. */
  close(): Promise<void>
}

export function createAdminApi(parts: AdminApiDeps): AdminApi {
  const { access, store, observer, registry, handler, kinds, now, log, url, version } = parts
  const instance = newId()
  const closing = new AbortController()
  // Made once: it takes 123 ms of CPU time, in which no other request is served.
  let schema: JsonSchema | undefined
  const failed = (cause: unknown): void => log.warn('an audit entry could not be written', { cause })
  const journal = createChangeJournal({
    kv: store.kv,
    now,
    onWrite: () => observer.observe('write', undefined),
    onError: failed,
    isErased: parts.erasedTasks.has,
  })
  observer.follow('push', ({ taskId, configId }) => journal.record({ type: 'push', taskId, configId }))
  const redactKept = createSecretRedactor(() => parts.secrets.values)
  const redact = (text: string): string => redactKept(parts.redact?.(text) ?? text)
  const facts = withCallerNames(createTaskFacts(store, redact), access.keys)
  const view = createAgentView({
    facts,
    registry,
    store,
    handler,
    isAnonymousAllowed: parts.isAnonymousAllowed,
    health: parts.health,
    usage: parts.stats.usage,
    endedTasks: parts.stats.endedTasks,
    redact,
    now,
    url,
  })
  const configService = createConfigService({
    source: requireSecrets(parts.source, parts),
    kinds,
    kv: store.kv,
    secrets: async () => (await handler()).secrets,
    preview: parts.preview,
    reload: parts.reload,
    now,
    maxVersions: () => parts.config().retention.configVersions,
  })
  const publicUrl = (): string | undefined => parts.config().publicUrl
  const hasAgent = (name: string): boolean => registry.status(name) !== undefined
  const oidc = createOidc({
    settings: () => parts.config().admin.oidc,
    secrets: async () => (await handler()).secrets,
    fetch: globalThis.fetch,
    now,
  })
  access.setSessionRenewal(oidc.renew)
  const routes: AdminRoute[] = [
    ...signInRoutes({
      oidc,
      config: parts.config,
      sessions: access.sessions,
      identify: access.identify,
      isSecure: (request) => isSecureRequest(request, { access, publicUrl }),
      baseOf: (request) => publicUrl() ?? `${request.isEncrypted ? 'https' : 'http'}://${request.header('host')}`,
    }),
    ...agentRoutes({ view, registry, health: parts.health, card: cardOf, entry: configService.entry }),
    ...agentEntryRoutes({
      configService,
      registry,
      kinds,
      // Loaded on demand: each detection has libraries of its own.
      detect: async (target, about) => (await import('../agents/detect/index.ts')).detect(target, about),
      fetch: globalThis.fetch,
      programEnv: parts.programEnv,
      secrets: parts.secrets,
      config: parts.config,
    }),
    ...secretRoutes(parts),
    ...taskRoutes({ store, facts, redact, now, tasks: async () => (await handler()).engine.tasks, push: pushHandler }),
    ...failureRoutes({ facts, hasAgent, now, groups: createFailureGroups(store, redact) }),
    ...traceRoutes({
      traces: parts.traces,
      async taskOf(taskId) {
        const row = await store.tasks.load(taskId)
        return row === undefined ? undefined : taskSummaryOf(row, await facts.read(row))
      },
      hasAgent,
      now,
    }),
    ...routingRoutes({ rules: () => parts.config().routes, dryRun: parts.dryRun, hasAgent }),
    ...pushRoutes({ store, push: pushHandler }),
    ...configRoutes({ configService, schema: () => (schema ??= editorSchema(kinds)) }),
    ...healthRoutes({
      store,
      storeName: parts.storeName,
      storeReport: parts.storeReport,
      auditExports: parts.auditExports.status,
      handler,
      view,
      configRejection: () => parts.source?.rejection,
      version,
      instance,
      now,
    }),
    ...auditExportRoutes({ audit: access.audit, reader: parts.auditExports.reader }),
    ...erasureRoutes(parts),
    ...keyRotationRoutes(
      createKeyRotation({
        adminKey: access.adminKey,
        store,
        handler,
        async reseal() {
          await configService.reseal()
          await parts.secrets.reseal()
        },
        replicas: parts.replicas,
      }),
    ),
    ...statsRoutes({ stats: parts.stats, hasAgent, now }),
    ...callerRoutes({ stats: parts.stats, keys: access.keys }),
    ...searchRoutes({ registry, store, facts, keys: access.keys, now, url }),
    ...eventRoutes({
      feed: createChangeFeed({ store, facts, journal }),
      observer,
      closing: closing.signal,
      instance,
      version,
      currency: parts.config().currency,
      now,
    }),
    ...logRoutes({ logBuffer: parts.logBuffer, closing: closing.signal }),
    ...taggedRoutes('OpenAPI', [
      jsonRoute('GET /admin/openapi.json', {
        name: 'getOpenApi',
        summary: 'This document.',
        response: z.record(z.string(), z.unknown()),
        handle: () => buildOpenApi(adminHandler.routes, { version, url: url() }),
      }),
    ]),
  ]
  const hasConsole = (): boolean => parts.config().admin.console
  const readers = async () => (await handler()).readers
  const jsonNodes = (): number | undefined => parts.config().limits.jsonNodes
  const adminHandler = createAdminHandler(
    { access, log, now, hasAgent, agentNames: registry.names, hasConsole, publicUrl, jsonNodes, readers },
    routes,
  )

  return {
    middleware: adminHandler.middleware,
    agentChanged: (agent) => journal.record({ type: 'agent', agent }),
    configChanged: () => journal.record({ type: 'config' }),
    async signInPath(key) {
      if (!(await access.adminKey.matches(key))) return undefined
      return signInPath(
        await access.signInCodes.create({ subject: adminSubject, grant: access.sessions.adminGrant(key) }),
      )
    },
    async close() {
      closing.abort()
      await journal.close()
    },
  }

  async function pushHandler() {
    return (await handler()).push
  }

  async function cardOf(agent: string, variant: Parameters<Handler['card']>[1]): Promise<string | undefined> {
    return (await handler()).card(agent, variant, url() ?? 'http://localhost')
  }
}
