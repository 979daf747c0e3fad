/** Reads a request's body as text, from a stream, or from a parser that ran before. */
import { tooLarge } from '../../bindings/json-body.ts'
import { A2AError } from '../../model/error.ts'
import { firstHeavyStep, heavyStep, isHeavy, type WorkOwner } from '../../model/heavy-step.ts'
import { decodeTextInSteps } from '../../model/json-steps.ts'
import type { BodyReader, NodeRequest } from './node-http-types.ts'

/**
 * A body over `countedFrom` that is not complete yet, or waits for its first step. A sender that stops in the middle holds what it
 * sent until its request times out: 30 of them that sent 19 MB each held 400 MB. Over the limit, the incomplete body is refused
 * that has waited longest for its next piece.
 */
interface IncomingBody {
  bytes: number
  drop(): void
}

const countedFrom = 65_536
const maxIncomingBytes = 512_000_000
/** The body that has waited longest comes first. */
const incomingBodies = new Set<IncomingBody>()
let incomingBytes = 0

function addIncomingBytes(body: IncomingBody, bytes: number, limitBytes: number): void {
  incomingBytes += bytes - body.bytes
  body.bytes = bytes
  incomingBodies.delete(body)
  incomingBodies.add(body)
  while (incomingBytes > Math.max(maxIncomingBytes, limitBytes)) {
    const [oldest] = incomingBodies
    if (oldest === undefined) return
    oldest.drop()
  }
}

/** Called when its bytes were converted to text or dropped. */
function releaseIncoming(body: IncomingBody): void {
  incomingBodies.delete(body)
  incomingBytes -= body.bytes
  body.bytes = 0
}

function incomingBody(fail: (error: A2AError) => void): IncomingBody {
  const message = 'The server holds as many large requests as it can: send it again later'
  return { bytes: 0, drop: () => fail(new A2AError('UNAVAILABLE', message)) }
}

/** Nearly every body comes in one piece, and need not be copied. */
function textOf(chunks: readonly Uint8Array[]): string {
  const [only] = chunks
  return (chunks.length === 1 && only instanceof Buffer ? only : Buffer.concat(chunks)).toString()
}

async function largeTextOf(chunks: Uint8Array[], owner: WorkOwner | undefined): Promise<string> {
  const caller = owner?.callerKey
  await firstHeavyStep(caller)
  const bytes = Buffer.concat(chunks)
  chunks.length = 0
  return decodeTextInSteps(bytes, () => heavyStep(caller))
}

export function readBody(req: NodeRequest, limitBytes: number, owner?: WorkOwner): Promise<string> {
  const { body: parsed } = req
  const declared = Number(req.headers['content-length']) || 0
  // A parser that ran before has limits of its own, and may have decompressed the body.
  if (typeof parsed === 'string')
    return requireWithinLimit(limitBytes, Math.max(declared, Buffer.byteLength(parsed)), () => parsed)
  if (parsed instanceof Uint8Array) {
    return requireWithinLimit(limitBytes, Math.max(declared, parsed.length), () => Buffer.from(parsed).toString())
  }
  // Other code has read the body and kept nothing: no more events will come.
  if (req.readableEnded || req.destroyed) return Promise.resolve('')
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = declared > limitBytes ? Infinity : 0
    let settled = false
    const fail = (error: A2AError): void => {
      if (settled) return
      settled = true
      chunks.length = 0
      if (body !== undefined) releaseIncoming(body)
      reject(error)
    }
    let body: IncomingBody | undefined
    const check = (): void => {
      if (size > limitBytes) fail(tooLarge(limitBytes))
    }
    check()
    // The rest of a body that is too large is read and dropped: a client that is disconnected while it sends may never read the
    // response.
    const piece = (chunk: Uint8Array): void => {
      if (settled) return
      size += chunk.length
      chunks.push(chunk)
      check()
      if (size > countedFrom && !settled) addIncomingBytes((body ??= incomingBody(fail)), size, limitBytes)
    }
    const end = (): void => {
      if (settled) return
      settled = true
      if (body === undefined) return resolve(textOf(chunks))
      // Complete, so that it is not dropped; counted until it is text.
      incomingBodies.delete(body)
      const counted = body
      const release = (): void => releaseIncoming(counted)
      if (isHeavy(size)) return resolve(largeTextOf(chunks, owner).finally(release))
      release()
      resolve(textOf(chunks))
    }
    // The client disconnected before the end of its body, so no response can reach it; the promise must only not stay open. Checked
    // before the error is created: every request closes, and an error with its stack took 13 µs of each.
    const left = (): void => {
      if (!settled) fail(new A2AError('INVALID_REQUEST', 'The request ended before its body was complete'))
    }
    if (req.handTo?.({ piece, end, left }) === true) return
    req.on('data', piece)
    req.on('end', end)
    req.on('error', left)
    req.on('close', left)
  })
}

