/** The admin API, put together: all its routes in one table, who may use them, and those who follow what changes. */
import { type AgentLog, newId, type Store } from '@parley/a2a'
import type { ServePushOptions } from '@parley/a2a/node'
import type { Handler, OnAnswer, OnEvent } from '@parley/a2a/server'
import { z } from 'zod'
import type { AgentKind } from '../agents/kind.ts'
import type { Access } from '../auth/access.ts'
import type { HubConfig } from '../config/config.ts'
import { editorSchema } from '../config/json-schema.ts'
import type { ConfigSource } from '../config/source.ts'
import type { Health } from '../health/health.ts'
import { addressOf } from '../limits/address.ts'
import type { Reloaded } from '../reloaded.ts'
import type { Registry } from '../registry.ts'
import type { Routing } from '../routing/routing.ts'
import type { Traces } from '../telemetry/contract.ts'
import { createAgentView } from './agent-view.ts'
import { createBell } from './bell.ts'
import { createConfigDesk } from './config-desk.ts'
import { createFeed } from './feed.ts'
import { createJournal } from './journal.ts'
import { openApi } from './openapi.ts'
import { createOidc } from './oidc.ts'
import { createPulse } from './pulse.ts'
import { type Route, route } from './route.ts'
import { isSecure, openCounter } from './counter.ts'
import type { AdminFront } from './router.ts'
import { agentRoutes } from './routes/agents.ts'
import { entryRoutes } from './routes/agent-entries.ts'
import { configRoutes } from './routes/config.ts'
import { eventRoutes } from './routes/events.ts'
import { healthRoutes } from './routes/health.ts'
import { pushRoutes } from './routes/push.ts'
import { routingRoutes } from './routes/routing.ts'
import { searchRoutes } from './routes/search.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { taskRoutes } from './routes/tasks.ts'
import { traceRoutes } from './routes/traces.ts'
import { titleOf } from './task-view.ts'

export interface AdminParts {
  readonly access: Access
  readonly store: Store
  /** For people: where tasks are kept. */
  readonly storeName: string
  readonly registry: Registry
  /** When the hub has started. */
  handler(): Promise<Handler>
  /** How many streams are open now. */
  streams(): number
  readonly kinds: readonly AgentKind[]
  readonly programEnv: Readonly<Record<string, string>>
  /** As it holds now. */
  config(): HubConfig
  readonly source: ConfigSource | undefined
  preview(config: HubConfig): Reloaded
  reload(config: HubConfig): Promise<Reloaded>
  /** Whether it may be called without credentials. */
  isOpen(agent: string): boolean
  readonly health: Pick<Health, 'of' | 'probe'>
  suppose: Routing['suppose']
  traces(): Traces | undefined
  /** Where the hub is reached. */
  url(): string | undefined
  readonly version: string
  readonly log: AgentLog
  readonly now: () => number
}

export interface Listening {
  readonly onAnswer: OnAnswer
  readonly onEvent: OnEvent
  readonly push?: ServePushOptions
}

export interface Admin {
  readonly front: AdminFront
  /** What a server is to tell: those who were told before, and then this. */
  listening(others: Listening): Listening
  agentChanged(name: string): void
  configChanged(): void
  /** Lets go of those who follow, and writes what is pending. */
  close(): Promise<void>
}

export function openAdmin(parts: AdminParts): Admin {
  const { access, store, registry, handler, kinds, now, log, url, version } = parts
  const instance = newId()
  const closing = new AbortController()
  const bell = createBell()
  const failed = (cause: unknown): void => log.warn('what changed could not be noted', { cause })
  const journal = createJournal({ notes: store.notes, now, wake: bell.ring, failed })
  const pulse = createPulse(now, parts.streams)
  const view = createAgentView({
    registry,
    store,
    handler,
    isOpen: parts.isOpen,
    health: parts.health,
    now,
    url,
  })
  const desk = createConfigDesk({
    source: parts.source,
    kinds,
    notes: store.notes,
    secrets: async () => (await handler()).secrets,
    preview: parts.preview,
    reload: parts.reload,
    now,
  })
  const publicUrl = (): string | undefined => parts.config().publicUrl
  const hasAgent = (name: string): boolean => registry.status(name) !== undefined
  const oidc = createOidc({
    settings: () => parts.config().admin.oidc,
    secrets: async () => (await handler()).secrets,
    fetch: globalThis.fetch,
    now,
  })
  access.renewSessionsBy(oidc.renew)
  const routes: Route[] = [
    ...signInRoutes({
      oidc,
      settings: () => parts.config().admin.oidc,
      sessions: access.sessions,
      identify: access.identify,
      isSecure: (request) => isSecure(request, { access, publicUrl }),
      addressOf: (request) => addressOf(request, access.trustsProxy()),
      baseOf: (request) => publicUrl() ?? `${request.isEncrypted ? 'https' : 'http'}://${request.header('host')}`,
    }),
    ...agentRoutes({ view, registry, card: cardOf, entry: desk.entry }),
    ...entryRoutes({
      desk,
      registry,
      kinds,
      // Loaded when it is needed: each way to find out brings its own libraries along.
      detect: async (target, about) => (await import('../agents/detect/index.ts')).detect(target, about),
      fetch: globalThis.fetch,
      programEnv: parts.programEnv,
      baseDir: () => parts.config().baseDir,
    }),
    ...taskRoutes({ store, tasks: async () => (await handler()).engine.tasks, push: pushDesk }),
    ...traceRoutes(parts.traces, (taskId) => titleOf(store, taskId)),
    ...routingRoutes({ rules: () => parts.config().routes, suppose: parts.suppose, hasAgent }),
    ...pushRoutes({ store, push: pushDesk }),
    ...configRoutes({ desk, schema: () => editorSchema(kinds) }),
    ...healthRoutes({ store, storeName: parts.storeName, handler, view, pulse, version, instance, now }),
    ...searchRoutes({ registry, store, keys: access.keys, url }),
    ...eventRoutes({
      feed: createFeed({ store, journal }),
      bell,
      closing: closing.signal,
      instance,
      version,
      now,
    }),
    openApiRoute(),
  ]
  const jsonNodes = (): number | undefined => parts.config().limits.jsonNodes
  const counter = openCounter({ access, log, now, hasAgent, agentNames: registry.names, publicUrl, jsonNodes }, routes)

  return {
    front: counter.front,
    listening: ({ onAnswer, onEvent, push }) => ({
      onAnswer(answered) {
        onAnswer(answered)
        pulse.onAnswer(answered)
      },
      onEvent(event, about) {
        bell.ring()
        return onEvent(event, about)
      },
      ...(push === undefined
        ? {}
        : {
            push: {
              ...push,
              onNews(news) {
                push.onNews?.(news)
                journal.record({ type: 'push', taskId: news.taskId, configId: news.configId })
              },
            },
          }),
    }),
    agentChanged: (agent) => journal.record({ type: 'agent', agent }),
    configChanged: () => journal.record({ type: 'config' }),
    async close() {
      closing.abort()
      await journal.close()
    },
  }

  async function pushDesk() {
    return (await handler()).push
  }

  async function cardOf(agent: string, variant: Parameters<Handler['card']>[1]): Promise<string | undefined> {
    return (await handler()).card(agent, variant, url() ?? 'http://localhost')
  }

  function openApiRoute(): Route {
    return route({
      method: 'GET',
      path: '/admin/openapi.json',
      name: 'getOpenApi',
      summary: 'This document.',
      tag: 'OpenAPI',
      answer: z.record(z.string(), z.unknown()),
      handle: () => openApi(counter.routes, { version, url: url() }),
    })
  }
}
