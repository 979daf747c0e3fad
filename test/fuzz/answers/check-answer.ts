/**
 * Checks answers. Given a request and its response it returns the violations,
 * knowing the protocol and nothing of the server: the right envelope, the id echoed, an
 * error from the table in its version's shape, a result with all its fields, a stream
 * that begins and ends as it should, and nothing about the server's internals.
 */
import type { EntryPoint, SentRequest } from './request-operation.ts'
import {
  entryPointOf,
  envelopeOf,
  expectedVersion,
  isReadable,
  isValidEnvelope,
  operationOf,
  parsedBody,
} from './request-operation.ts'
import { checkRestError, checkRpcError } from './check-errors.ts'
import { invalidReasonIn } from './invalid-messages.ts'
import { complaintsOf, isJsonObject } from './shape.ts'
import { failedStream, checkStream } from './check-stream.ts'
import type { Binding, VersionId } from './tables.ts'
import { checkCard, shapesOf } from './tables.ts'

export interface ReceivedAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** Whether the body has ended; only a stream may still be open. */
  readonly ended: boolean
}

export interface AnswerVerdict {
  readonly complaints: readonly string[]
  /** For the statistics: the reason of an error, or the kind of result. */
  readonly outcome: string
}

/** Words of server internals. The requests of the fuzz contain none of them. */
const leaks = [
  /\bat .{1,200}\.[cm]?[jt]s:\d+/,
  /node:internal|node_modules|packages\/a2a/,
  /Cannot (read|convert|destructure)|is not (a function|iterable|defined|a constructor)|circular structure/i,
  /\b(Type|Syntax|Range|Reference|Assertion)Error\b|Maximum call stack|Unexpected (token|end)/,
  /\bundefined\b|\[object \w+\]|\bNaN\b/,
  /hunter2|SQLITE|sqlite/,
]

export function internalsIn(text: string): string[] {
  const found = leaks.map((leak) => leak.exec(text)).filter((match) => match !== null)
  return found.map(([words]) => `the answer leaks ${JSON.stringify(words)}`)
}

export function checkAnswer(sent: SentRequest, got: ReceivedAnswer): AnswerVerdict {
  const entryPoint = entryPointOf(sent)
  const complaints: string[] = []
  if (got.status >= 500) complaints.push(`HTTP ${got.status}`)
  complaints.push(...internalsIn(got.body))
  const type = got.headers.get('content-type') ?? ''
  const isStream = type === 'text/event-stream'
  if (!got.ended && !isStream) complaints.push('the body does not end')
  if (entryPoint === 'probe') return { complaints, outcome: 'probe' }
  if (entryPoint === 'card' && got.status < 400)
    return { complaints: [...complaints, ...checkCardAnswer(sent, got)], outcome: 'card' }

  const version = got.headers.get('a2a-version') as VersionId
  if (!['0.2', '0.3', '1.0'].includes(version)) {
    return { complaints: [...complaints, `a2a-version is ${version}`], outcome: 'no version' }
  }
  // The older extended card has a path of its own, and only that version's format.
  const expected = entryPoint === 'extended-card-0.2' ? undefined : expectedVersion(sent, entryPoint)
  // Unauthenticated and oversized requests are answered before the method is known.
  const isUnread = [401, 413].includes(got.status) && (sent.headers.get('a2a-version') ?? '') === ''
  if (expected !== undefined && expected !== version && !isUnread)
    complaints.push(`${version} was used instead of ${expected}`)
  const about: AnswerContext = { sent, got, entryPoint, version, complaints }
  if (sent.method === 'HEAD') return { complaints: [...complaints, ...checkHead(got)], outcome: 'head' }
  const refusal = isStream ? onlyEvent(about) : undefined
  if (refusal !== undefined) return { complaints, outcome: checkRpcAnswer(about, refusal) }
  const outcome = isStream ? checkOpenStream(about) : checkDocument(about, type)
  return { complaints, outcome }
}

/** `tasks/resubscribe` reports an unknown task in the only event of a stream, as clients of 0.x expect (F-7). */
function onlyEvent({ sent, got, entryPoint, version }: AnswerContext): unknown {
  if (entryPoint !== 'jsonrpc' || version === '1.0' || operationOf(sent, entryPoint, version) !== 'subscribe')
    return undefined
  const [, document] = /^data: (.*"reason":"TASK_NOT_FOUND".*)\n\n$/.exec(got.body) ?? []
  return document === undefined ? undefined : JSON.parse(document)
}

