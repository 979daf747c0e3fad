/**
 * A request whose body goes from Node's parser straight to its reader. As a stream, a body of one piece waits for five
 * turns of a queue until it has been listened to, resumed, read, ended and closed, and nobody looks at any of that: it
 * took a tenth of a small request. Whoever reads the usual way, before us or beside us, notices no difference.
 *
 * Rests on Node's parser calling `push` for each chunk and for the end, as it does in 22 to 26; where one did not, the
 * tests would hang.
 */
import type { BodyReader } from './node-pair.ts'

/** What we use of an IncomingMessage besides. */
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

/** Of Node's class one for the option `IncomingMessage` of its servers. */
export function directRequest<Class extends RequestClass>(IncomingMessage: Class): Class {
  const Streamed: RequestClass = IncomingMessage
  class DirectRequest extends Streamed {
    #reader: BodyReader | undefined
    /** By our reader alone: the stream was never touched, and does not know that it has ended. */
    #isRead = false

    /** `false` if it is another's already, or if some of it has come: then the stream has it. */
    handTo(reader: BodyReader): boolean {
      if (this.#reader !== undefined || this.readableLength > 0 || this.complete) return false
      this.#reader = reader
      // Takes nothing, but tells Node that somebody reads: of a body that nobody has begun to read it drops the rest when
      // the answer is out, and the reader would take what came until then for the whole.
      this.read(0)
      return true
    }

    override push(chunk: Uint8Array | null, encoding?: string): boolean {
      const reader = this.#reader
      if (reader === undefined) return super.push(chunk, encoding)
      if (chunk !== null) {
        reader.piece(chunk)
        // Others may read as well.
        return this.readableFlowing === null || super.push(chunk)
      }
      this.#reader = undefined
      reader.end()
      const isStream = this.readableFlowing !== null
      this.#isRead = !isStream && this.eventNames().length === 0
      if (this.#isRead) return false
      // Somebody waits for its end or its close: Node itself, if the answer was out before the body was in.
      if (!isStream) this.resume()
      return super.push(null)
    }

    /** Node asks when the answer is out, and holds on to a request that has not ended. */
    override get readableEnded(): boolean {
      return this.#isRead || super.readableEnded
    }

    override destroy(error?: Error): this {
      const reader = this.#reader
      this.#reader = undefined
      reader?.left()
      // A stream that was read to its end hears of no error any more: what is cut off then is the answer.
      return super.destroy(this.#isRead ? undefined : error)
    }
  }
  return DirectRequest as RequestClass as Class
}
