/**
 * One peer, whichever of its interfaces is in use. Here is decided what is tried and how often: capabilities before
 * anything is sent (B-169), the next interface when one fails (B-20), again where that is safe (B-164).
 */
import type { AgentCard } from '../model/card.ts'
import { linkSignals } from '../model/linked-signal.ts'
import type { Operation, RequestOf, ResultOf } from '../model/operation.ts'
import type { ProtocolVersion } from '../versions/version.ts'
import { checkCapabilities } from './capabilities.ts'
import type {
  CallOptions,
  CardSignature,
  CheckedCard,
  ChosenInterface,
  ClientBinding,
  ClientCall,
  ClientLimits,
  ClientOutcome,
  ConnectOptions,
  Http,
  Session,
  StreamOperation,
  StreamOptions,
  Wire,
  WireCall,
  WireStream,
} from './contract.ts'
import { loadVersion } from './load-version.ts'
import type { Interfaces } from './rescue.ts'

export interface SessionParts {
  readonly card: AgentCard
  /** Best first, at least one. */
  readonly candidates: readonly ChosenInterface[]
  readonly bindings: readonly ClientBinding[]
  readonly http: Http
  readonly limits: ClientLimits
  readonly options: ConnectOptions
  /** Default: nobody asked. */
  readonly signature?: CardSignature | undefined
  /** Judges the cards that come later. */
  readonly check?: ((card: AgentCard, signal?: AbortSignal) => Promise<CheckedCard>) | undefined
}

/** An interface that is ready to be spoken with. */
interface Line {
  readonly version: ProtocolVersion
  readonly wire: Wire
}

/** One exchange as it is to be had, at whichever interface. */
interface Asking {
  readonly operation: Operation
  readonly request: RequestOf<Operation>
  readonly attempt: number
  readonly about: StreamOptions
  readonly how: Pick<WireCall, 'signal' | 'timeoutMs' | 'idleTimeoutMs'>
  speak(wire: Wire, request: RequestOf<Operation>, how: WireCall): Promise<ClientOutcome>
}

export async function createSession(parts: SessionParts): Promise<Session> {
  const { bindings, candidates, http, limits, options } = parts
  const { interceptors = [], log = { warn() {} }, trace } = options
  let { card, signature = { status: 'unchecked' } } = parts
  const interfaces: Interfaces = {
    known: candidates,
    current: candidates[0] as ChosenInterface,
    proven: new Set(),
    pinned: options.version !== undefined,
    log,
  }
  const lines = new Map<ChosenInterface, Line>()
  // Fetched while all is well: when it is needed, nothing may be within reach.
  const rescue = import('./rescue.ts').catch(() => undefined)
  await lineTo(interfaces.current)

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
    call,
    open,
    async extendedCard(about) {
      const shown = await call('GetExtendedAgentCard', {}, about)
      ;({ card, signature } = (await parts.check?.(shown, about?.signal)) ?? { card: shown, signature })
      return card
    },
  }

  async function call<O extends Operation>(operation: O, request: RequestOf<O>, about: CallOptions = {}) {
    if (about.force !== true) checkCapabilities(operation, request, card)
    const { signal, end } = linkSignals([about.signal], about.timeoutMs)
    const startedAt = performance.now()
    const waits = operation === 'SendMessage' && messageOf(request)?.configuration?.returnImmediately !== true
    const how = { signal, timeoutMs: waits ? limits.answerTimeoutMs : limits.timeoutMs }
    const speak: Asking['speak'] = async (wire, asked, exactly) => ({
      result: await wire.call(operation, asked, exactly),
    })
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          const outcome = await exchange({ operation, request, attempt, about, how, speak })
          return (outcome as { result: ResultOf<O> }).result
        } catch (reason) {
          const help = await rescue
          if (help === undefined) throw reason
          const { timeoutMs } = about
          await help.pause(reason, { operation, request, startedAt, attempt, card, limits, signal, timeoutMs, log })
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
  ): Promise<WireStream> {
    if (about.force !== true) checkCapabilities(operation, request, card)
    const { signal = new AbortController().signal, idleTimeoutMs = limits.idleTimeoutMs, attempt = 1 } = about
    const how = { signal, timeoutMs: limits.timeoutMs, idleTimeoutMs }
    const speak: Asking['speak'] = async (wire, asked, exactly) => ({
      stream: await wire.open(operation, asked as RequestOf<O>, exactly),
    })
    return ((await exchange({ operation, request, attempt, about, how, speak })) as { stream: WireStream }).stream
  }

  async function exchange(asking: Asking): Promise<ClientOutcome> {
    const { current, proven } = interfaces
    try {
      const outcome = await exchangeAt(current, asking)
      proven.add(current)
      return outcome
    } catch (reason) {
      const help = await rescue
      if (help === undefined) throw reason
      return help.elsewhere(interfaces, asking.operation, reason, (at) => exchangeAt(at, asking), card)
    }
  }

  async function exchangeAt(at: ChosenInterface, { operation, request, attempt, about, how, speak }: Asking) {
    const { version, wire } = await lineTo(at)
    const directly = async (call: ClientCall): Promise<ClientOutcome> => {
      const { headers, signal, lastEventId } = call
      try {
        return await speak(wire, call.request, { ...how, headers, signal, card, ...resumed(lastEventId) })
      } catch (reason) {
        throw (await rescue)?.explained(reason, call.request, card) ?? reason
      }
    }
    // The first of the list is the outermost.
    const through = interceptors.reduceRight<typeof directly>((next, around) => (call) => around(call, next), directly)
    return through({
      operation,
      // As the interface has it, and only there (B-17, B-165).
      request: at.tenant === undefined ? request : { tenant: at.tenant, ...request },
      headers: { ...trace?.(), ...ownHeaders(request, about, version), ...about.headers },
      attempt,
      interface: at,
      card,
      signal: how.signal,
      ...resumed(about.lastEventId),
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

  async function lineTo(at: ChosenInterface): Promise<Line> {
    const known = lines.get(at)
    if (known !== undefined) return known
    const version = await loadVersion(at.version)
    const name = at.protocolBinding.toUpperCase()
    const binding =
      bindings.find(({ protocolBinding }) => protocolBinding.toUpperCase() === name) ??
      (await import('./facade-binding.ts')).facadeBinding()
    const { maxBodyBytes, maxEventBytes, maxJsonNodes } = limits
    const wire = binding.open(at, version, {
      http,
      maxBodyBytes,
      maxEventBytes,
      maxJsonNodes,
      heard: async (found) => (await rescue)?.heard(interfaces, at, found),
    })
    const line = { version, wire }
    lines.set(at, line)
    return line
  }
}

function messageOf(request: RequestOf<Operation>): RequestOf<'SendMessage'> | undefined {
  return 'message' in request ? request : undefined
}

const resumed = (lastEventId: string | undefined) => (lastEventId === undefined ? {} : { lastEventId })
