/** The messages and services of packages/a2a/proto as descriptors: their fields by number and by name. */
import type { DescFile, DescMessage, DescService, FileRegistry } from '@bufbuild/protobuf'
import { createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf'
import { base64Decode } from '@bufbuild/protobuf/wire'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { descriptors } from './generated/descriptors.ts'

/** The messages and services of A2A 0.3 (`a2a.v1`) and 1.0 (`lf.a2a.v1`), for tools that read or write the bytes themselves. */
export const descriptorRegistry: FileRegistry = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, base64Decode(descriptors)),
)

export function messageDescriptor(typeName: string): DescMessage {
  const found = descriptorRegistry.getMessage(typeName)
  if (found === undefined) throw new Error(`There is no message ${typeName} in packages/a2a/proto`)
  return found
}

export function serviceDescriptor(typeName: string): DescService {
  const found = descriptorRegistry.getService(typeName)
  if (found === undefined) throw new Error(`There is no service ${typeName} in packages/a2a/proto`)
  return found
}

/** For tools that query a server by reflection. Descriptors name their files `a.proto`; our names omit the suffix. */
export function fileDescriptorBytes(file: DescFile): Uint8Array {
  return toBinary(FileDescriptorProtoSchema, file.proto)
}
