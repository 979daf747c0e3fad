/**
 * A server under fuzz: an agent with all kinds of behavior, tasks in every state so
 * that ids match, and a sender with a timeout.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authRequired, inputRequired, memoryStore, newId, reply, type Agent, type Task } from '@parley/a2a'
import type { Store } from '@parley/a2a/stores'
import { createHandler, type AgentSettings, type ServerOptions } from '@parley/a2a/server'
import { sqliteStore } from '@parley/a2a/stores/sqlite'
import type { SentRequest } from './answers/request-operation.ts'
import type { ReceivedAnswer } from './answers/check-answer.ts'
import type { HttpInput } from './guided/http-input.ts'
import type { ServerVariant, RequestPlan } from './requests/request-plans.ts'
import { bytesOf } from './requests/request-plans.ts'
import type { ServerFacts } from './requests/tokens.ts'
import { bodyBytes, replaceTokens, taskTokens } from './requests/tokens.ts'

const origin = 'http://agent.test'
const directory = mkdtempSync(join(tmpdir(), 'parley-fuzz-'))
process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
/** A request without a response by then hangs. Far more than any takes, because the machine may be busy. */
const deadlineMs = 120_000
/** How long a stream may be silent before it counts as waiting and is closed. */
const silenceMs = 25

const agent: Agent = async function* ({ text, message, signal }) {
  switch (text) {
    case 'ask':
      yield inputRequired('Which one?')
      return
    case 'sign':
      yield authRequired('Sign in first')
      return
    case 'reply':
      yield reply('Hi')
      return
    case 'throw':
      throw new Error('connect to postgres://admin:hunter2@db/prod failed')
    case 'chunks':
      for (let index = 0; index < 5; index += 1) yield `${index} `
      return
    case 'linger':
      yield 'one moment'
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      return
    default:
      for (const part of message.parts) yield part
  }
}

export interface FuzzServer {
  /** The request as it went out and the answer as it came. */
  exchange(plan: RequestPlan): Promise<{ sent: SentRequest; got: ReceivedAnswer }>
  /** The same for a request of the guided fuzz. */
  exchangeInput(input: HttpInput): Promise<{ sent: SentRequest; got: ReceivedAnswer }>
  /** What the server logged, newest last. */
  readonly logged: readonly unknown[]
  close(): Promise<void>
}

export async function openFuzzServer(variant: ServerVariant): Promise<FuzzServer> {
  const logged: unknown[] = []
  const note = (message: string, fields?: Record<string, unknown>): void => {
    if (message !== 'agent failed') logged.push({ message, ...fields })
  }
  const handler = createHandler({
    name: 'Target',
    agent,
    store: storeFor(variant),
    allowAnonymousList: true,
    // A blocking call on a lingering task gets the current task.
    limits: { bodyBytes, waitMs: 50 },
    turnTimeoutMs: Infinity,
    cancelGraceMs: 50,
    log: { debug() {}, info() {}, warn: note, error: note },
    ...settings[variant],
  })
  const facts = await createTasks((request) => handler.fetch(request))
  return {
    logged,
    exchange: (plan) => exchange(toRequest(plan, facts), variant, (request) => handler.fetch(request)),
    exchangeInput: (input) => exchange(requestOfInput(input, facts), variant, (request) => handler.fetch(request)),
    close: () => handler.close(),
  }
}

function storeFor(variant: ServerVariant): Store {
  if (variant !== 'kept') return memoryStore()
  return sqliteStore({ file: join(directory, `${newId()}.db`), durability: 'normal' })
}

const settings: Readonly<Record<ServerVariant, Partial<AgentSettings & ServerOptions>>> = {
  open: {},
  kept: {},
  strict: { strict: true },
  locked: {
    authenticate: ({ header }) => (header('authorization') === 'Bearer ada' ? { id: 'ada' } : undefined),
    extendedCard: { description: 'For those who are known' },
  },
}

type Fetch = (request: Request) => Promise<Response>

