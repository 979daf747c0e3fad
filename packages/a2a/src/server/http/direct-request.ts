/**
 * A request whose body goes from Node's parser straight to its reader. As a stream, a body of one piece waits for five turns of a
 * queue until it is listened to, resumed, read, ended and closed, although no code depends on it: that took a tenth of a small
 * request. Code that reads the body as a stream, before or beside this class, notices no difference.
 *
 * Relies on Node's parser calling `push` for each chunk and for the end, as it does in 22 to 26; with a parser that does not, the
 * tests would hang.
 */
import type { BodyReader } from './node-http-types.ts'

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
