/**
 * Writes the message tables of the gRPC binding: the descriptors of packages/a2a/proto, which come on standard
 * input as `buf build` makes them (the whole command is in CONTRIBUTING.md). Not classes with types: the binding only
 * converts bytes to ProtoJSON and back, for which a table of fields is enough.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

const bytes = await buffer(process.stdin)
if (bytes.length === 0) throw new Error('No descriptors on standard input: see CONTRIBUTING.md for the command')
const lines = bytes.toString('base64').match(/.{1,114}/g) ?? []
const file = join(import.meta.dirname, '../packages/a2a/src/bindings/grpc/generated/descriptors.ts')
writeFileSync(
  file,
  [
    '/** Made from packages/a2a/proto by scripts/descriptors.ts: a google.protobuf.FileDescriptorSet in base64. */',
    'export const descriptors: string = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('')",
    '',
  ].join('\n'),
)
console.log(`${file}: ${bytes.length} bytes`)