async function requireWithinLimit(limitBytes: number, size: number, text: () => string): Promise<string> {
  if (size > limitBytes) throw tooLarge(limitBytes)
  return text()
}

// A request whose body goes from Node's parser straight to its reader. As a stream, a body of one piece waits for five turns of a
// queue until it is listened to, resumed, read, ended and closed, although no code depends on it: that took a tenth of a small
// request. Code that reads the body as a stream, before or beside this class, notices no difference.
// Relies on Node's parser calling `push` for each chunk and for the end, as it does in 22 to 26; with a parser that does not, the
// tests would hang.

/** The other used members of an IncomingMessage. */
interface StreamedRequest {
  readonly complete: boolean
  readonly readableLength: number
  readonly readableFlowing: boolean | null
  readonly readableEnded: boolean
  push(chunk: Uint8Array | null, encoding?: string): boolean
  read(size: number): unknown
  resume(): unknown
  destroy(error?: Error): this
  eventNames(): readonly unknown[]
}

type RequestClass = new (socket: never) => StreamedRequest

/** Derives a class for the option `IncomingMessage` of Node's servers. */
export function createDirectRequestClass<Class extends RequestClass>(IncomingMessage: Class): Class {
  const Streamed: RequestClass = IncomingMessage
  class DirectRequest extends Streamed {
    #reader: BodyReader | undefined
    /** Read by the direct reader alone: the stream was never used, and does not know that it has ended. */
    #isRead = false

    /** `false` if another reader has it, or if some of it has arrived: then the stream has it. */
    handTo(reader: BodyReader): boolean {
      if (this.#reader !== undefined || this.readableLength > 0 || this.complete) return false
      this.#reader = reader
      // Reads nothing, but marks the body as being read: Node drops the rest of an unread body when the response is sent, and the
      // reader would mistake the received part for the whole.
      this.read(0)
      return true
    }

    override push(chunk: Uint8Array | null, encoding?: string): boolean {
      const reader = this.#reader
      if (reader === undefined) return super.push(chunk, encoding)
      if (chunk !== null) {
        reader.piece(chunk)
        // Other code may read the stream as well.
        return this.readableFlowing === null || super.push(chunk)
      }
      this.#reader = undefined
      reader.end()
      const isStream = this.readableFlowing !== null
      this.#isRead = !isStream && this.eventNames().length === 0
      if (this.#isRead) return false
      // Other code waits for its end or its close: Node itself, if the response was sent before the body had arrived.
      if (!isStream) this.resume()
      return super.push(null)
    }

    /** Node checks this when the response is sent, and retains a request that has not ended. */
    override get readableEnded(): boolean {
      return this.#isRead || super.readableEnded
    }

    override destroy(error?: Error): this {
      const reader = this.#reader
      this.#reader = undefined
      reader?.left()
      // A stream that was read to its end emits no more errors: a disconnect then concerns the response.
      return super.destroy(this.#isRead ? undefined : error)
    }
  }
  return DirectRequest as RequestClass as Class
}
