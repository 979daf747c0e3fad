/** The rpcs of a version: the path of each, its messages, and the codec of its bytes. */
import type { NextStep } from '../../model/heavy-step.ts'
import { decodeTextInSteps, parseJsonInSteps } from '../../model/json-steps.ts'
import { A2AError } from '../../model/error.ts'
import { defaultJsonNodes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import { grpcSpellingOf, type RpcSpelling } from '../../versions/grpc-spelling.ts'
import type { ProtocolVersion } from '../../versions/version.ts'
import { answerTooManyNodes, tooManyNodes } from '../json-body.ts'
import { decodeProtobuf, encodeProtobuf } from './codec.ts'
import { CodecError, TooManyNodesError } from './message-codec.ts'
import { serviceDescriptor } from './schema.ts'

export interface RpcMethod {
  readonly operation: Operation
  /** `/lf.a2a.v1.A2AService/GetTask` */
  readonly path: string
  readonly isStream: boolean
  readonly request: string
  readonly response: string
  readonly rpc: RpcSpelling
}

/** Every operation that the version supports over gRPC. */
export function rpcMethodsOf({ id }: ProtocolVersion): ReadonlyMap<Operation, RpcMethod> {
  const { service, rpcs } = grpcSpellingOf[id]
  const { methods } = serviceDescriptor(service)
  return new Map(
    Object.entries(rpcs).map(([operation, rpc]) => {
      const found = methods.find(({ name }) => name === rpc.name)
      if (found === undefined) throw new Error(`${service} has no rpc ${rpc.name}`)
      const method: RpcMethod = {
        operation: operation as Operation,
        path: `/${service}/${rpc.name}`,
        isStream: found.methodKind === 'server_streaming',
        request: found.input.typeName,
        response: found.output.typeName,
        rpc,
      }
      return [method.operation, method]
    }),
  )
}

// ---------------------------------------------------------------- serving

/** A client's request, in ProtoJSON. */
export function decodeRpcRequest({ request }: RpcMethod, bytes: Uint8Array, maxNodes: number): unknown {
  try {
    return decodeProtobuf(request, bytes, maxNodes)
  } catch (reason) {
    if (reason instanceof TooManyNodesError) throw tooManyNodes(maxNodes)
    if (!(reason instanceof CodecError)) throw reason
    throw new A2AError('PARSE_ERROR', `Invalid protobuf payload: ${reason.message}`)
  }
}

/** The response that was encoded last: when one task is polled, the next request is often for it. */
let lastResponse: { readonly response: string; readonly json: string; readonly bytes: Uint8Array } | undefined

/** Messages encoded from long texts. All callers share them, as they share the texts. */
const shared = new WeakMap<Uint8Array, Map<string, Uint8Array>>()

/** Encodes a result from the JSON text that all bindings share; a long text is UTF-8 bytes. */
export function encodeRpcResponse({ response }: RpcMethod, json: string): Uint8Array {
  if (lastResponse !== undefined && lastResponse.response === response && lastResponse.json === json)
    return lastResponse.bytes
  const bytes = encodeProtobuf(response, JSON.parse(json))
  lastResponse = { response, json, bytes }
  return bytes
}

/** A large response, whose bytes all readers share. */
export async function encodeLargeRpcResponse(
  { response }: RpcMethod,
  json: Uint8Array,
  nextStep: NextStep,
): Promise<Uint8Array> {
  let known = shared.get(json)
  if (known === undefined) shared.set(json, (known = new Map<string, Uint8Array>()))
  if (!known.has(response)) {
    await nextStep()
    const value = await parseJsonInSteps(await decodeTextInSteps(json, nextStep), nextStep)
    await nextStep()
    if (!known.has(response)) known.set(response, encodeProtobuf(response, value))
  }
  return known.get(response) as Uint8Array
}

// ---------------------------------------------------------------- calling

export function encodeRpcRequest<O extends Operation>(
  { request: typeName, rpc }: RpcMethod,
  { proto }: ProtocolVersion,
  operation: O,
  request: RequestOf<O>,
): Uint8Array {
  const payload = proto.encodeRequest(operation, request) as Readonly<Record<string, unknown>>
  try {
    return encodeProtobuf(
      typeName,
      rpc.resources === undefined ? payload : { ...payload, ...resourceNames(rpc.resources, payload) },
    )
  } catch (reason) {
    if (!(reason instanceof CodecError)) throw reason
    const violations = [{ field: reason.field, description: reason.what }]
    throw new A2AError('INVALID_PARAMS', `Invalid parameters: ${reason.message}`, { violations })
  }
}

/** A server's response, in ProtoJSON. */
export function decodeRpcResponse({ response }: RpcMethod, bytes: Uint8Array, maxNodes = defaultJsonNodes): unknown {
  try {
    return decodeProtobuf(response, bytes, maxNodes)
  } catch (reason) {
    if (reason instanceof TooManyNodesError) throw answerTooManyNodes(maxNodes)
    if (!(reason instanceof CodecError)) throw reason
    throw new A2AError('INVALID_AGENT_RESPONSE', `The peer's response is malformed: ${reason.message}`)
  }
}

/** Resource names are pairs of a collection and an id. */
function resourceNames(
  resources: Readonly<Record<string, string>>,
  payload: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const names: Record<string, string> = {}
  for (const [field, template] of Object.entries(resources)) {
    const segments: string[] = []
    for (const segment of template.split('/')) {
      const id = /^\{(\w+)\}$/.exec(segment)?.[1]
      const value = id === undefined ? segment : payload[id]
      if (typeof value !== 'string') {
        segments.pop()
        break
      }
      segments.push(value)
    }
    names[field] = segments.join('/')
  }
  return names
}
