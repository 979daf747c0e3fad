import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type DescField, ScalarType } from '@bufbuild/protobuf'
import protobuf from 'protobufjs'
import { descriptorRegistry } from './schema.ts'

/** Parsed by another library than the one that created the descriptors. */
const folder = join(import.meta.dirname, '../../../proto')
const paths = globSync('**/*.proto', { cwd: folder })
const root = new protobuf.Root()
root.resolvePath = (_origin, target) =>
  target.startsWith('google/protobuf/') ? target : join(folder, target.replace(folder, ''))
root.loadSync(paths, { keepCase: true })
root.resolveAll()

describe('the descriptors of the gRPC binding', () => {
  it('cover every file of packages/a2a/proto', () => {
    const made = [...descriptorRegistry.files].map(({ proto }) => proto.name)
    assert.ok(paths.length >= 7)
    for (const path of paths) assert.ok(made.includes(path), path)
  })

  const { messages, enums, services } = namespaces(root)

  it('have the messages, fields, numbers and types of the files, and no others [F-10]', () => {
    assert.ok(messages.length > 80)
    for (const type of messages) {
      const name = type.fullName.slice(1)
      const made = descriptorRegistry.getMessage(name)
      assert.ok(made, `${name} is missing: make the descriptors anew, see CONTRIBUTING.md`)
      assert.deepEqual(made.fields.map(describeMade).sort(), type.fieldsArray.map(describeParsed).sort(), name)
    }
    const ours = [...descriptorRegistry].filter(
      ({ kind, typeName }) => kind === 'message' && !typeName.startsWith('google.protobuf'),
    )
    assert.equal(ours.length, messages.length)
  })

  it('have the names and numbers of every enumeration', () => {
    for (const type of enums) {
      const made = descriptorRegistry.getEnum(type.fullName.slice(1))
      const values = Object.fromEntries((made?.values ?? []).map(({ name, number }) => [name, number]))
      assert.deepEqual(values, type.values, type.fullName)
    }
  })

  it('have the rpcs of every service, with request and response types [F-10]', () => {
    assert.equal(services.length, 5)
    for (const service of services) {
      const made = descriptorRegistry.getService(service.fullName.slice(1))
      assert.deepEqual(
        made?.methods.map(({ name, input, output, methodKind }) => [name, input.typeName, output.typeName, methodKind]),
        service.methodsArray.map((method) => [
          method.name,
          method.resolvedRequestType?.fullName.slice(1),
          method.resolvedResponseType?.fullName.slice(1),
          method.responseStream ? (method.requestStream ? 'bidi_streaming' : 'server_streaming') : 'unary',
        ]),
      )
    }
  })
})

function namespaces(within: protobuf.NamespaceBase) {
  const messages: protobuf.Type[] = []
  const enums: protobuf.Enum[] = []
  const services: protobuf.Service[] = []
  const walk = (space: protobuf.NamespaceBase): void => {
    if (space.fullName === '.google.protobuf') return
    for (const one of space.nestedArray) {
      if (one instanceof protobuf.Type) messages.push(one)
      if (one instanceof protobuf.Enum) enums.push(one)
      if (one instanceof protobuf.Service) services.push(one)
      if (one instanceof protobuf.Namespace) walk(one)
    }
  }
  walk(within)
  return { messages, enums, services }
}

/** `3 history_length optional int32 (historyLength)`, from either library. */
function describeMade(field: DescField): string {
  const type = field.message?.typeName ?? field.enum?.typeName ?? ScalarType[field.scalar as ScalarType].toLowerCase()
  const kind = field.fieldKind === 'list' ? 'repeated ' : field.fieldKind === 'map' ? 'map ' : ''
  const optional = field.proto.proto3Optional ? 'optional ' : ''
  const oneof = field.oneof === undefined ? '' : ` in ${field.oneof.name}`
  return `${field.number} ${field.name} ${optional}${kind}${type} (${field.jsonName})${oneof}`
}

function describeParsed(field: protobuf.Field): string {
  const type = field.resolvedType?.fullName.slice(1) ?? field.type
  const kind = field instanceof protobuf.MapField ? 'map ' : field.repeated ? 'repeated ' : ''
  const isOptional = field.options?.['proto3_optional'] === true
  const oneof = field.partOf === null || isOptional ? '' : ` in ${field.partOf.name}`
  const json = (field.options?.['json_name'] as string | undefined) ?? protobuf.util.camelCase(field.name)
  return `${field.id} ${field.name} ${isOptional ? 'optional ' : ''}${kind}${type} (${json})${oneof}`
}
