/** Makes the subject of one interface: credentials, versions, the budget of messages, and the tasks that several checks share. */
import { randomUUID } from 'node:crypto'
import { CheckFailure, tryThrice, Undecided } from './check.ts'
import type { Discovery } from './discover.ts'
import type { ConformanceOptions, Scenario } from './options.ts'
import { unauthenticatedNote, type Target } from './report.ts'
import type {
  Answer,
  CallSettings,
  CredentialChoice,
  DeclaredCapabilities,
  SendAnswer,
  Subject,
  TaskAnswer,
} from './subject.ts'
import { answerOf, callOperation, type OperationRequest } from './wire/call-operation.ts'
import { placeCredentials, withQuery, type CredentialPlacement } from './wire/credentials.ts'
import { encodeRequest, isObject } from './wire/encode-request.ts'
import { exchangeHttp } from './wire/http-wire.ts'
import { openOperation } from './wire/open-stream.ts'
import { describeError, type ErrorView } from './wire/read-error.ts'
import { interruptedStates, readResult, readTask, terminalStates, type ResultView } from './wire/read-response.ts'
import { dialectOf, type JsonObject, type OperationName } from './wire/spelling.ts'

/** What all subjects of a run share. */
export interface RunState {
  readonly discovery: Discovery
  readonly options: ConformanceOptions
  readonly targets: readonly Target[]
  messagesSent: number
  readonly shared: Map<string, Promise<unknown>>
  readonly closers: (() => Promise<void> | void)[]
}

const defaultText = 'Hello. This is a conformance test.'
const defaultMaxMessages = 500
const defaultPatienceMs = 10_000
const defaultQuietMs = 300
const pollMs = 100

