/** A request's body as text, from a stream, or from a parser that was there first. */
import { A2AError, type ErrorCode } from '../model/error.ts'
import type { NodeRequest } from './node-pair.ts'

export function readBody(req: NodeRequest, limitBytes: number): Promise<string> {
  const { body } = req
  if (typeof body === 'string') return Promise.resolve(body)
  if (body instanceof Uint8Array) return Promise.resolve(Buffer.from(body).toString())
  // Somebody has read it before us and kept nothing: there will be no more events.
  if (req.readableEnded || req.destroyed) return Promise.resolve('')
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = Number(req.headers['content-length'] ?? 0) > limitBytes ? Infinity : 0
    let settled = false
    const fail = (code: ErrorCode, message: string): void => {
      if (settled) return
      settled = true
      chunks.length = 0
      reject(new A2AError(code, message))
    }
    const check = (): void => {
      if (size > limitBytes) fail('PAYLOAD_TOO_LARGE', `The body is larger than ${limitBytes} bytes`)
    }
    check()
    // What is too much is still read, and dropped: a client that is cut off while it sends may never read our answer.
    req.on('data', (chunk) => {
      if (settled) return
      size += chunk.length
      chunks.push(chunk)
      check()
    })
    req.on('end', () => {
      if (settled) return
      settled = true
      const [only] = chunks
      // Nearly every body comes in one piece, and need not be copied.
      resolve((chunks.length === 1 && only instanceof Buffer ? only : Buffer.concat(chunks)).toString())
    })
    // An answer to somebody who left in the middle of a sentence reaches nobody; the promise only must not stay open.
    const left = (): void => fail('INVALID_REQUEST', 'The request ended before its body did')
    req.on('error', left)
    req.on('close', left)
  })
}
