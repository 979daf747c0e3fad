/**
 * Describes the services to tools such as grpcurl (grpc.reflection). Not the package, for the reason in health.ts. It reveals only
 * the protocol, which is public, so it needs no authentication.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { DescFile } from '@bufbuild/protobuf'
import { decodeProtobuf, encodeProtobuf } from '../../bindings/grpc/codec.ts'
import { fileDescriptorBytes, descriptorRegistry } from '../../bindings/grpc/schema.ts'
import { rawBytesMethod, type GrpcService } from './a2a-service.ts'

type Bytes = Uint8Array
const notFound = 5
const unimplemented = 12

interface ReflectionRequest {
  readonly fileByFilename?: string
  readonly fileContainingSymbol?: string
  readonly fileContainingExtension?: object
  readonly allExtensionNumbersOfType?: string
  readonly listServices?: string
}

/** `v1`, and its former name `v1alpha`, which many tools still use. */
export function reflectionService(revision: 'v1' | 'v1alpha', services: readonly string[]): GrpcService {
  const name = `grpc.reflection.${revision}.ServerReflection`
  const answer = (bytes: Bytes): Bytes => {
    const originalRequest = decodeProtobuf(
      `grpc.reflection.${revision}.ServerReflectionRequest`,
      bytes,
    ) as ReflectionRequest
    const response = { originalRequest, ...reflectionResponse(originalRequest, services) }
    return encodeProtobuf(`grpc.reflection.${revision}.ServerReflectionResponse`, response)
  }
  return {
    definition: { ServerReflectionInfo: rawBytesMethod(`/${name}/ServerReflectionInfo`, true, true) },
    implementation: {
      ServerReflectionInfo(call: ServerDuplexStream<Bytes, Bytes>) {
        call.on('data', (bytes: Bytes) => {
          try {
            call.write(answer(bytes))
          } catch (reason) {
            call.emit('error', { code: 3, details: reason instanceof Error ? reason.message : 'Malformed' })
          }
        })
        call.on('end', () => call.end())
      },
    },
  }
}

function reflectionResponse(question: ReflectionRequest, services: readonly string[]): object {
  if (question.listServices !== undefined) {
    return { listServicesResponse: { service: services.map((name) => ({ name })) } }
  }
  if (question.fileByFilename !== undefined) {
    return files([...descriptorRegistry.files].find(({ proto }) => proto.name === question.fileByFilename))
  }
  if (question.fileContainingSymbol !== undefined) return files(fileOf(question.fileContainingSymbol))
  // proto3 has extensions for options only.
  if (question.fileContainingExtension !== undefined || question.allExtensionNumbersOfType !== undefined) {
    return errorResponse(notFound, 'Extensions are not supported')
  }
  return errorResponse(unimplemented, 'Unknown reflection request')
}

/** Finds the file of a message, an enum, a service or one of its rpcs. */
function fileOf(symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, symbol.lastIndexOf('.'))
  return (
    descriptorRegistry.get(symbol) ??
    descriptorRegistry.getService(parent) ??
    descriptorRegistry.getMessage(parent)
  )?.file
}

/** Includes all imports, so that the client need not ask again. */
function files(file: DescFile | undefined): object {
  if (file === undefined) return errorResponse(notFound, 'Unknown file or symbol')
  const found = new Set<DescFile>()
  const add = (one: DescFile): void => {
    if (found.has(one)) return
    found.add(one)
    one.dependencies.forEach(add)
  }
  add(file)
  const fileDescriptorProto = [...found].map((one) => Buffer.from(fileDescriptorBytes(one)).toString('base64'))
  return { fileDescriptorResponse: { fileDescriptorProto } }
}

function errorResponse(errorCode: number, errorMessage: string): object {
  return { errorResponse: { errorCode, errorMessage } }
}
