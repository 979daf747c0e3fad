/**
 * A server without a listener: one function for node:http and the frameworks on it, one
 * for the web's Request. Portable; who listens, and on what, is somebody else's choice.
 */
import type { Engine, PushDesk, Sealer, Signer } from '../engine/contract.ts'
import { createEngine } from '../engine/engine.ts'
import { type Keyring, openKeyring } from '../engine/keyring.ts'
import { reachable } from '../engine/reachable.ts'
import { systemClock } from '../model/clock.ts'
import { createHandlerAgents, type HandlerAgents } from './agents.ts'
import type { CardVariant } from './card.ts'
import { checkSigning, createCardKeys } from './card-keys.ts'
import { createCardSigner } from './card-signer.ts'
import { ConfigError } from './config-error.ts'
import * as defaults from './defaults.ts'
import { createFetchHandler, type FetchHandler } from './fetch.ts'
import { createGrpcHandler, type GrpcHandler } from './grpc-handler.ts'
import { createHouse } from './house.ts'
import { consoleLog } from './log.ts'
import { publishTogether } from './jwks.ts'
import { createNodeHandler, type NodeHandler } from './node-adapter.ts'
import type { HandlerOptions } from './options.ts'
import { openPush } from './push.ts'
import { createRoster } from './roster.ts'
import { createStoreCheck, type Readiness } from './readiness.ts'
import { jwtDefaults } from './push-options.ts'
import { createSigningKeys, type SigningKeys } from './signing-keys.ts'
import { createRouter } from './router.ts'
import { createSharedBytes } from './shared-bytes.ts'
import type { ReaderCounts } from './unsent-bytes.ts'

export interface Handler {
  /** `app.use('/agent', handler.node)`, or `http.createServer(handler.node)`. */
  readonly node: NodeHandler
  /** `app.all('/agent/*', (c) => handler.fetch(c.req.raw))`, with `prefix: '/agent'`. */
  readonly fetch: FetchHandler
  /** For `createGrpcServer` of `@parley/a2a/grpc`. */
  readonly grpc: GrpcHandler
  readonly engine: Engine
  /** Agents come and go while the server runs. */
  readonly agents: HandlerAgents
  /** For whoever runs the server: what became of webhooks, and another try. There if `push` was given. */
  readonly push?: HandlerPush
  /** Bytes held for readers, readers that wait, and readers that were disconnected. */
  readonly readers: HandlerReaders
  /** How many streams are open now, of one agent or of all. */
  streams(agent?: string): number
  /**
   * The card of an agent as JSON: as clients of a version are shown it, or `merged`, as those are who name none. `base` is
   * where they reach the server. Nothing if there is no such agent.
   */
  card(agent: string, variant: CardVariant, base: string): Promise<string | undefined>
  /** Signs and seals with the store's keyring what is given away and comes back, such as a session. */
  readonly secrets: Signer & Sealer
  /** Resolves when what a crash left has been taken up. Requests that come earlier wait for it. */
  readonly ready: Promise<void>
  /** Makes another key for cards; the one before signs beside it until the next change. There if cards are signed by our own keys. */
  readonly rotateCardKey?: () => Promise<void>
  /** To sign with for a purpose that `signsFor` lists. */
  keys(purpose: string): SigningKeys
  /** Says by `/readyz` that it is going, and serves on: for those who route by it. */
  leave(): void
  /** Takes no more calls. Resolves when no agent is at work any more that another process could not go on for. */
  drain(): Promise<void>
  /** Takes no more calls, stops what runs, writes what is pending, and closes the store. */
  close(): Promise<void>
}

export interface HandlerReaders extends ReaderCounts {
  /** Pages of logs that were read from the store for readers that were behind, since the start. */
  readonly pagesRead: number
  /** Pages that another reader at the same position had requested already: these cost no read and no copy. */
  readonly pagesShared: number
  /** For your own listener: call it when you disconnected a reader that took nothing. */
  stalled(): void
}

export interface HandlerPush extends Pick<PushDesk, 'cursors' | 'search' | 'attempts' | 'redeliver'> {
  /** Makes another signing key: published now, it signs after `push.jwt.overlapMs`. */
  rotateKey?(): Promise<void>
}

