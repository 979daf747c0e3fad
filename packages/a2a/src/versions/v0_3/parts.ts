/** Parts of 0.x: text, file and data, told apart by `kind` (JSON-RPC) or by their member's name (proto). */
import type { Json, Part, Struct } from '../../model/task.ts'
import { bytes, complain, isBag, link, struct, text, word } from '../read.ts'
import type { Bag, Read, Reader } from '../read.ts'
import { required, shape } from '../shape.ts'
import { toolPart, unknownPart } from '../tool-part.ts'
import type { Form } from './form.ts'

/** Where a filename and a media type live that 0.x has no field for (§5.2). */
const compatKey = 'a2a.compat/part'
/** Marks data that 0.x could not hold as it is, because it holds objects only. */
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
    read: (reader, value) => (value === '' ? undefined : link(reader, value)),
    names: ['uri', 'fileWithUri', 'url'],
  },
  name: word,
  mimeType: word,
})
const textPart = shape<{ text: string; metadata?: Struct }>({ text: required(text), metadata: struct })
const filePart = shape<{ file: File; metadata?: Struct }>({ file: required(file), metadata: struct })
const dataMetadata = shape<{ metadata?: Struct }>({ metadata: struct })

export function partReader(form: Form): Read<Part> {
  return (reader, value) => {
    if (!isBag(value)) return complain(reader, 'must be an object')
    // Drafts say `type`, and the proto says nothing at all.
    const kind = value['kind'] ?? value['type'] ?? inferred(value)
    if (kind === 'text') return readText(reader, value)
    if (kind === 'file') return readFile(reader, value, form)
    if (kind === 'data') return readData(reader, value, form)
    if (kind === 'several') return complain(reader, 'must have only one of text, file and data')
    const expected = form === 'json' ? 'be of the kind text, file or data' : 'have one of text, file and data'
    return toolPart(reader, value) ?? unknownPart(reader, value, `must ${expected}`)
  }
}

function inferred(value: Bag): string | undefined {
  const found = ['text', 'file', 'data'].filter((member) => value[member] !== undefined && value[member] !== null)
  return found.length > 1 ? 'several' : found[0]
}

function readText(reader: Reader, value: Bag): Part | undefined {
  const given = textPart(reader, value)
  return given?.text === undefined ? undefined : restore({ text: given.text }, given.metadata)
}

/** What a file's two contents are called. */
const fileContents: { readonly [F in Form]: string } = {
  json: 'bytes and uri',
  proto: 'fileWithBytes and fileWithUri',
}

function readFile(reader: Reader, value: Bag, form: Form): Part | undefined {
  const given = filePart(reader, value)
  if (given?.file === undefined) return undefined
  const { bytes, uri, name, mimeType } = given.file
  // An empty string is what proto3 writes for "none".
  const both = bytes !== undefined && bytes !== '' && uri !== undefined
  const contents = fileContents[form]
  if (both) return complain(reader, `must have only one of ${contents}`, 'file')
  if (bytes === undefined && uri === undefined) return complain(reader, `must have one of ${contents}`, 'file')
  const part: Record<string, unknown> = uri === undefined ? { raw: bytes } : { url: uri }
  if (given.metadata !== undefined) part['metadata'] = given.metadata
  if (name !== undefined) part['filename'] = name
  if (mimeType !== undefined) part['mediaType'] = mimeType
  return part as unknown as Part
}

function readData(reader: Reader, value: Bag, form: Form): Part | undefined {
  const given = dataMetadata(reader, value)
  const data = value['data']
  if (data === undefined) return complain(reader, 'is required', 'data')
  // The proto has a message between the part and its data; whoever writes a `kind` writes none.
  const inner = form === 'proto' && value['kind'] === undefined && isBag(data) && isBag(data['data'])
  return restore({ data: (inner ? data['data'] : data) as Json }, given?.metadata)
}

/** Undoes what `stow` did. */
function restore(content: { text: string } | { data: Json }, metadata: Struct | undefined): Part {
  if (metadata === undefined) return content
  let rest: Struct = metadata
  let part: Record<string, unknown> = content
  if ('data' in content && metadata[wrappedKey] === true && isBag(content.data) && 'value' in content.data) {
    part = { data: content.data['value'] }
    rest = without(rest, wrappedKey)
  }
  const kept = metadata[compatKey]
  if (isBag(kept)) {
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

/** The metadata of a text or data part, with what 0.x has no field for. */
function stow(part: Part, usualType: string, wrapped: boolean): Struct | undefined {
  const kept: Record<string, Json> = {}
  if (part.filename !== undefined) kept['filename'] = part.filename
  if (part.mediaType !== undefined && part.mediaType !== usualType) kept['mediaType'] = part.mediaType
  const keeps = Object.keys(kept).length > 0
  if (!keeps && !wrapped) return part.metadata
  return { ...part.metadata, ...(wrapped && { [wrappedKey]: true }), ...(keeps && { [compatKey]: kept }) }
}

export function writePart(part: Part, form: Form): Record<string, unknown> {
  const json = form === 'json'
  let out: Record<string, unknown>
  let metadata = part.metadata
  if ('text' in part) {
    out = json ? { kind: 'text', text: part.text } : { text: part.text }
    metadata = stow(part, 'text/plain', false)
  } else if ('data' in part) {
    const wrapped = !isBag(part.data)
    const data = wrapped ? { value: part.data } : part.data
    out = json ? { kind: 'data', data } : { data: { data } }
    metadata = stow(part, 'application/json', wrapped)
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
