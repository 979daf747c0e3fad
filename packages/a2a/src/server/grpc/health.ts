/**
 * The health service for orchestrators and load balancers (grpc.health.v1). Not the package of the same name: that brings a loader
 * and a parser of .proto files, and the descriptors are already here.
 */
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { decodeProtobuf, encodeProtobuf } from '../../bindings/grpc/codec.ts'
import { rawBytesMethod, type GrpcService } from './a2a-service.ts'

type Bytes = Uint8Array
const name = 'grpc.health.v1.Health'
/** How often the status is checked for watching clients. */
const watchMs = 1_000
const notFound = 5

export interface HealthServiceDeps {
  /** The services that a client may ask for, beside the server as a whole. */
  readonly services: readonly string[]
  isReady(): Promise<boolean>
}

type ServingStatus = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'

export function healthService({ services, isReady }: HealthServiceDeps): GrpcService {
  const known = new Set(['', name, ...services])
  const isKnown = (bytes: Bytes): boolean => {
    const { service = '' } = decodeProtobuf(`grpc.health.v1.HealthCheckRequest`, bytes) as { service?: string }
    return known.has(service)
  }
  const stateNow = async (): Promise<ServingStatus> => ((await isReady()) ? 'SERVING' : 'NOT_SERVING')
  const answer = (status: ServingStatus): Bytes => encodeProtobuf('grpc.health.v1.HealthCheckResponse', { status })

  async function check(call: ServerUnaryCall<Bytes, Bytes>, callback: sendUnaryData<Bytes>): Promise<void> {
    try {
      if (isKnown(call.request)) callback(null, answer(await stateNow()))
      else callback({ code: notFound, details: 'Unknown service' })
    } catch (reason) {
      callback({ code: 3, details: reason instanceof Error ? reason.message : 'Malformed' })
    }
  }

  function watch(call: ServerWritableStream<Bytes, Bytes>): void {
    let told: ServingStatus | undefined
    const tell = async (): Promise<void> => {
      const state = isKnown(call.request) ? await stateNow() : 'SERVICE_UNKNOWN'
      if (state === told || call.cancelled) return
      told = state
      call.write(answer(state))
    }
    const look = (): void => void tell().catch((reason: unknown) => call.emit('error', reason))
    const timer = setInterval(look, watchMs).unref()
    call.on('cancelled', () => clearInterval(timer))
    look()
  }

  return {
    definition: {
      Check: rawBytesMethod(`/${name}/Check`, false, false),
      Watch: rawBytesMethod(`/${name}/Watch`, false, true),
    },
    implementation: {
      Check: (call: ServerUnaryCall<Bytes, Bytes>, callback: sendUnaryData<Bytes>) => void check(call, callback),
      Watch: watch,
    },
  }
}
