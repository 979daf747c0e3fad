/**
 * A server without a listener: one function for node:http and its frameworks, one for the web's Request. Portable; the application
 * chooses the listener.
 */
import type { Engine, PushConfigService, Sealer, Signer } from '../engine/contract.ts'
import { createEngine } from '../engine/engine.ts'
import { type Keyring, openKeyring } from '../engine/keys/keyring.ts'
import { withStoreErrors } from '../engine/store-errors.ts'
import { systemClock } from '../model/clock.ts'
import { completeStore, missingFeatures } from '../stores/complete/complete-store.ts'
import { createAgentRegistry, createHandlerAgents, type HandlerAgents } from './agents/registered-agents.ts'
import { createHandlerCall, type HandlerCall } from './calls/in-process-call.ts'
import { checkSigning, createCardKeys } from './cards/card-keys.ts'
import { createCardSigner } from './cards/card-signer.ts'
import { checkHandlerOptions } from './check-options.ts'
import { ConfigError } from './config-error.ts'
import * as defaults from './defaults.ts'
import { createFetchHandler, type FetchHandler } from './http/fetch-adapter.ts'
import { createGrpcHandler, type GrpcHandler } from './grpc/grpc-handler.ts'
import { createServerContext } from './server-context.ts'
import { consoleLog } from './console-log.ts'
import { mergeKeyPublishers } from './keys/jwks.ts'
import { masterKeysOf } from './keys/master-key.ts'
import { createNodeHandler, type NodeHandler, type NodeMiddleware } from './http/node-adapter.ts'
import type { CardVariant, HandlerOptions } from './options.ts'
import { createPushSetup } from './push/push-setup.ts'
import { createStoreCheck, type Readiness } from './http/readiness.ts'
import { jwtDefaults } from './push/push-options.ts'
import { createSigningKeys, type SigningKeys } from './keys/signing-keys.ts'
import { type RotatedKeys, rotateSigningKeys, type RotateSigningKeysOptions } from './keys/rotate-signing-keys.ts'
import { createRouter } from './http/router.ts'
import { createEncodingCache } from './streaming/encoding-cache.ts'
import { openResponseMemory, type ResponseMemory } from './streaming/response-memory.ts'
import type { ReaderCounts } from './streaming/reader-limits.ts'

/** A server without a listener, as `createHandler` returns it. */
export interface Handler {
  /** For node:http and its frameworks: `app.use('/agent', handler.node)`, or `http.createServer(handler.node)`. */
  readonly node: NodeHandler
  /** For web frameworks: `app.all('/agent/*', (c) => handler.fetch(c.req.raw))`, with `prefix: '/agent'`. */
  readonly fetch: FetchHandler
  /** For `createGrpcServer` of `@parley/a2a/grpc`. */
  readonly grpc: GrpcHandler
  /**
   * Performs an operation inside the process, as for a request of a client: it identifies the caller, asks `admit`, checks the skills
   * and permissions of the caller, performs the operation and reports it to `onOutcome`. The result is canonical, or a stream of
   * events. Rejects with an `A2AError`.
   *
   * @example
   * ```ts
   * const { task } = await handler.call('SendMessage', { message }, { agent: 'echo', caller: { id: 'cron' } })
   * const stream = await handler.call('SubscribeToTask', { id: task.id }, { agent: 'echo', caller: { id: 'cron' } })
   * for await (const items of stream) for (const { event } of items) console.log(event)
   * ```
   */
  readonly call: HandlerCall
  /** The operations without any check of the caller. Use `call` unless you are the operator. */
  readonly engine: Engine
  /** Adds and removes agents while the server runs. */
  readonly agents: HandlerAgents
  /** For the operator: the state of push deliveries, and redelivery. Present if `push` is configured. */
  readonly push?: HandlerPush
  /** Bytes held for readers, waiting readers, and disconnected readers. */
  readonly readers: HandlerReaders
  /** Number of open streams, of one agent or of all. */
  openStreams(agent?: string): number
  /**
   * The card of an agent as JSON: for clients of a version, or `merged` for clients that name none. `base` is the URL at which they
   * reach the server. `undefined` if the agent is not registered.
   */
  card(agent: string, variant: CardVariant, base: string): Promise<string | undefined>
  /** Signs and seals data that leaves the server and comes back, such as a session, with the store's keyring. */
  readonly secrets: Signer & Sealer
  /**
   * Resolves when tasks that a crash interrupted are resumed; requests before that wait for it. Rejects if the server
   * cannot start: the store fails, or the master key does not match.
   */
  readonly ready: Promise<void>
  /**
   * Rotates the key for cards; the previous one signs beside it until the next rotation. Present if the server's own keys sign
   * cards.
   */
  readonly rotateCardKey?: () => Promise<void>
  /**
   * Rotates every key that the server signs and seals with: those for cards, webhooks, `signingPurposes`, page tokens and
   * `secrets`. What was signed or sealed before stays valid; old secret keys are removed by a later rotation, when nothing needs
   * them.
   */
  rotateSigningKeys(options?: RotateSigningKeysOptions): Promise<RotatedKeys>
  /**
   * Replaces the master key of the store, while it is used: all keys of the keyring are wrapped by another one. `sqliteStore` creates
   * the new key in `<file>.key.next` and renames it. With `postgresStore`, first give all replicas the new key as `masterKey` and the
   * old one in `previousMasterKeys`. Returns how many keys were wrapped again. Rejects if `masterKey` is an option of the server.
   */
  rotateMasterKey(): Promise<number>
  /** Keys for a purpose that `signingPurposes` lists. Throws for any other purpose. */
  signingKeys(purpose: string): SigningKeys
  /** Makes `/readyz` report the shutdown while the server keeps serving, so that load balancers stop routing to it. */
  announceShutdown(): void
  /** Accepts no more calls. Resolves when no turn runs that another process could not resume. */
  drain(): Promise<void>
  /** Accepts no more calls, stops running turns, writes pending data, and closes the store. */
  close(): Promise<void>
}

