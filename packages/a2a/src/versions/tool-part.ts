/**
 * Some peers write tool calls and their results as part kinds of their own. They are read as data parts under our
 * extension for client tools, where the engine finds them; nobody is ever sent such a kind.
 */
import { clientToolsExtension } from '../model/extension.ts'
import type { DataPart, Json, Struct } from '../model/task.ts'
import { complain, isBag } from './read.ts'
import type { Bag, Reader } from './read.ts'

/** `undefined` without a violation if the part is of another kind. */
export function toolPart(reader: Reader, value: Bag): DataPart | undefined {
  const kind = value['kind'] ?? value['type']
  if (kind !== 'tool-use' && kind !== 'tool-result') return undefined
  const { kind: _kind, type: _type, metadata, tool_use_id: snake, toolUseId = snake, ...rest } = value
  if (metadata !== undefined && metadata !== null && !isBag(metadata)) {
    return complain(reader, 'must be an object', 'metadata')
  }
  const data = (toolUseId === undefined ? rest : { toolUseId, ...rest }) as { readonly [key: string]: Json }
  return { data, metadata: { ...(metadata as Struct | null), [clientToolsExtension]: { type: kind } } }
}

/** A kind of part that is not known yet: refused in a request, kept whole as data in an answer. */
export function unknownPart(reader: Reader, value: Bag, description: string): DataPart | undefined {
  return reader.forgiving ? { data: value as Struct } : complain(reader, description)
}
