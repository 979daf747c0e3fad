/**
 * Streams over gRPC: reads the frames of HTTP/2 itself, because the client of `@grpc/grpc-js` costs more than the servers. Each call
 * must bring all chunks in order and end with status 0.
 */
import { type ClientHttp2Session, connect } from 'node:http2'
import { encodeProtobuf } from '../../packages/a2a/src/bindings/grpc/codec.ts'
import { newMessageId } from '../workload.ts'

export interface GrpcRound {
  readonly events: number
  readonly perSecond: number
}

export interface GrpcLoad {
  run(durationMs: number): Promise<GrpcRound>
  close(): void
}

const path = '/lf.a2a.v1.A2AService/SendStreamingMessage'
const frameHead = 5
const chunkPattern = /(\d{6}) and so/

function requestBytes(chunks: number): Buffer {
  const message = { messageId: newMessageId(), role: 'ROLE_USER', parts: [{ text: String(chunks) }] }
  const payload = encodeProtobuf('lf.a2a.v1.SendMessageRequest', { message })
  const head = Buffer.alloc(frameHead)
  head.writeUInt32BE(payload.length, 1)
  return Buffer.concat([head, payload])
}

/** Counts the messages of a call, and checks the numbers of its chunks. */
function createCallReader(): { piece(bytes: Buffer): void; finish(chunks: number): number } {
  let pending: Buffer = Buffer.alloc(0)
  let [events, next] = [0, 0]
  return {
    piece(bytes) {
      const all = pending.length === 0 ? bytes : Buffer.concat([pending, bytes])
      let at = 0
      while (all.length - at >= frameHead) {
        const end = at + frameHead + all.readUInt32BE(at + 1)
        if (end > all.length) break
        events += 1
        const chunk = chunkPattern.exec(all.toString('latin1', at, end))
        if (chunk !== null) {
          if (Number(chunk[1]) !== next) throw new Error(`chunk ${chunk[1]} where ${next} was due`)
          next += 1
        }
        at = end
      }
      pending = all.subarray(at)
    },
    finish(chunks) {
      if (next !== chunks) throw new Error(`${next} chunks of ${chunks}`)
      return events
    },
  }
}

function call(session: ClientHttp2Session, chunks: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const reader = createCallReader()
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'a2a-version': '1.0',
  })
  let status: unknown
  let detail: unknown
  const note = (headers: Readonly<Record<string, unknown>>): void => {
    status ??= headers['grpc-status']
    detail ??= headers['grpc-message']
  }
  stream.on('response', note).on('trailers', note)
  stream.on('data', (bytes: Buffer) => {
    try {
      reader.piece(bytes)
    } catch (reason) {
      reject(reason)
    }
  })
  stream.on('error', reject)
  stream.on('end', () => {
    if (status !== '0') return reject(new Error(`gRPC status ${String(status)} ${String(detail)}`))
    try {
      resolve(reader.finish(chunks))
    } catch (reason) {
      reject(reason)
    }
  })
  stream.end(requestBytes(chunks))
  return promise
}

export interface GrpcLoadOptions {
  readonly port: number
  readonly sessions: number
  readonly streamsPerSession: number
  readonly chunks: number
}

export function openGrpcLoad({ port, sessions, streamsPerSession, chunks }: GrpcLoadOptions): GrpcLoad {
  const opened = Array.from({ length: sessions }, () => connect(`http://127.0.0.1:${port}`))
  return {
    async run(durationMs) {
      let events = 0
      const start = performance.now()
      const work = async (session: ClientHttp2Session): Promise<void> => {
        while (performance.now() - start < durationMs) {
          const received = await call(session, chunks)
          events += received
        }
      }
      await Promise.all(opened.flatMap((session) => Array.from({ length: streamsPerSession }, () => work(session))))
      return { events, perSecond: (events * 1_000) / (performance.now() - start) }
    },
    close: () => opened.forEach((session) => session.destroy()),
  }
}
