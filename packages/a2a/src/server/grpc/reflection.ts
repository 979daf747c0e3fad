/**
 * Tells tools such as grpcurl what is spoken here (grpc.reflection). Ours rather than the package: see health.ts. What
 * it tells is the protocol, which is public, so nobody is asked who they are.
 */
import type { ServerDuplexStream } from '@grpc/grpc-js'
import type { DescFile } from '@bufbuild/protobuf'
import { decode, encode } from '../../bindings/grpc/codec.ts'
import { bytesOfFile, registry } from '../../bindings/grpc/schema.ts'
import { bytesOnly, type Service } from './calls.ts'

type Bytes = Uint8Array
const notFound = 5
const unimplemented = 12

interface Question {
  readonly fileByFilename?: string
  readonly fileContainingSymbol?: string
  readonly fileContainingExtension?: object
  readonly allExtensionNumbersOfType?: string
  readonly listServices?: string
}

/** `v1`, and `v1alpha` as it was called first, which many tools still ask for. */
export function reflectionService(revision: 'v1' | 'v1alpha', services: readonly string[]): Service {
  const name = `grpc.reflection.${revision}.ServerReflection`
  const answer = (bytes: Bytes): Bytes => {
    const originalRequest = decode(`grpc.reflection.${revision}.ServerReflectionRequest`, bytes) as Question
    const response = { originalRequest, ...answerTo(originalRequest, services) }
    return encode(`grpc.reflection.${revision}.ServerReflectionResponse`, response)
  }
  return {
    definition: { ServerReflectionInfo: bytesOnly(`/${name}/ServerReflectionInfo`, true, true) },
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

function answerTo(question: Question, services: readonly string[]): object {
  if (question.listServices !== undefined) {
    return { listServicesResponse: { service: services.map((name) => ({ name })) } }
  }
  if (question.fileByFilename !== undefined) {
    return files([...registry.files].find(({ proto }) => proto.name === question.fileByFilename))
  }
  if (question.fileContainingSymbol !== undefined) return files(fileOf(question.fileContainingSymbol))
  // proto3 has none but for options.
  if (question.fileContainingExtension !== undefined || question.allExtensionNumbersOfType !== undefined) {
    return problem(notFound, 'There are no extensions')
  }
  return problem(unimplemented, 'This question is not known')
}

/** A message, an enum, a service or one of its rpcs. */
function fileOf(symbol: string): DescFile | undefined {
  const parent = symbol.slice(0, symbol.lastIndexOf('.'))
  return (registry.get(symbol) ?? registry.getService(parent) ?? registry.getMessage(parent))?.file
}

/** With everything that it imports, so that nobody has to ask again. */
function files(file: DescFile | undefined): object {
  if (file === undefined) return problem(notFound, 'There is no such file or symbol')
  const found = new Set<DescFile>()
  const add = (one: DescFile): void => {
    if (found.has(one)) return
    found.add(one)
    one.dependencies.forEach(add)
  }
  add(file)
  const fileDescriptorProto = [...found].map((one) => Buffer.from(bytesOfFile(one)).toString('base64'))
  return { fileDescriptorResponse: { fileDescriptorProto } }
}

function problem(errorCode: number, errorMessage: string): object {
  return { errorResponse: { errorCode, errorMessage } }
}
