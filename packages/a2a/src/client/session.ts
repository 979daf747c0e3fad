/**
 * One peer, over any of its interfaces. The session decides what is tried and how often: it checks capabilities before anything
 * is sent (B-169), uses the next interface if one fails (B-20), and retries where that is safe (B-164).
 */
import { linkSignals } from '../model/signals.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { ProtocolVersion } from '../versions/index.ts'
import type { DiscoveredCard } from './card/card-discovery.ts'
import { checkCapabilities } from './select-interface.ts'
import type {
  CallOptions,
  ChosenInterface,
  ClientCall,
  ClientLimits,
  ClientCallResult,
  ConnectOptions,
  HttpClient,
  Session,
  StreamOperation,
  StreamOptions,
  ClientTransport,
  TransportCallOptions,
  TransportStream,
} from './contract.ts'
import { loadBinding } from './load-binding.ts'
import { versionIds } from '../versions/version-loaders.ts'
import { loadVersion } from './load-version.ts'
import type { InterfaceState } from './fallback.ts'

export interface SessionDeps extends DiscoveredCard {
  /** Best first, at least one. */
  readonly candidates: readonly ChosenInterface[]
  readonly http: HttpClient
  readonly limits: ClientLimits
  readonly options: ConnectOptions
}

/** One exchange, independent of the interface. */
interface PendingExchange {
  readonly operation: Operation
  readonly request: RequestOf<Operation>
  readonly attempt: number
  readonly callOptions: StreamOptions
  readonly transportOptions: Pick<TransportCallOptions, 'signal' | 'timeoutMs' | 'idleTimeoutMs'>
  readonly isStream: boolean
}

