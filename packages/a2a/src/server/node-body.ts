/** A request's body as text, from a stream, or from a parser that was there first. */
import { tooLarge } from '../bindings/json-body.ts'
import { A2AError } from '../model/error.ts'
import { firstHeavyStep, isHeavy } from '../model/heavy-step.ts'
import type { NodeRequest } from './node-pair.ts'

/**
 * Bytes of large bodies that are coming in or wait for their first step, of all servers of the process: such bodies are
 * handled one after the other, so there must be an end to how many wait. One that is over it is refused, to be sent again.
 */
const mostWaitingBytes = 256_000_000
let waitingBytes = 0

export function readBody(req: NodeRequest, limitBytes: number): Promise<string> {
  const { body } = req
  const declared = Number(req.headers['content-length']) || 0
  // A parser before us has limits of its own, and may have unpacked what came.
  if (typeof body === 'string') return within(limitBytes, Math.max(declared, Buffer.byteLength(body)), () => body)
  if (body instanceof Uint8Array) {
    return within(limitBytes, Math.max(declared, body.length), () => Buffer.from(body).toString())
  }
  // Somebody has read it before us and kept nothing: there will be no more events.
  if (req.readableEnded || req.destroyed) return Promise.resolve('')
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = declared > limitBytes ? Infinity : 0
    let settled = false
    let counted = 0
    const count = (bytes: number): void => {
      waitingBytes += bytes - counted
      counted = bytes
    }
    const fail = (error: A2AError): void => {
      if (settled) return
      settled = true
      chunks.length = 0
      count(0)
      reject(error)
    }
    const check = (): void => {
      if (size > limitBytes) fail(tooLarge(limitBytes))
    }
    check()
    // What is too much is still read, and dropped: a client that is cut off while it sends may never read our answer.
    const piece = (chunk: Uint8Array): void => {
      if (settled) return
      size += chunk.length
      chunks.push(chunk)
      if (isHeavy(size)) count(size)
      check()
      if (counted > 0 && waitingBytes > Math.max(mostWaitingBytes, limitBytes)) fail(tooManyBodies())
    }
    const end = (): void => {
      if (settled) return
      settled = true
      const [only] = chunks
      // Nearly every body comes in one piece, and need not be copied.
      const text = (): string => {
        count(0)
        return (chunks.length === 1 && only instanceof Buffer ? only : Buffer.concat(chunks)).toString()
      }
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

function tooManyBodies(): A2AError {
  return new A2AError('UNAVAILABLE', 'The server holds as many large requests as it can: send it again later')
}