export function createHandler(options: HandlerOptions): Handler {
  const { store, log = consoleLog } = options
  const prefix = checkPrefix(options.prefix)
  const publicUrl = checkPublicUrl(options.publicUrl)
  const roster = createRoster(options)
  const limits = { ...defaults.defaultLimits, ...options.limits }
  // Guarded: the key of a purpose is made on first use, and a full disk then is UNAVAILABLE, not INTERNAL.
  const keyring = lazily(() => openKeyring(reachable(store), options.masterKey ?? store.masterKey?.()))
  const secrets: Signer & Sealer = {
    sign: async (purpose, text) => (await keyring()).sign(purpose, text),
    verify: async (purpose, text, signature) => (await keyring()).verify(purpose, text, signature),
    seal: async (purpose, text, about) => (await keyring()).seal(purpose, text, about),
    unseal: async (purpose, sealed, about) => (await keyring()).unseal(purpose, sealed, about),
  }
  const bytes = createSharedBytes()
  const push = options.push === undefined ? undefined : openPush(options.push, { keyring, publicUrl, bytes, roster })
  const engine = createEngine({
    store,
    agent: (name) => roster.byName.get(name)?.entry,
    limits,
    log,
    ...systemClock,
    signer: secrets,
    ...(options.retention !== undefined ? { retention: options.retention } : {}),
    ...(push !== undefined ? { push: push.engine } : {}),
    sweepMs: defaults.sweepMs,
  })

  let state: Readiness['state'] = 'starting'
  async function start(): Promise<void> {
    // Keys that cannot be unwrapped are told at the start, not with the first page.
    await keyring()
    await cardKeys?.signing()
    await engine.start()
    if (state === 'starting') state = 'ready'
  }

  const storeAnswers = createStoreCheck(store, { log })
  const readiness: Readiness = {
    get state() {
      return state
    },
    get ready() {
      return ready
    },
    isReady: async () => state === 'ready' && (await storeAnswers()) && state === 'ready',
  }
  const settings = { ...options, log, ...(publicUrl !== undefined ? { publicUrl } : {}) }
  const signing = checkSigning(settings)
  const cardKeys = signing === undefined ? undefined : createCardKeys(signing, keyring)
  const signer = cardKeys === undefined ? undefined : createCardSigner(cardKeys, signing?.jku)
  const ownKeys = new Map(
    (options.signsFor ?? []).map((purpose) => [
      purpose,
      createSigningKeys({ keyring, purpose, kidPrefix: `${purpose}.`, now: systemClock.now, ...jwtDefaults }),
    ]),
  )
  const house = createHouse(settings, roster, engine, { bytes, push: push?.rules, signer })
  const router = createRouter(
    house,
    roster,
    readiness,
    options,
    publishTogether(push?.signer, signer, ...ownKeys.values()),
  )
  // After all that may throw for a mistake in the options: nothing must be running then.
  const ready = start()
  // Whoever awaits `ready` hears of a failure; whoever does not must not lose the process to it.
  ready.catch((reason: unknown) => log.error('the server could not start', { cause: reason }))
  let closed: Promise<void> | undefined
  const { unsent } = house.performParts
  const listening = { prefix, stallMs: options.stallMs ?? defaults.stallMs, stalled: unsent.stalled }

  async function drain(): Promise<void> {
    state = 'stopped'
    await ready.catch(() => {})
    await engine.drain()
  }

  async function close(): Promise<void> {
    state = 'stopped'
    await ready.catch(() => {})
    await engine.close()
    await store.close()
  }

  return {
    node: createNodeHandler(router, listening),
    fetch: createFetchHandler(router, listening),
    grpc: createGrpcHandler(house, roster, readiness, options),
    engine,
    agents: createHandlerAgents(roster, engine, house.tenants.declared),
    ...(engine.push !== undefined ? { push: deskOf(engine.push, push?.signer?.rotate) } : {}),
    ...(cardKeys?.rotate !== undefined ? { rotateCardKey: cardKeys.rotate } : {}),
    readers: {
      get unsentBytes() {
        return unsent.unsentBytes
      },
      get paused() {
        return unsent.paused
      },
      get cut() {
        return unsent.cut
      },
      get pagesRead() {
        return engine.pages.read
      },
      get pagesShared() {
        return engine.pages.shared
      },
      stalled: unsent.stalled,
    },
    streams: (agent) => house.performParts.slots.taken(agent),
    async card(agent, variant, base) {
      const resident = roster.byName.get(agent)
      return resident === undefined || resident.entry.isLeaving === true
        ? undefined
        : house.cards(resident).text(base, variant)
    },
    secrets,
    ready,
    keys(purpose) {
      const keys = ownKeys.get(purpose)
      if (keys === undefined) throw new Error(`signsFor does not list ${purpose}`)
      return keys
    },
    leave() {
      if (state === 'ready') state = 'leaving'
    },
    drain,
    close: () => (closed ??= close()),
  }
}

function deskOf({ cursors, search, attempts, redeliver }: PushDesk, rotateKey?: () => Promise<void>): HandlerPush {
  return { cursors, search, attempts, redeliver, ...(rotateKey !== undefined ? { rotateKey } : {}) }
}

function lazily(open: () => Promise<Keyring>): () => Promise<Keyring> {
  let opened: Promise<Keyring> | undefined
  return () => (opened ??= open())
}

/** `/agent`, whatever slashes it was written with. */
function checkPrefix(prefix = ''): string {
  const path = prefix.replace(/\/+$/, '')
  if (path === '') return ''
  if (!/^[\w.~%/-]+$/.test(path)) throw new ConfigError('prefix', 'give a path such as /agent')
  return path.startsWith('/') ? path : `/${path}`
}

function checkPublicUrl(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new ConfigError('publicUrl', 'give an absolute http or https url such as https://agent.example.com')
  }
  return publicUrl.replace(/\/+$/, '')
}