export function createSubject(target: Target, run: RunState, signal: AbortSignal): Subject {
  const { discovery, options } = run
  const { version, binding, url } = target
  const profile = options.profile ?? {}
  const dialect = dialectOf(version, binding)
  const card = discovery.cardOf(version)
  const wire = {
    ...(options.insecure === undefined ? {} : { insecure: options.insecure }),
    ...(options.tls === undefined ? {} : { tls: options.tls }),
  }
  const required = requiredExtensionsOf(card?.json).join(', ')
  const requiredExtensions =
    required === '' ? {} : { [version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions']: required }
  let lastId = 0

  const placementOf = (choice: CredentialChoice = 'default'): CredentialPlacement => {
    if (choice === 'none') return { headers: {}, query: {} }
    if (choice === 'other') {
      if (profile.otherCaller === undefined)
        throw new Undecided('needs a second caller: set `otherCaller` in the profile')
      return { headers: profile.otherCaller.headers, query: {} }
    }
    return placeCredentials(card?.json, options)
  }

  /** 0.x has no version header; a 1.0 request has one always. */
  const headersOf = (given: CallSettings['headers'], credentials: CredentialPlacement): Record<string, string> => {
    const all: Record<string, string | undefined> = {
      ...(version === '1.0' ? { 'a2a-version': '1.0' } : {}),
      ...requiredExtensions,
      ...credentials.headers,
      ...Object.fromEntries(Object.entries(given ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
    }
    return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined))
  }

  const requestOf = (operation: OperationName, payload: JsonObject, settings: CallSettings): OperationRequest => {
    const isSend = operation === 'SendMessage' || operation === 'SendStreamingMessage'
    if (isSend) subject.countMessage()
    const credentials = placementOf(settings.credentials)
    return {
      target,
      operation,
      payload: settings.isEncoded === true ? payload : encodeRequest(dialect, binding, operation, payload),
      headers: headersOf(settings.headers, credentials),
      query: credentials.query,
      id: (lastId += 1),
      ...(settings.credentials === 'none' ? {} : { onError: requireAuthenticated }),
      signal: settings.signal ?? signal,
      ...wire,
    }
  }

  const taskAnswer = (answer: Answer, raw: unknown): TaskAnswer | undefined => {
    const task = readTask(dialect, raw)
    return task.id === undefined ? undefined : { ...answer, task: { ...task, id: task.id } }
  }

  /** Kept if it fails too: a check that needs it is undecided for the same reason. */
  const shared = <T>(key: string, make: () => Promise<T>): Promise<T> => {
    let value = run.shared.get(key) as Promise<T> | undefined
    if (value === undefined) {
      run.shared.set(key, (value = make()))
      value.catch(() => {})
    }
    return value
  }
  const once = <T>(key: string, make: () => Promise<T>): Promise<T> => shared(`${JSON.stringify(target)} ${key}`, make)

  const subject: Subject = {
    ...target,
    signal,
    dialect,
    discovery,
    options,
    profile,
    patienceMs: options.patienceMs ?? defaultPatienceMs,
    quietMs: options.quietMs ?? defaultQuietMs,
    get card() {
      if (card === undefined) throw new Undecided(`the agent has no card for ${version}`)
      return card
    },
    capabilities: capabilitiesOf(card?.json),

    async http({ method = 'POST', url: at, path, headers = {}, body, credentials, signal: own }) {
      if (binding === 'GRPC') throw new Undecided('gRPC has no such request')
      const placed = placementOf(credentials)
      const json = typeof body === 'object' && !(body instanceof Uint8Array)
      const content =
        body === undefined
          ? {}
          : { 'content-type': binding === 'JSONRPC' || version !== '1.0' ? 'application/json' : 'application/a2a+json' }
      const full = at ?? (path === undefined ? url : `${url.replace(/\/$/, '')}${path}`)
      const exchange = await exchangeHttp({
        method,
        url: withQuery(full, placed.query),
        headers: headersOf({ ...content, accept: 'application/json, text/event-stream', ...headers }, placed),
        ...(body === undefined ? {} : { body: json ? JSON.stringify(body) : body }),
        signal: own ?? signal,
        ...wire,
      })
      const { error } = answerOf(target, exchange)
      if (error !== undefined && credentials !== 'none') requireAuthenticated(error)
      return exchange
    },
    async get(at, headers) {
      const placed = placementOf()
      const all = headersOf({ accept: 'application/json', ...headers }, placed)
      return exchangeHttp({ method: 'GET', url: withQuery(at, placed.query), headers: all, signal, ...wire })
    },
    call: (operation, payload, settings = {}) => callOperation(requestOf(operation, payload, settings)),
    async open(operation, payload, settings = {}) {
      const stream = await openOperation(requestOf(operation, payload, settings))
      // A gRPC call that the limit of the check has canceled looks like a refusal.
      signal.throwIfAborted()
      return stream
    },

    message(scenario, fields = {}) {
      const hint = scenario === undefined ? undefined : profile.messages?.[scenario]
      return {
        messageId: hint?.messageIdPrefix === undefined ? randomUUID() : `${hint.messageIdPrefix}-${randomUUID()}`,
        role: 'ROLE_USER',
        parts: hint?.parts ?? [{ text: hint?.text ?? profile.text ?? defaultText }],
        ...(hint?.metadata === undefined ? {} : { metadata: hint.metadata }),
        ...fields,
      }
    },
    hasScenario: (scenario) => profile.messages?.[scenario] !== undefined,
    async send(scenario, fields, configuration, settings) {
      const payload = {
        message: subject.message(scenario, fields),
        ...(configuration === undefined ? {} : { configuration }),
      }
      const answer = await subject.call('SendMessage', payload, settings)
      return { ...answer, view: readResult(dialect, answer.result) }
    },
    countMessage() {
      if (options.readOnly === true) throw new Undecided('sends a message, which --read-only forbids')
      if (run.messagesSent >= (options.maxMessages ?? defaultMaxMessages))
        throw new Undecided('the limit of --max-messages is reached')
      run.messagesSent += 1
    },

    firstAnswer: () => once('first answer', () => sendOrdinary('complete')),
    finishedTask: () => once('finished task', finishTask),
    openTask: (configuration) =>
      subject.hasScenario('slow') && !subject.hasScenario('inputRequired')
        ? tryThrice(() => openTask(configuration))
        : openTask(configuration),
    async getTask(id, fields = {}) {
      const answer = await subject.call('GetTask', { id, ...fields })
      const found = taskAnswer(answer, answer.result)
      if (found !== undefined) return found
      const why = answer.error === undefined ? (answer.malformed ?? 'it has no id') : describeError(answer.error)
      throw new CheckFailure(`GetTask of an existing task does not return it: ${why}`, answer.exchange)
    },
    async settle(id) {
      for (;;) {
        const got = await subject.getTask(id)
        if (terminalStates.has(got.task.state) || interruptedStates.has(got.task.state)) return got
        await pause(pollMs, signal)
      }
    },

    firstInterface(of) {
      const first = run.targets.find((each) => of === undefined || each.version === of) ?? target
      return first === target ? subject : createSubject(first, run, signal)
    },
    once,
    shared,
    onClose: (close) => void run.closers.push(close),
  }
  return subject

  async function sendOrdinary(scenario: Scenario, configuration?: JsonObject): Promise<SendAnswer> {
    const answer = await subject.send(scenario, {}, configuration)
    if (answer.error !== undefined) throw new Undecided(`the agent refuses a message: ${describeError(answer.error)}`)
    if (answer.malformed !== undefined) throw new Undecided(`the answer to a message is malformed: ${answer.malformed}`)
    return answer
  }

  function taskOf(answer: SendAnswer): TaskAnswer {
    const raw = rawTaskOf(answer.view)
    const found = raw === undefined ? undefined : taskAnswer(answer, raw)
    if (found !== undefined) return found
    throw new Undecided(
      answer.view.kind === 'message'
        ? 'the agent answers with messages and makes no tasks'
        : 'the agent returns no task with an id',
    )
  }

  async function finishTask(): Promise<TaskAnswer> {
    const first = taskOf(await subject.firstAnswer())
    const settled = terminalStates.has(first.task.state) ? first : await subject.settle(first.task.id)
    if (!terminalStates.has(settled.task.state)) {
      throw new Undecided(
        `the task does not end by itself: ${settled.task.state}; name a message for the scenario "complete" in the profile`,
      )
    }
    return settled
  }

  async function openTask(configuration?: JsonObject): Promise<TaskAnswer> {
    const scenario: Scenario = subject.hasScenario('inputRequired')
      ? 'inputRequired'
      : subject.hasScenario('slow')
        ? 'slow'
        : 'complete'
    const sent = taskOf(await sendOrdinary(scenario, { ...configuration, returnImmediately: true }))
    // Scripted agents ask before a second request can arrive too late.
    const got = scenario === 'inputRequired' ? await subject.settle(sent.task.id) : await subject.getTask(sent.task.id)
    if (!terminalStates.has(got.task.state)) return got
    throw new Undecided(
      'the agent ends its tasks at once; name a message for the scenario "inputRequired" or "slow" in the profile',
    )
  }
}

/** A request that lacks credentials shows nothing of what its rule is about. */
function requireAuthenticated({ name, code, status, grpcStatus }: ErrorView): void {
  // The code is that of the Go SDK.
  if ([name, grpcStatus].includes('UNAUTHENTICATED') || status === 401 || code === -31_401)
    throw new Undecided(unauthenticatedNote)
}

const rawTaskOf = (view: ResultView): unknown => (view.kind === 'task' ? view.task.raw : undefined)

function capabilitiesOf(card: JsonObject | undefined): DeclaredCapabilities {
  const declared = isObject(card?.['capabilities']) ? card['capabilities'] : {}
  return {
    streaming: declared['streaming'] === true,
    pushNotifications: declared['pushNotifications'] === true,
    extendedAgentCard: declared['extendedAgentCard'] === true || card?.['supportsAuthenticatedExtendedCard'] === true,
  }
}

/** Extensions that a client must support: the judge declares them, so that the agent answers. */
export function requiredExtensionsOf(card: JsonObject | undefined): readonly string[] {
  const capabilities = isObject(card?.['capabilities']) ? card['capabilities'] : {}
  const extensions: unknown = capabilities['extensions']
  return (Array.isArray(extensions) ? (extensions as unknown[]) : []).flatMap((extension) =>
    isObject(extension) && extension['required'] === true && typeof extension['uri'] === 'string'
      ? [extension['uri']]
      : [],
  )
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