/** Counts of clients that read responses and streams, for metrics. */
export interface HandlerReaders extends ReaderCounts {
  /** Pages of logs that were read from the store for readers that were behind, since the start. */
  readonly pagesRead: number
  /** Pages that another reader at the same position had already requested: these cost no read and no copy. */
  readonly pagesShared: number
  /**
   * For your own endpoints: the memory of one response to this caller, which counts with that of all others. `signal` aborts when the
   * client disconnects.
   */
  openMemory(caller: string, signal: AbortSignal): ResponseMemory
  /** For your own listener: call it when you disconnected a reader that took nothing. */
  stalled(): void
}

/** The state of push deliveries of all callers, for the operator. */
export interface HandlerPush extends Pick<PushConfigService, 'cursors' | 'search' | 'attempts' | 'redeliver'> {
  /** Creates another signing key: it is published now, and signs after `push.jwt.overlapMs`. */
  rotateKey?(): Promise<void>
}

/**
 * Creates a server without a listener, to mount in an application's own server. It owns the store from now on: `close`
 * closes it. Throws ConfigError for invalid options; errors of the start are reported by `ready`.
 *
 * @example
 * ```ts
 * import { memoryStore } from '@parley/a2a'
 * import { createHandler } from '@parley/a2a/server'
 * import express from 'express'
 *
 * const handler = createHandler({ name: 'Echo', store: memoryStore(), agent: ({ text }) => text })
 * express().use('/agent', handler.node).listen(3000)
 * ```
 */
export function createHandler(options: HandlerOptions): Handler {
  checkHandlerOptions(options)
  return openHandler(options).handler
}

/** A handler, and what only `serve` needs of it. */
export interface OpenedHandler {
  readonly handler: Handler
  /** For a listener with a middleware. */
  withMiddleware(middleware: NodeMiddleware): NodeHandler
}

