/** The messages and services of packages/a2a/proto, as descriptors: which fields there are, by number and by name. */
import { createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { DescFile, DescMessage, DescService, FileRegistry } from '@bufbuild/protobuf'
import { base64Decode } from '@bufbuild/protobuf/wire'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptors } from './generated/descriptors.ts'

export const registry: FileRegistry = createFileRegistry(fromBinary(FileDescriptorSetSchema, base64Decode(descriptors)))

export function messageOf(typeName: string): DescMessage {
  const found = registry.getMessage(typeName)
  if (found === undefined) throw new Error(`There is no message ${typeName} in packages/a2a/proto`)
  return found
}

export function serviceOf(typeName: string): DescService {
  const found = registry.getService(typeName)
  if (found === undefined) throw new Error(`There is no service ${typeName} in packages/a2a/proto`)
  return found
}

/** As tools read it that ask a server what it speaks. Descriptors say `a.proto`; our own names leave that off. */
export function bytesOfFile(file: DescFile): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, file.proto)
}