export async function createSession(parts: SessionDeps): Promise<Session> {
  const { candidates, http, limits, options } = parts
  const { bindings = [], interceptors = [], log = { warn() {} }, onRetry, trace } = options
  let { card, signature = { status: 'unchecked' } } = parts
  const interfaces: InterfaceState = {
    candidates,
    current: candidates[0] as ChosenInterface,
    confirmed: new Set(),
    isPinned: options.version !== undefined,
    versions: versionIds,
    log,
  }
  const transports = new Map<
    ChosenInterface,
    { readonly version: ProtocolVersion; readonly transport: ClientTransport }
  >()
  // Loaded while the network works: when it is needed, nothing may be reachable.
  const fallback = import('./fallback.ts').catch(() => undefined)
  await transportFor(interfaces.current)

  return {
    get card() {
      return card
    },
    get signature() {
      return signature
    },
    get interface() {
      return interfaces.current
    },
    limits,
    log,
    onRetry,
    call,
    open,
    async extendedCard(about) {
      const extendedCard = await call('GetExtendedAgentCard', {}, about)
      ;({ card, signature } = (await parts.verifyCard?.(extendedCard, about?.signal)) ?? {
        card: extendedCard,
        signature,
      })
      return card
    },
  }

  async function call<O extends Operation>(operation: O, request: RequestOf<O>, callOptions: CallOptions = {}) {
    if (callOptions.force !== true) checkCapabilities(operation, request, card)
    const { timeoutMs } = callOptions
    const { signal, end } = linkSignals([callOptions.signal], timeoutMs)
    const startedAt = performance.now()
    const waits = operation === 'SendMessage' && messageOf(request)?.configuration?.returnImmediately !== true
    const transportOptions = { signal, timeoutMs: waits ? limits.answerTimeoutMs : limits.timeoutMs }
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const pending = { operation, request, attempt, callOptions, transportOptions, isStream: false }
          return ((await exchange(pending)) as { result: ResultOf<O> }).result
        } catch (reason) {
          const fallbackModule = await fallback
          if (fallbackModule === undefined) throw reason
          const failed = { operation, request, startedAt, attempt, signal, timeoutMs }
          await fallbackModule.waitBeforeRetry(reason, { ...failed, card, limits, log, onRetry })
        }
      }
    } finally {
      end()
    }
  }

  async function open<O extends StreamOperation>(
    operation: O,
    request: RequestOf<O>,
    callOptions: StreamOptions & { readonly attempt?: number } = {},
  ): Promise<TransportStream> {
    if (callOptions.force !== true) checkCapabilities(operation, request, card)
    const { signal = new AbortController().signal, idleTimeoutMs = limits.idleTimeoutMs, attempt = 1 } = callOptions
    const transportOptions = { signal, timeoutMs: limits.timeoutMs, idleTimeoutMs }
    const pending = { operation, request, attempt, callOptions, transportOptions, isStream: true }
    return ((await exchange(pending)) as { stream: TransportStream }).stream
  }

  async function exchange(pending: PendingExchange): Promise<ClientCallResult> {
    const { current, confirmed } = interfaces
    try {
      const outcome = await exchangeAt(current, pending)
      confirmed.add(current)
      return outcome
    } catch (reason) {
      const fallbackModule = await fallback
      if (fallbackModule === undefined) throw reason
      return fallbackModule.tryOtherInterfaces(
        interfaces,
        pending.operation,
        reason,
        (at) => exchangeAt(at, pending),
        card,
      )
    }
  }

  async function exchangeAt(
    at: ChosenInterface,
    { operation, request, attempt, callOptions, transportOptions, isStream }: PendingExchange,
  ) {
    const { version, transport } = await transportFor(at)
    const callDirectly = async (call: ClientCall): Promise<ClientCallResult> => {
      const { headers, signal, lastEventId } = call
      const about = { ...transportOptions, headers, signal, card, ...resumeAfter(lastEventId) }
      try {
        return isStream
          ? {
              stream: await transport.open(
                operation as StreamOperation,
                call.request as RequestOf<StreamOperation>,
                about,
              ),
            }
          : { result: await transport.call(operation, call.request, about) }
      } catch (reason) {
        throw (await fallback)?.withErrorHints(reason, call.request, card) ?? reason
      }
    }
    // The first interceptor of the list is the outermost.
    const intercepted = interceptors.reduceRight<typeof callDirectly>(
      (next, around) => (call) => around(call, next),
      callDirectly,
    )
    return intercepted({
      operation,
      // The tenant of the interface is sent only to that interface (B-17, B-165).
      request: at.tenant === undefined ? request : { tenant: at.tenant, ...request },
      headers: { ...trace?.(), ...ownHeaders(request, callOptions, version), ...callOptions.headers },
      attempt,
      interface: at,
      card,
      signal: transportOptions.signal,
      ...resumeAfter(callOptions.lastEventId),
    })
  }

  function ownHeaders(request: RequestOf<Operation>, about: CallOptions, { spelling }: ProtocolVersion) {
    const extensions = new Set([...(options.extensions ?? []), ...(about.extensions ?? [])])
    const messageId = messageOf(request)?.message.messageId
    return {
      ...(extensions.size > 0 ? { [spelling.extensionsHeader]: [...extensions].join(', ') } : {}),
      ...(messageId !== undefined ? { 'Idempotency-Key': messageId } : {}),
    }
  }

  async function transportFor(at: ChosenInterface) {
    const known = transports.get(at)
    if (known !== undefined) return known
    const name = at.protocolBinding.toUpperCase()
    const own = bindings.find(({ protocolBinding }) => protocolBinding.toUpperCase() === name)
    const [version, binding] = await Promise.all([loadVersion(at.version), own ?? loadBinding(name)])
    const transport = await binding.open(at, version, {
      ...limits,
      http,
      onVersionMismatch: async () => loadVersion((await import('./fallback.ts')).reportVersionMismatch(interfaces, at)),
    })
    const opened = { version, transport }
    transports.set(at, opened)
    return opened
  }
}

function messageOf(request: RequestOf<Operation>): RequestOf<'SendMessage'> | undefined {
  return 'message' in request ? request : undefined
}

const resumeAfter = (lastEventId: string | undefined) => (lastEventId === undefined ? {} : { lastEventId })