/** For options that are checked. */
export function openHandler(options: HandlerOptions): OpenedHandler {
  const { log = consoleLog } = options
  const store = completeStore(options.store)
  const prefix = checkPrefix(options.prefix)
  const publicUrl = checkPublicUrl(options.publicUrl)
  const registry = createAgentRegistry(options)
  const limits = { ...defaults.defaultServerLimits, ...options.limits }
  // With store errors: the key of a purpose is created on first use, and a full disk then is UNAVAILABLE, not INTERNAL.
  const keyring = openOnce(() =>
    openKeyring(withStoreErrors(store).keys, options.masterKey ?? masterKeysOf(store.keys)),
  )
  const secrets: Signer & Sealer = {
    sign: async (purpose, text) => (await keyring()).sign(purpose, text),
    verify: async (purpose, text, signature) => (await keyring()).verify(purpose, text, signature),
    seal: async (purpose, text, about) => (await keyring()).seal(purpose, text, about),
    unseal: async (purpose, sealed, about) => (await keyring()).unseal(purpose, sealed, about),
  }
  const bytes = createEncodingCache()
  const push =
    options.push === undefined
      ? undefined
      : createPushSetup(options.push, { keyring, publicUrl, encodingCache: bytes, registry })
  const ownEngine = createEngine({
    store,
    findAgent: (name) => registry.byName.get(name),
    limits,
    log,
    ...systemClock,
    signer: secrets,
    ...(options.retention !== undefined ? { retention: options.retention } : {}),
    ...(push !== undefined ? { push: push.engine } : {}),
    sweepMs: defaults.sweepMs,
  })
  const engine = options.wrapEngine?.(ownEngine) ?? ownEngine

  const storeAnswers = createStoreCheck(store, { log })
  const readiness: { -readonly [Field in keyof Readiness]: Readiness[Field] } = {
    state: 'starting',
    ready: Promise.resolve(),
    isReady: async () => readiness.state === 'ready' && (await storeAnswers()) && readiness.state === 'ready',
  }
  async function start(): Promise<void> {
    // Keys that cannot be unwrapped fail the start, not the first page.
    await keyring()
    await cardKeys?.signing()
    await engine.start()
    if (readiness.state === 'starting') readiness.state = 'ready'
  }

  const settings = { ...options, log, ...(publicUrl !== undefined ? { publicUrl } : {}) }
  const signing = checkSigning(settings)
  const cardKeys = signing === undefined ? undefined : createCardKeys(signing, keyring)
  const signer = cardKeys === undefined ? undefined : createCardSigner(cardKeys, signing?.jku)
  const ownKeys = new Map(
    (options.signingPurposes ?? []).map((purpose) => [
      purpose,
      createSigningKeys({ keyring, purpose, kidPrefix: `${purpose}.`, now: systemClock.now, ...jwtDefaults }),
    ]),
  )
  const serverContext = createServerContext(settings, registry, engine, { bytes, push: push?.rules, signer })
  const router = createRouter(
    serverContext,
    registry,
    readiness,
    options,
    mergeKeyPublishers(push?.signer, signer, ...ownKeys.values()),
  )
  // After everything that may throw because of invalid options: nothing must be running then.
  const missing = missingFeatures(options.store)
  if (missing !== undefined) log.warn(missing)
  const ready = (readiness.ready = start())
  // A caller that awaits `ready` gets the failure; otherwise the rejection must not end the process.
  ready.catch((reason: unknown) => log.error('the server could not start', { cause: reason }))
  let closed: Promise<void> | undefined
  const { unsentBytes } = serverContext
  const listening = { prefix, stallMs: options.stallMs ?? defaults.stallMs, stalled: unsentBytes.stalled }

  async function drain(): Promise<void> {
    readiness.state = 'stopped'
    await ready.catch(() => {})
    await engine.drain()
  }

  async function close(): Promise<void> {
    readiness.state = 'stopped'
    await ready.catch(() => {})
    await engine.close()
    await store.close()
  }

  const handler: Handler = {
    node: createNodeHandler(router, listening),
    fetch: createFetchHandler(router, listening),
    grpc: createGrpcHandler(serverContext, registry, readiness, options),
    call: createHandlerCall(serverContext, registry, readiness),
    engine,
    agents: createHandlerAgents(registry, engine, serverContext.tenants.declared),
    ...(engine.push !== undefined ? { push: handlerPushOf(engine.push, push?.signer?.rotate) } : {}),
    ...(cardKeys?.rotate !== undefined ? { rotateCardKey: cardKeys.rotate } : {}),
    readers: {
      get unsentBytes() {
        return unsentBytes.unsentBytes
      },
      get paused() {
        return unsentBytes.paused
      },
      get disconnected() {
        return unsentBytes.disconnected
      },
      get pagesRead() {
        return engine.logPageCounts.read
      },
      get pagesShared() {
        return engine.logPageCounts.shared
      },
      openMemory: (caller, signal) => openResponseMemory(unsentBytes, caller, signal),
      stalled: unsentBytes.stalled,
    },
    openStreams: (agent) => serverContext.streamLimits.openStreams(agent),
    async card(agent, variant, base) {
      const registeredAgent = registry.byName.get(agent)
      return registeredAgent === undefined || registeredAgent.isDraining === true
        ? undefined
        : serverContext.cards(registeredAgent).text(base, variant)
    },
    secrets,
    ready,
    async rotateSigningKeys(given) {
      const keyPairs = {
        ...(cardKeys?.rotate !== undefined ? { card: cardKeys.rotate } : {}),
        ...(push?.signer !== undefined ? { 'push-jwt': push.signer.rotate } : {}),
        ...Object.fromEntries([...ownKeys].map(([purpose, keys]) => [purpose, keys.rotate])),
      }
      const { now } = systemClock
      return rotateSigningKeys({ keyring: await keyring(), keyPairs, push: store.push, now }, given)
    },
    rotateMasterKey: async () => (await keyring()).rotateMasterKey(),
    signingKeys(purpose) {
      const keys = ownKeys.get(purpose)
      if (keys === undefined) throw new Error(`signingPurposes does not list ${purpose}`)
      return keys
    },
    announceShutdown() {
      if (readiness.state === 'ready') readiness.state = 'leaving'
    },
    drain,
    close: () => (closed ??= close()),
  }
  return { handler, withMiddleware: (middleware) => createNodeHandler(router, listening, middleware) }
}

function handlerPushOf(
  { cursors, search, attempts, redeliver }: PushConfigService,
  rotateKey?: () => Promise<void>,
): HandlerPush {
  return { cursors, search, attempts, redeliver, ...(rotateKey !== undefined ? { rotateKey } : {}) }
}

function openOnce(open: () => Promise<Keyring>): () => Promise<Keyring> {
  let opened: Promise<Keyring> | undefined
  return () => (opened ??= open())
}

/** Normalizes the prefix to `/agent`, whatever slashes it has. */
function checkPrefix(prefix = ''): string {
  const path = prefix.replace(/\/+$/, '')
  if (path === '') return ''
  if (!/^[\w.~%/-]+$/.test(path)) throw new ConfigError('prefix', 'must be a path such as /agent')
  return path.startsWith('/') ? path : `/${path}`
}

function checkPublicUrl(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError('publicUrl', 'must be an absolute http or https URL such as https://agent.example.com')
  }
  return publicUrl.replace(/\/+$/, '')
}
