/** The rpcs of a version: the path of each, its messages, and the codec of its bytes. */
import type { NextStep } from '../../model/heavy-step.ts'
import { decodeTextInSteps, parseJsonInSteps } from '../../model/json-steps.ts'
import { A2AError } from '../../model/error.ts'
import { defaultJsonNodes, responseTooManyNodes } from '../../model/json-nodes.ts'
import type { Operation, RequestOf } from '../../model/operation.ts'
import type { ProtocolVersion } from '../../versions/index.ts'
import type { RpcSpelling } from '../../versions/version.ts'
import { tooManyNodes } from '../json-body.ts'
import { decodeProtobuf, encodeProtobuf } from './codec.ts'
import { CodecError, TooManyNodesError } from './message-codec.ts'
import { serviceDescriptor } from './schema.ts'

export interface RpcMethod {
  readonly operation: Operation
  readonly name: string
  /** `/lf.a2a.v1.A2AService/GetTask` */
  readonly path: string
  readonly isStream: boolean
  readonly request: string
  readonly response: string
  readonly resources: RpcSpelling['resources']
}

/** Every operation that the version supports over gRPC. */
export function rpcMethodsOf({ spelling }: ProtocolVersion): ReadonlyMap<Operation, RpcMethod> {
  const { service, rpcs } = spelling.grpc
  const { methods } = serviceDescriptor(service)
  return new Map(
    spelling.routes.map(({ operation }) => {
      const { name = operation, resources } = rpcs?.[operation] ?? {}
      const rpc = methods.find((method) => method.name === name)
      if (rpc === undefined) throw new Error(`${service} has no rpc ${name}`)
      const method: RpcMethod = {
        operation,
        name,
        path: `/${service}/${name}`,
        isStream: rpc.methodKind === 'server_streaming',
        request: rpc.input.typeName,
        response: rpc.output.typeName,
        resources,
      }
      return [operation, method]
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
  { request: typeName, resources }: RpcMethod,
  { proto }: ProtocolVersion,
  operation: O,
  request: RequestOf<O>,
): Uint8Array {
  const payload = proto.encodeRequest(operation, request) as Readonly<Record<string, unknown>>
  try {
    return encodeProtobuf(
      typeName,
      resources === undefined ? payload : { ...payload, ...resourceNames(resources, payload) },
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
    if (reason instanceof TooManyNodesError) throw responseTooManyNodes(maxNodes)
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
