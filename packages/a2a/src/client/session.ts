/**
 * One peer, over any of its interfaces. The session decides what is tried and how often: it checks capabilities before anything
 * is sent (B-169), uses the next interface if one fails (B-20), and retries where that is safe (B-164).
 */
import type { AgentCard } from '../model/card.ts'
import { linkSignals } from '../model/signals.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import { checkCapabilities } from './select-interface.ts'
import type {
  CallOptions,
  CardSignature,
  CheckedCard,
  ChosenInterface,
  ClientBinding,
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
import { loadVersion } from './load-version.ts'
import type { InterfaceState } from './fallback.ts'

export interface SessionDeps {
  readonly card: AgentCard
  /** Best first, at least one. */
  readonly candidates: readonly ChosenInterface[]
  /** Those of the caller. */
  readonly bindings: readonly ClientBinding[]
  readonly http: HttpClient
  readonly limits: ClientLimits
  readonly options: ConnectOptions
  /** Default: unchecked. */
  readonly signature?: CardSignature | undefined
  /** Verifies cards that are fetched later. */
  readonly verifyCard?: ((card: AgentCard, signal?: AbortSignal) => Promise<CheckedCard>) | undefined
}

/** An interface with its open transport. */
interface InterfaceTransport {
  readonly version: ProtocolVersion
  readonly transport: ClientTransport
}

/** One exchange, independent of the interface. */
interface PendingExchange {
  readonly operation: Operation
  readonly request: RequestOf<Operation>
  readonly attempt: number
  readonly callOptions: StreamOptions
  readonly transportOptions: Pick<TransportCallOptions, 'signal' | 'timeoutMs' | 'idleTimeoutMs'>
  callTransport(
    transport: ClientTransport,
    request: RequestOf<Operation>,
    transportOptions: TransportCallOptions,
  ): Promise<ClientCallResult>
}

export async function createSession(parts: SessionDeps): Promise<Session> {
  const { bindings, candidates, http, limits, options } = parts
  const { interceptors = [], log = { warn() {} }, onRetry, trace } = options
  let { card, signature = { status: 'unchecked' } } = parts
  const interfaces: InterfaceState = {
    candidates,
    current: candidates[0] as ChosenInterface,
    confirmed: new Set(),
    isPinned: options.version !== undefined,
    log,
  }
  const transports = new Map<ChosenInterface, InterfaceTransport>()
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

  async function call<O extends Operation>(operation: O, request: RequestOf<O>, about: CallOptions = {}) {
    if (about.force !== true) checkCapabilities(operation, request, card)
    const { signal, end } = linkSignals([about.signal], about.timeoutMs)
    const startedAt = performance.now()
    const waits = operation === 'SendMessage' && messageOf(request)?.configuration?.returnImmediately !== true
    const transportOptions = { signal, timeoutMs: waits ? limits.answerTimeoutMs : limits.timeoutMs }
    const callTransport: PendingExchange['callTransport'] = async (transport, sentRequest, exchangeOptions) => ({
      result: await transport.call(operation, sentRequest, exchangeOptions),
    })
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const outcome = await exchange({
            operation,
            request,
            attempt,
            callOptions: about,
            transportOptions,
            callTransport,
          })
          return (outcome as { result: ResultOf<O> }).result
        } catch (reason) {
          const fallbackModule = await fallback
          if (fallbackModule === undefined) throw reason
          const { timeoutMs } = about
          await fallbackModule.waitBeforeRetry(reason, {
            operation,
            request,
            startedAt,
            attempt,
            card,
            limits,
            signal,
            timeoutMs,
            log,
            onRetry,
          })
        }
      }
    } finally {
      end()
    }
  }

  async function open<O extends StreamOperation>(
    operation: O,
    request: RequestOf<O>,
    about: StreamOptions & { readonly attempt?: number } = {},
  ): Promise<TransportStream> {
    if (about.force !== true) checkCapabilities(operation, request, card)
    const { signal = new AbortController().signal, idleTimeoutMs = limits.idleTimeoutMs, attempt = 1 } = about
    const transportOptions = { signal, timeoutMs: limits.timeoutMs, idleTimeoutMs }
    const callTransport: PendingExchange['callTransport'] = async (transport, sentRequest, exchangeOptions) => ({
      stream: await transport.open(operation, sentRequest as RequestOf<O>, exchangeOptions),
    })
    return (
      (await exchange({ operation, request, attempt, callOptions: about, transportOptions, callTransport })) as {
        stream: TransportStream
      }
    ).stream
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
    { operation, request, attempt, callOptions, transportOptions, callTransport }: PendingExchange,
  ) {
    const { version, transport } = await transportFor(at)
    const callDirectly = async (call: ClientCall): Promise<ClientCallResult> => {
      const { headers, signal, lastEventId } = call
      try {
        return await callTransport(transport, call.request, {
          ...transportOptions,
          headers,
          signal,
          card,
          ...resumeAfter(lastEventId),
        })
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

  async function transportFor(at: ChosenInterface): Promise<InterfaceTransport> {
    const known = transports.get(at)
    if (known !== undefined) return known
    const name = at.protocolBinding.toUpperCase()
    const own = bindings.find(({ protocolBinding }) => protocolBinding.toUpperCase() === name)
    const [version, binding] = await Promise.all([loadVersion(at.version), own ?? loadBinding(name)])
    const transport = binding.open(at, version, {
      ...limits,
      http,
      onVersionMismatch: async (found) => (await fallback)?.reportVersionMismatch(interfaces, at, found),
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
