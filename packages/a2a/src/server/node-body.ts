/** A request's body as text, from a stream, or from a parser that was there first. */
import { tooLarge } from '../bindings/json-body.ts'
import { A2AError } from '../model/error.ts'
import { firstHeavyStep, isHeavy } from '../model/heavy-step.ts'
import type { NodeRequest } from './node-pair.ts'

/**
 * A body over `countedFrom` that is not complete yet, or waits for its first step. A sender that stops in the middle holds what
 * it sent until its request times out: 30 of them that sent 19 MB each held 400 MB. Over the bound, the incomplete body is
 * refused that has waited longest for its next piece.
 */
interface ArrivingBody {
  bytes: number
  drop(): void
}

const countedFrom = 65_536
const mostArrivingBytes = 512_000_000
/** The one that has waited longest comes first. */
const arriving = new Set<ArrivingBody>()
let arrivingBytes = 0

function grow(body: ArrivingBody, bytes: number, limitBytes: number): void {
  arrivingBytes += bytes - body.bytes
  body.bytes = bytes
  arriving.delete(body)
  arriving.add(body)
  while (arrivingBytes > Math.max(mostArrivingBytes, limitBytes)) {
    const [oldest] = arriving
    if (oldest === undefined) return
    oldest.drop()
  }
}

/** Its bytes are text now, or were dropped. */
function forget(body: ArrivingBody): void {
  arriving.delete(body)
  arrivingBytes -= body.bytes
  body.bytes = 0
}

export function readBody(req: NodeRequest, limitBytes: number): Promise<string> {
  const { body: parsed } = req
  const declared = Number(req.headers['content-length']) || 0
  // A parser before us has limits of its own, and may have unpacked what came.
  if (typeof parsed === 'string') return within(limitBytes, Math.max(declared, Buffer.byteLength(parsed)), () => parsed)
  if (parsed instanceof Uint8Array) {
    return within(limitBytes, Math.max(declared, parsed.length), () => Buffer.from(parsed).toString())
  }
  // Somebody has read it before us and kept nothing: there will be no more events.
  if (req.readableEnded || req.destroyed) return Promise.resolve('')
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = declared > limitBytes ? Infinity : 0
    let settled = false
    const fail = (error: A2AError): void => {
      if (settled) return
      settled = true
      chunks.length = 0
      if (body !== undefined) forget(body)
      reject(error)
    }
    const drop = (): void =>
      fail(new A2AError('UNAVAILABLE', 'The server holds as many large requests as it can: send it again later'))
    let body: ArrivingBody | undefined
    const check = (): void => {
      if (size > limitBytes) fail(tooLarge(limitBytes))
    }
    check()
    // What is too much is still read, and dropped: a client that is cut off while it sends may never read our answer.
    const piece = (chunk: Uint8Array): void => {
      if (settled) return
      size += chunk.length
      chunks.push(chunk)
      check()
      if (size > countedFrom && !settled) grow((body ??= { bytes: 0, drop }), size, limitBytes)
    }
    const end = (): void => {
      if (settled) return
      settled = true
      const [only] = chunks
      // Nearly every body comes in one piece, and need not be copied.
      const text = (): string => {
        if (body !== undefined) forget(body)
        return (chunks.length === 1 && only instanceof Buffer ? only : Buffer.concat(chunks)).toString()
      }
      // Complete, so that it is not dropped; counted until it is text.
      if (body !== undefined) arriving.delete(body)
      resolve(isHeavy(size) ? firstHeavyStep().then(text) : text())
    }
    // An answer to somebody who left in the middle of a sentence reaches nobody; the promise only must not stay open.
    // Asked before the error is made: every request closes, and an error with its stack took 13 µs of each.
    const left = (): void => {
      if (!settled) fail(new A2AError('INVALID_REQUEST', 'The request ended before its body did'))
    }
    if (req.handTo?.({ piece, end, left }) === true) return
    req.on('data', piece)
    req.on('end', end)
    req.on('error', left)
    req.on('close', left)
  })
}

async function within(limitBytes: number, size: number, text: () => string): Promise<string> {
  if (size > limitBytes) throw tooLarge(limitBytes)
  return text()
}
