/** The limit for gRPC: `@grpc/grpc-js` alone, which writes events of the same shape and stores nothing. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js'
import { chunkText } from '../workload.ts'
import { runContestant } from './child-process.ts'

/** One payload of StreamResponse, by its field number. Numbers of fields are those of lf.a2a.v1. */
interface Payload {
  readonly field: number
  write(writer: BinaryWriter): void
}

const taskId = '0f9c8a52-3b51-4a51-9a3c-0c4b7a1d2e3f'
const bytes = WireType.LengthDelimited
const [submitted, completed] = [1, 3]
const text = (writer: BinaryWriter, field: number, value: string): BinaryWriter =>
  writer.tag(field, bytes).string(value)

function writeStatus(writer: BinaryWriter, field: number, state: number): void {
  writer.tag(field, bytes).fork().tag(1, 0).int32(state)
  writer
    .tag(3, bytes)
    .fork()
    .tag(1, 0)
    .int64(Math.floor(Date.now() / 1_000))
    .join()
    .join()
}

const ids = (writer: BinaryWriter): BinaryWriter => text(text(writer, 1, taskId), 2, taskId)

const task: Payload = { field: 1, write: (writer) => writeStatus(ids(writer), 3, submitted) }
const end: Payload = { field: 3, write: (writer) => writeStatus(ids(writer), 3, completed) }
const chunk = (index: number): Payload => ({
  field: 4,
  write(writer) {
    text(ids(writer).tag(3, bytes).fork(), 1, 'answer').tag(4, bytes).fork()
    text(writer, 1, chunkText(index))
      .join()
      .join()
      .tag(4, 0)
      .bool(index > 0)
  },
})

function serialize({ field, write }: Payload): Buffer {
  const writer = new BinaryWriter()
  writer.tag(field, bytes).fork()
  write(writer)
  return Buffer.from(writer.join().finish())
}

/** The text of the first part of the message: how many chunks are wanted. */
function readCount(request: Uint8Array): number {
  let found = ''
  const visit = (data: Uint8Array, path: readonly number[]): void => {
    const reader = new BinaryReader(data)
    const [field, ...rest] = path
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag()
      if (number !== field || wireType !== WireType.LengthDelimited) reader.skip(wireType)
      else if (rest.length === 0) found ||= reader.string()
      else visit(reader.bytes(), rest)
    }
  }
  // SendMessageRequest.message.parts.text
  visit(request, [2, 5, 1])
  return Number(found)
}

type Call = ServerWritableStream<number, Payload>

function stream(call: Call): void {
  const count = call.request
  call.write(task)
  for (let index = 0; index < count; index++) call.write(chunk(index))
  call.write(end)
  call.end()
}

const server = new Server()
server.addService(
  {
    SendStreamingMessage: {
      path: '/lf.a2a.v1.A2AService/SendStreamingMessage',
      requestStream: false,
      responseStream: true,
      requestSerialize: (value: Uint8Array) => Buffer.from(value),
      requestDeserialize: readCount,
      responseSerialize: serialize,
      responseDeserialize: (value: Buffer) => value,
    },
  },
  { SendStreamingMessage: stream },
)
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (reason, port) => {
  if (reason) throw reason
  runContestant({ port, grpcPort: port, announce() {}, close: () => server.forceShutdown() })
})
