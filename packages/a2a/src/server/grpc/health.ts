/**
 * The health service that orchestrators and load balancers ask (grpc.health.v1). Ours rather than the package of the
 * same name: that one brings a loader and a parser of .proto files, and we have the descriptors already.
 */
import type { sendUnaryData, ServerUnaryCall, ServerWritableStream } from '@grpc/grpc-js'
import { decode, encode } from '../../bindings/grpc/codec.ts'
import { bytesOnly, type Service } from './calls.ts'

type Bytes = Uint8Array
const name = 'grpc.health.v1.Health'
/** How often those who watch are looked after. */
const watchMs = 1_000
const notFound = 5

export interface HealthParts {
  /** What may be asked after, beside the server as a whole. */
  readonly services: readonly string[]
  isReady(): Promise<boolean>
}

type State = 'SERVING' | 'NOT_SERVING' | 'SERVICE_UNKNOWN'

export function healthService({ services, isReady }: HealthParts): Service {
  const known = new Set(['', name, ...services])
  const isKnown = (bytes: Bytes): boolean => {
    const { service = '' } = decode(`grpc.health.v1.HealthCheckRequest`, bytes) as { service?: string }
    return known.has(service)
  }
  const stateNow = async (): Promise<State> => ((await isReady()) ? 'SERVING' : 'NOT_SERVING')
  const answer = (status: State): Bytes => encode('grpc.health.v1.HealthCheckResponse', { status })

  async function check(call: ServerUnaryCall<Bytes, Bytes>, callback: sendUnaryData<Bytes>): Promise<void> {
    try {
      if (isKnown(call.request)) callback(null, answer(await stateNow()))
      else callback({ code: notFound, details: 'There is no such service' })
    } catch (reason) {
      callback({ code: 3, details: reason instanceof Error ? reason.message : 'Malformed' })
    }
  }

  function watch(call: ServerWritableStream<Bytes, Bytes>): void {
    let told: State | undefined
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
    definition: { Check: bytesOnly(`/${name}/Check`, false, false), Watch: bytesOnly(`/${name}/Watch`, false, true) },
    implementation: {
      Check: (call: ServerUnaryCall<Bytes, Bytes>, callback: sendUnaryData<Bytes>) => void check(call, callback),
      Watch: watch,
    },
  }
}
