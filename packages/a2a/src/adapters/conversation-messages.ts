/**
 * The conversation as a framework needs it: the earlier tasks of the caller's context, the earlier turns of this task, and the
 * message of this turn. It never contains tasks of other callers: the engine gives a turn only those of its own caller.
 */
import type { Turn } from '../agents/agent.ts'
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/signals.ts'
import { isRedacted } from '../model/secrets.ts'
import type { Artifact, Message, Part, Task, UrlPart } from '../model/task.ts'
import { bytesToBase64 } from '../client/attachment-part.ts'
import type { Fetch } from '../client/contract.ts'
import type { AdapterOptions, HistoryLimits } from './adapter-options.ts'
import { progressMarkerKey } from './run-recorder.ts'

/** A message of the conversation: who wrote it, and its parts. */
export interface ConversationMessage {
  readonly role: 'user' | 'assistant'
  readonly parts: readonly Part[]
}

const maxFileBytes = 20_000_000
/** Of all files of a message together. They are fetched one after the other: a caller may name any number of URLs. */
const maxMessageBytes = 50_000_000
const fileTimeoutMs = 30_000
const maxRedirects = 5

/** The messages before that of this turn, oldest first, as text: files are only mentioned. */
export async function earlierMessages(
  turn: Turn,
  { tasks = 20, characters = 100_000 }: HistoryLimits = {},
): Promise<readonly ConversationMessage[]> {
  const earlier = tasks === 0 ? [] : (await turn.context()).slice(-tasks)
  const all = [...earlier.flatMap(messagesOfTask), ...(await messagesOfThisTask(turn))]
  const kept: ConversationMessage[] = []
  let left = characters
  // From the newest backwards, until the limit is reached.
  for (const { role, parts } of all.toReversed()) {
    const text = parts.map(partText).join('\n')
    left -= text.length
    if (left < 0) break
    if (text !== '') kept.unshift({ role, parts: [{ text }] })
  }
  return kept
}

/** A part as text for a model. */
export function partText(part: Part): string {
  if ('text' in part) return part.text
  if ('data' in part) return JSON.stringify(part.data)
  const about = [part.filename ?? 'file', part.mediaType].filter((word) => word !== undefined).join(', ')
  return 'url' in part ? `[${about}: ${part.url}]` : `[${about}]`
}

/** A task that did not complete contributes nothing: its message was usually repeated. */
function messagesOfTask({ history = [], artifacts = [], status }: Task): readonly ConversationMessage[] {
  if (status.state !== 'TASK_STATE_COMPLETED') return []
  const answers = artifacts.length > 0 ? artifacts : status.message === undefined ? [] : [status.message]
  return [
    ...history.flatMap(toConversation),
    ...answers.map(({ parts }): ConversationMessage => ({ role: 'assistant', parts })),
  ]
}

/** Artifact ids end in the number of their turn, so each is placed after the message that requested it. */
async function messagesOfThisTask(turn: Turn): Promise<readonly ConversationMessage[]> {
  const earlier = (await turn.history()).filter(({ messageId }) => messageId !== turn.message.messageId)
  if (earlier.length === 0) return []
  const turns = earlier.filter(({ role }) => role === 'ROLE_USER').length
  // Output of an interrupted run of this turn is excluded, because it is produced again.
  const artifacts = (await turn.artifacts()).filter((one) => turnOf(one) <= turns)
  let asked = 0
  return earlier.flatMap((message) => {
    if (message.role !== 'ROLE_USER') return toConversation(message)
    asked += 1
    const answers = artifacts.filter((one) => turnOf(one) === asked)
    return [
      ...toConversation(message),
      ...answers.map(({ parts }): ConversationMessage => ({ role: 'assistant', parts })),
    ]
  })
}

function turnOf({ artifactId }: Artifact): number {
  return Number(/^[a-z]+-(\d+)(\.\d+)?$/.exec(artifactId)?.[1] ?? 1)
}

function toConversation(message: Message): readonly ConversationMessage[] {
  const parts = message.parts.filter((part) => !isRedacted(part))
  if (message.metadata?.[progressMarkerKey] !== undefined || parts.length === 0) return []
  return [{ role: message.role === 'ROLE_USER' ? 'user' : 'assistant', parts }]
}

/** The parts of this turn's message, with files that it refers to by URL fetched, unless `fetch` is `false`. */
export function incomingParts(turn: Turn, options: Pick<AdapterOptions, 'fetch'>): Promise<readonly Part[]> {
  return fetchIncomingParts(turn, options, maxMessageBytes)
}

export async function fetchIncomingParts(
  turn: Turn,
  { fetch }: Pick<AdapterOptions, 'fetch'>,
  maxBytes: number,
): Promise<readonly Part[]> {
  const parts: Part[] = []
  const budget = { bytes: maxBytes }
  for (const part of turn.message.parts) {
    parts.push('url' in part && fetch !== false ? await fetchPart(part, turn.signal, fetch, budget) : part)
  }
  return parts
}

/** A URL in a message comes from the caller, so it is fetched by the guarded fetch, with limits of size and time. */
async function fetchPart(
  part: UrlPart,
  turnSignal: AbortSignal,
  given: Fetch | undefined,
  budget: { bytes: number },
): Promise<Part> {
  const { signal, end } = linkSignals([turnSignal], fileTimeoutMs)
  const { url, ...about } = part
  try {
    const send = given ?? (await import('../client/egress/guarded-fetch.ts')).guardedFetch()
    const response = await followRedirects(url, (at) => send(new Request(at, { signal, redirect: 'manual' })))
    const bytes = new Uint8Array(await readBounded(response, Math.min(maxFileBytes, budget.bytes)))
    budget.bytes -= bytes.byteLength
    const type = part.mediaType ?? response.headers.get('content-type')?.split(';', 1)[0]
    return { ...about, raw: bytesToBase64(bytes), ...(type !== undefined && type !== '' ? { mediaType: type } : {}) }
  } catch (cause) {
    turnSignal.throwIfAborted()
    const reason = { reason: 'PART_NOT_FETCHED' }
    throw new A2AError('INVALID_PARAMS', 'A file that the message refers to could not be fetched', reason, { cause })
  } finally {
    end()
  }
}

/** By hand, so that the guard checks every address. */
async function followRedirects(first: string, send: (url: string) => Promise<Response>): Promise<Response> {
  let url = first
  for (let hops = 0; hops <= maxRedirects; hops += 1) {
    const response = await send(url)
    if (response.ok) return response
    await response.body?.cancel().catch(() => {})
    const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null
    if (location === null) throw new Error(`${url} returned ${response.status}`)
    url = new URL(location, url).href
  }
  throw new Error(`${first} redirects more than ${maxRedirects} times`)
}

async function readBounded(response: Response, maxBytes: number): Promise<ArrayBuffer> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let length = 0
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    length += piece.byteLength
    if (length > maxBytes) throw new RangeError(`more than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return new Blob(pieces).arrayBuffer()
}