/** Creates a task in each state that the requests may name. */
async function createTasks(fetch: Fetch): Promise<ServerFacts> {
  const call = async (method: string, params: unknown): Promise<Record<string, unknown>> => {
    const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: 'Bearer ada' }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(new Request(origin, { method: 'POST', headers, body }))
    const answer = (await response.json()) as { result?: Record<string, unknown> }
    if (answer.result === undefined) throw new Error(`the tasks cannot be created: ${JSON.stringify(answer)}`)
    return answer.result
  }
  const contextId = newId()
  const open = async (text: string): Promise<string> => {
    const message = { messageId: newId(), role: 'ROLE_USER', parts: [{ text }], contextId }
    const returnImmediately = text === 'linger'
    const { task } = await call('SendMessage', { message, configuration: { returnImmediately } })
    return (task as Task).id
  }
  const words = ['linger', 'ask', 'sign', 'hello', 'throw', 'linger']
  const tasks = Object.fromEntries(
    await Promise.all(words.map(async (word, index) => [taskTokens[index], await open(word)])),
  )
  await call('CancelTask', { id: tasks['~canceled~'] as string })
  const { nextPageToken } = await call('ListTasks', { pageSize: 2 })
  return { tasks: tasks as ServerFacts['tasks'], context: contextId, page: nextPageToken as string, newId }
}

async function exchange(
  request: Request,
  variant: ServerVariant,
  fetch: Fetch,
): Promise<{ sent: SentRequest; got: ReceivedAnswer }> {
  const body = request.body === null ? undefined : await request.clone().text()
  const sent = {
    method: request.method,
    url: new URL(request.url),
    headers: new Headers(request.headers),
    body,
    strict: variant === 'strict',
  }
  const late = deadline()
  try {
    const response = await Promise.race([fetch(request), late.reached])
    const got = { status: response.status, headers: response.headers, ...(await read(response, late.reached)) }
    return { sent, got }
  } finally {
    late.cancel()
  }
}

function toRequest({ method, path, headers, body, damage }: RequestPlan, facts: ServerFacts): Request {
  const mayHaveBody = !['GET', 'HEAD', 'get'].includes(method)
  const bytes = body === undefined || !mayHaveBody ? undefined : bytesOf(replaceTokens(body, facts), damage)
  const made = new Headers()
  // Values that no header can hold never reach a server; the sockets' test sends them raw.
  for (const [name, value] of headers) made.append(name, replaceTokens(value, facts))
  return new Request(new URL(origin + replaceTokens(path, facts)), {
    method,
    headers: made,
    ...(bytes !== undefined && bytes.length > 0 ? { body: bytes } : {}),
  })
}

function requestOfInput({ method, path, headers, body }: HttpInput, facts: ServerFacts): Request {
  const made = new Headers()
  for (const [name, value] of headers) made.append(name, replaceTokens(value, facts))
  // Tokens are ASCII, so what else a body holds survives as bytes.
  const bytes = Buffer.from(replaceTokens(Buffer.from(body).toString('latin1'), facts), 'latin1')
  const hasBody = bytes.length > 0 && method !== 'GET' && method !== 'HEAD'
  return new Request(new URL(origin + replaceTokens(path, facts)), {
    method,
    headers: made,
    ...(hasBody ? { body: bytes } : {}),
  })
}

function deadline(): { reached: Promise<never>; cancel(): void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {})
  const timer = setTimeout(() => reject(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs)
  return { reached: promise, cancel: () => clearTimeout(timer) }
}

async function read(response: Response, late: Promise<never>): Promise<{ body: string; ended: boolean }> {
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (response.body === null || !isStream) return { body: await Promise.race([response.text(), late]), ended: true }
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let body = ''
  for (;;) {
    const next = reader.read()
    const step = isAboutToEnd(body) ? await Promise.race([next, late]) : await Promise.race([next, streamSilence()])
    if (step === undefined) {
      next.catch(() => {})
      await reader.cancel()
      return { body, ended: false }
    }
    if (step.done) return { body, ended: true }
    body += decoder.decode(step.value, { stream: true })
  }
}

/** After such an event nothing comes: then only the deadline ends the waiting. */
function isAboutToEnd(body: string): boolean {
  const last = body.slice(body.lastIndexOf('data: '))
  return /"state":"(TASK_STATE_)?(COMPLETED|FAILED|CANCELL?ED|REJECTED)"|"final":true|event: error/i.test(last)
}

function streamSilence(): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), silenceMs))
}