interface AnswerContext {
  readonly sent: SentRequest
  readonly got: ReceivedAnswer
  readonly entryPoint: EntryPoint
  readonly version: VersionId
  readonly complaints: string[]
}

function checkHead({ body, status }: ReceivedAnswer): string[] {
  return body === '' || status === 304 ? [] : ['HEAD was answered with a body']
}

function checkCardAnswer(
  { method, url, headers }: SentRequest,
  { status, body, headers: answered }: ReceivedAnswer,
): string[] {
  const complaints: string[] = []
  if (status === 304 || method === 'HEAD') return body === '' ? [] : ['an answer without a body has one']
  for (const name of ['etag', 'cache-control', 'vary'])
    if (!answered.has(name)) complaints.push(`the card has no ${name}`)
  const asked = url.pathname.endsWith('/agent.json') ? '0.2' : headers.get('a2a-version')
  const version = asked === '1.0' ? '1.0' : asked === '0.3' || asked === '0.2' ? '0.3' : undefined
  const card = parsedBody({ body } as SentRequest)?.value
  // A version that resembles a supported one may be read as such; then any format is valid.
  const isOld = isJsonObject(card) && card['supportedInterfaces'] === undefined
  checkCard(card, version ?? (isOld ? '0.3' : '1.0'), (path, what) => complaints.push(`${path} ${what}`))
  return complaints
}

function checkDocument(about: AnswerContext, type: string): string {
  const { got, entryPoint, version, complaints } = about
  let document: unknown
  try {
    document = JSON.parse(got.body)
  } catch {
    complaints.push(`the answer is not JSON but ${JSON.stringify(got.body.slice(0, 80))}`)
    return 'no JSON'
  }
  const wanted = entryPoint === 'jsonrpc' || version !== '1.0' ? 'application/json' : 'application/a2a+json'
  if (type !== wanted) complaints.push(`the content type is ${type} and not ${wanted}`)
  return entryPoint === 'jsonrpc' ? checkRpcAnswer(about, document) : checkRestAnswer(about, document)
}

function checkRpcAnswer(about: AnswerContext, document: unknown): string {
  const { sent, got, version, complaints } = about
  const payload = openEnvelope(about, document, complaints)
  if (!isJsonObject(document)) return 'no envelope'
  if ('error' in document) {
    const { reason, complaints: more } = checkRpcError(document['error'], version, got.status)
    complaints.push(...more, ...checkEnvelopeError(sent, reason))
    return reason
  }
  if (got.status !== 200) complaints.push(`a result came with HTTP ${got.status}`)
  if (!isValidEnvelope(envelopeOf(sent) ?? {})) complaints.push('a broken envelope was answered with a result')
  return checkResult(about, payload, 'jsonrpc')
}

/** Exactly one of result and error, and the id of the request, which is null only where it could not be read (F-1). */
function openEnvelope({ sent, got }: AnswerContext, document: unknown, complaints: string[]): unknown {
  if (!isJsonObject(document)) {
    complaints.push('the envelope is not an object')
    return undefined
  }
  const keys = Object.keys(document).sort().join(' ')
  if (keys !== 'id jsonrpc result' && keys !== 'error id jsonrpc') complaints.push(`the envelope has ${keys}`)
  if (document['jsonrpc'] !== '2.0') complaints.push('jsonrpc is not 2.0')
  const id = envelopeOf(sent)?.['id']
  const hasId = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
  const wasRead = isReadable(sent) && ![401, 403, 413, 415].includes(got.status)
  const expected = hasId && wasRead ? id : null
  if (document['id'] !== expected) {
    complaints.push(`the id is ${JSON.stringify(document['id'])} and not ${JSON.stringify(expected)}`)
  }
  return document['result']
}

