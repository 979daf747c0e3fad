/** Parts of 0.x: text, file and data, distinguished by `kind` (JSON-RPC) or by their member's name (proto). */
import { isStruct } from '../../model/struct.ts'
import type { Json, Part, Struct } from '../../model/task.ts'
import type { JsonRecord, FieldReader, ReadContext } from '../read.ts'
import { bytes, addViolation, httpUrl, struct, text, optionalText } from '../read.ts'
import { required, shape } from '../shape.ts'
import { toolPart, unknownPart } from '../tool-parts.ts'
import type { LegacyForm } from './form.ts'

/** The metadata key for a filename and a media type, for which 0.x has no field (§5.2). */
const compatKey = 'a2a.compat/part'
/** Marks data that 0.x cannot hold directly, because it holds objects only. */
const wrappedKey = 'data_part_compat'

interface File {
  bytes?: string
  uri?: string
  name?: string
  mimeType?: string
}
const file = shape<File>({
  bytes: { read: bytes, names: ['bytes', 'fileWithBytes', 'data'] },
  uri: {
    read: (reader, value) => (value === '' ? undefined : httpUrl(reader, value)),
    names: ['uri', 'fileWithUri', 'url'],
  },
  name: optionalText,
  mimeType: optionalText,
})
const textPart = shape<{ text: string; metadata?: Struct }>({ text: required(text), metadata: struct })
const filePart = shape<{ file: File; metadata?: Struct }>({ file: required(file), metadata: struct })
const dataMetadata = shape<{ metadata?: Struct }>({ metadata: struct })

export function partReader(form: LegacyForm): FieldReader<Part> {
  return (reader, value) => {
    if (!isStruct(value)) return addViolation(reader, 'must be an object')
    // Drafts use `type`, and the proto has neither.
    const kind = value['kind'] ?? value['type'] ?? inferKind(value)
    if (kind === 'text') return readText(reader, value)
    if (kind === 'file') return readFile(reader, value, form)
    if (kind === 'data') return readData(reader, value, form)
    if (kind === 'several') return addViolation(reader, 'must have only one of text, file and data')
    const expected = form === 'json' ? 'be of the kind text, file or data' : 'have one of text, file and data'
    return toolPart(reader, value) ?? unknownPart(reader, value, `must ${expected}`)
  }
}

function inferKind(value: JsonRecord): string | undefined {
  const found = ['text', 'file', 'data'].filter((member) => value[member] !== undefined && value[member] !== null)
  return found.length > 1 ? 'several' : found[0]
}

function readText(reader: ReadContext, value: JsonRecord): Part | undefined {
  const given = textPart(reader, value)
  return given?.text === undefined ? undefined : restore({ text: given.text }, given.metadata)
}

/** The names of a file's two kinds of content. */
const fileContents: { readonly [F in LegacyForm]: string } = {
  json: 'bytes and uri',
  proto: 'fileWithBytes and fileWithUri',
}

function readFile(reader: ReadContext, value: JsonRecord, form: LegacyForm): Part | undefined {
  const given = filePart(reader, value)
  if (given?.file === undefined) return undefined
  const { bytes, uri, name, mimeType } = given.file
  // proto3 writes an empty string for an absent value.
  const both = bytes !== undefined && bytes !== '' && uri !== undefined
  const contents = fileContents[form]
  if (both) return addViolation(reader, `must have only one of ${contents}`, 'file')
  if (bytes === undefined && uri === undefined) return addViolation(reader, `must have one of ${contents}`, 'file')
  const part: Record<string, unknown> = uri === undefined ? { raw: bytes } : { url: uri }
  if (given.metadata !== undefined) part['metadata'] = given.metadata
  if (name !== undefined) part['filename'] = name
  if (mimeType !== undefined) part['mediaType'] = mimeType
  return part as unknown as Part
}

function readData(reader: ReadContext, value: JsonRecord, form: LegacyForm): Part | undefined {
  const given = dataMetadata(reader, value)
  const data = value['data']
  if (data === undefined) return addViolation(reader, 'is required', 'data')
  // The proto has a message between the part and its data; peers that write a `kind` omit it.
  const inner = form === 'proto' && value['kind'] === undefined && isStruct(data) && isStruct(data['data'])
  return restore({ data: (inner ? data['data'] : data) as Json }, given?.metadata)
}

/** Reverses `compatMetadata`. */
function restore(content: { text: string } | { data: Json }, metadata: Struct | undefined): Part {
  if (metadata === undefined) return content
  let rest: Struct = metadata
  let part: Record<string, unknown> = content
  if ('data' in content && metadata[wrappedKey] === true && isStruct(content.data) && 'value' in content.data) {
    part = { data: content.data['value'] }
    rest = without(rest, wrappedKey)
  }
  const kept = metadata[compatKey]
  if (isStruct(kept)) {
    if (typeof kept['filename'] === 'string') part = { ...part, filename: kept['filename'] }
    if (typeof kept['mediaType'] === 'string') part = { ...part, mediaType: kept['mediaType'] }
    rest = without(rest, compatKey)
  }
  if (rest === metadata || Object.keys(rest).length > 0) part = { ...part, metadata: rest }
  return part as unknown as Part
}

function without(metadata: Struct, key: string): Struct {
  const { [key]: _gone, ...rest } = metadata
  return rest
}

/** The metadata of a text or data part, with the values for which 0.x has no field. */
function compatMetadata(part: Part, usualType: string, wrapped: boolean): Struct | undefined {
  const kept: Record<string, Json> = {}
  if (part.filename !== undefined) kept['filename'] = part.filename
  if (part.mediaType !== undefined && part.mediaType !== usualType) kept['mediaType'] = part.mediaType
  const keeps = Object.keys(kept).length > 0
  if (!keeps && !wrapped) return part.metadata
  return { ...part.metadata, ...(wrapped && { [wrappedKey]: true }), ...(keeps && { [compatKey]: kept }) }
}

export function writePart(part: Part, form: LegacyForm): Record<string, unknown> {
  const json = form === 'json'
  let out: Record<string, unknown>
  let metadata = part.metadata
  if ('text' in part) {
    out = json ? { kind: 'text', text: part.text } : { text: part.text }
    metadata = compatMetadata(part, 'text/plain', false)
  } else if ('data' in part) {
    const wrapped = !isStruct(part.data)
    const data = wrapped ? { value: part.data } : part.data
    out = json ? { kind: 'data', data } : { data: { data } }
    metadata = compatMetadata(part, 'application/json', wrapped)
  } else {
    const file: Record<string, unknown> = {}
    if (part.filename !== undefined) file['name'] = part.filename
    if (part.mediaType !== undefined) file['mimeType'] = part.mediaType
    if ('raw' in part) file[json ? 'bytes' : 'fileWithBytes'] = part.raw
    else file[json ? 'uri' : 'fileWithUri'] = part.url
    out = json ? { kind: 'file', file } : { file }
  }
  if (metadata !== undefined) out['metadata'] = metadata
  return out
}
