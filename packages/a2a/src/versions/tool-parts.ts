/**
 * Some peers write tool calls and their results as part kinds of their own. They are read as data parts under our extension for
 * client tools, where the engine finds them; such kinds are never written.
 */
import { isStruct } from '../model/struct.ts'
import { clientToolsExtension } from '../model/extension.ts'
import type { DataPart, Json, Struct } from '../model/task.ts'
import { addViolation, type JsonRecord, type ReadContext } from './read.ts'

/** `undefined` without a violation if the part is of another kind. */
export function toolPart(reader: ReadContext, value: JsonRecord): DataPart | undefined {
  const kind = value['kind'] ?? value['type']
  if (kind !== 'tool-use' && kind !== 'tool-result') return undefined
  const { kind: _kind, type: _type, metadata, tool_use_id: snake, toolUseId = snake, ...rest } = value
  if (metadata !== undefined && metadata !== null && !isStruct(metadata)) {
    return addViolation(reader, 'must be an object', 'metadata')
  }
  const data = (toolUseId === undefined ? rest : { toolUseId, ...rest }) as { readonly [key: string]: Json }
  return { data, metadata: { ...(metadata as Struct | null), [clientToolsExtension]: { type: kind } } }
}

/** An unknown kind of part: refused in a request, kept whole as data in a response. */
export function unknownPart(reader: ReadContext, value: JsonRecord, description: string): DataPart | undefined {
  return reader.forgiving ? { data: value as Struct } : addViolation(reader, description)
}