/** An invalid envelope has its own code, whatever else is wrong with the request (B-35, B-36, F-2). */
function checkEnvelopeError(sent: SentRequest, reason: string): string[] {
  if (!isReadable(sent) || reason === 'UNAUTHENTICATED' || reason === 'PAYLOAD_TOO_LARGE') return []
  const body = parsedBody(sent)
  if (body === undefined) return reason === 'PARSE_ERROR' ? [] : [`what is no JSON was answered with ${reason}`]
  if (reason === 'PARSE_ERROR') return ['JSON was taken for something else']
  if (!isJsonObject(body.value)) return isAboutEnvelope(reason) ? [] : [`no object was answered with ${reason}`]
  // For a request that lacks only its id, the error may be an unknown method, but nothing about its params.
  const lacksId = !isValidEnvelope(body.value) && isValidEnvelope({ id: null, ...body.value })
  if (lacksId && reason === 'INVALID_PARAMS') return ['the params of a request without an id were looked at']
  return isValidEnvelope(body.value) || lacksId || isAboutEnvelope(reason)
    ? []
    : [`a broken envelope was answered with ${reason}`]
}

/** A body that is nested too deeply is refused before its envelope is checked. */
function isAboutEnvelope(reason: string): boolean {
  return reason === 'INVALID_REQUEST' || reason === 'INVALID_PARAMS'
}

function checkRestAnswer(about: AnswerContext, document: unknown): string {
  const { got, version, complaints } = about
  if (got.status === 200) return checkResult(about, document, 'rest')
  const { reason, complaints: more } = checkRestError(document, version, got.status)
  complaints.push(...more)
  if (got.status === 405 && !got.headers.has('allow')) complaints.push('405 without Allow')
  if (got.status === 401 && !got.headers.has('www-authenticate')) complaints.push('401 without WWW-Authenticate')
  return reason
}

function checkResult(about: AnswerContext, result: unknown, binding: Binding): string {
  const { sent, entryPoint, version, complaints } = about
  const operation = operationOf(sent, entryPoint, version)
  const shapes = shapesOf(version, binding)
  const use = (path: string, check = shapes.task): string => {
    complaints.push(...complaintsOf(check, result, path))
    return path
  }
  switch (operation) {
    case 'send':
      complaints.push(...invalidMessageAccepted(about))
      return use('send', shapes.sendResult)
    case 'get':
    case 'cancel':
      return use(operation)
    case 'list':
      if (shapes.page === undefined) complaints.push(`${version} has no list`)
      return use('list', shapes.page)
    case 'extended-card':
      checkCard(result, version === '1.0' ? '1.0' : '0.3', (path, what) => complaints.push(`${path} ${what}`))
      return 'extended card'
    default:
      if (entryPoint === 'extended-card-0.2') return 'extended card'
      complaints.push(`${operation ?? 'an unknown operation'} was answered with a result`)
      return 'unexpected result'
  }
}

function checkOpenStream(about: AnswerContext): string {
  const { sent, got, entryPoint, version, complaints } = about
  const operation = operationOf(sent, entryPoint, version)
  if (operation !== 'stream' && operation !== 'subscribe')
    complaints.push(`${operation ?? 'nothing known'} was streamed`)
  if (got.status !== 200) complaints.push(`a stream came with HTTP ${got.status}`)
  if (operation === 'stream') complaints.push(...invalidMessageAccepted(about))
  if (got.headers.get('x-accel-buffering') !== 'no') complaints.push('proxies may hold the stream back')
  const binding = entryPoint === 'jsonrpc' ? 'jsonrpc' : 'rest'
  const hasCursor = sent.headers.has('last-event-id') || /lasteventid/i.test(sent.url.search)
  const { complaints: more, isOver } = checkStream({
    text: got.body,
    version,
    binding,
    startsWithSnapshot: !hasCursor,
    open(document, list) {
      if (binding === 'rest') return document
      const payload = openEnvelope(about, document, list)
      if (!isJsonObject(document) || !('error' in document)) return payload
      const { reason, complaints: wrong } = checkRpcError(document['error'], version, got.status)
      list.push(...wrong)
      // Published 0.x clients accept only a stream as the response to a resubscription, errors included (F-7).
      const isLost = reason === 'TASK_NOT_FOUND' && operation === 'subscribe' && version !== '1.0'
      if (!isLost) list.push(`the stream brings the error ${reason}`)
      return failedStream
    },
  })
  complaints.push(...more)
  if (isOver && !got.ended) complaints.push('the stream stays open after its end')
  return operation ?? 'stream'
}

function invalidMessageAccepted({ sent, entryPoint, version }: AnswerContext): string[] {
  const body = parsedBody(sent)?.value
  const reason = invalidReasonIn(entryPoint === 'jsonrpc' && isJsonObject(body) ? body['params'] : body, version)
  return reason === undefined ? [] : [`a message was accepted although ${reason}`]
}
