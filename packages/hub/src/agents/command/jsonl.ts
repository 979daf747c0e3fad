/** The JSON lines that a program writes, and what each line means for the task. */
import { newId, type Report, type Artifact, type Part } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/internal'
import { z } from 'zod'

const structSchema = z.record(z.string(), z.json())
/** One content item; for a file, `path` is relative to the turn folder. */
const contentFields = {
  text: z.string().optional(),
  data: z.json().optional(),
  base64: z.base64().optional(),
  url: z.url().optional(),
  path: z.string().min(1).optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
}
const partSchema = z.object(contentFields)

const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant'), text: z.string() }),
  z.object({
    type: z.literal('artifact'),
    ...contentFields,
    parts: z.array(partSchema).optional(),
    artifactId: z.string().min(1).optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    append: z.boolean().optional(),
    lastChunk: z.boolean().optional(),
    metadata: structSchema.optional(),
  }),
  z.object({ type: z.literal('status'), text: z.string().optional(), metadata: structSchema.optional() }),
  z.object({
    type: z.literal('input_required'),
    text: z.string(),
    data: z.json().optional(),
    /** Returned with the answer: a program that is started per turn has no other memory. */
    state: z.json().optional(),
  }),
  z.object({ type: z.literal('error'), text: z.string().min(1) }),
  z.object({ type: z.literal('done') }),
])

type JsonlLine = z.output<typeof lineSchema>
type JsonlLineType = JsonlLine['type']
const knownLineTypes: ReadonlySet<string> = new Set<JsonlLineType>([
  'assistant',
  'artifact',
  'status',
  'input_required',
  'error',
  'done',
])

type ParsedJsonlLine =
  | JsonlLine
  /** A line type that is not supported yet. */
  | { readonly type: 'unknown'; readonly name: string }
  | { readonly type: 'invalid'; readonly why: string }

export function parseJsonlLine(text: string, jsonNodes = defaultJsonNodes): ParsedJsonlLine {
  if (exceedsJsonNodes(text, jsonNodes)) return { type: 'invalid', why: `it holds more than ${jsonNodes} JSON values` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { type: 'invalid', why: 'it is not JSON' }
  }
  const name = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
  if (typeof name !== 'string') return { type: 'invalid', why: 'it is not an object with a type' }
  if (!knownLineTypes.has(name)) return { type: 'unknown', name }
  const read = lineSchema.safeParse(value)
  return read.success ? read.data : { type: 'invalid', why: z.prettifyError(read.error) }
}

export type ArtifactLine = Extract<JsonlLine, { type: 'artifact' }>
type LineContent = z.output<typeof partSchema>
/** Reads a file that the program left in the turn folder. */
export type ReadTurnFile = (path: string) => Promise<{ readonly bytes: Uint8Array; readonly filename: string }>

export async function artifactReport(said: ArtifactLine, readFile: ReadTurnFile): Promise<Exclude<Report, string>> {
  const { type: _, parts = [], artifactId = newId(), name, description, append, lastChunk, metadata, ...own } = said
  const all = await Promise.all([...parts, ...(isEmpty(own) ? [] : [own])].map((each) => partOf(each, readFile)))
  const artifact: Artifact = {
    artifactId,
    ...(name !== undefined ? { name } : {}),
    ...(description !== undefined ? { description } : {}),
    parts: all.length > 0 ? all : [{ text: '' }],
    ...(metadata !== undefined ? { metadata } : {}),
  }
  return {
    artifact,
    ...(append !== undefined ? { append } : {}),
    ...(lastChunk !== undefined ? { lastChunk } : {}),
  }
}

function isEmpty({ text, data, base64, url, path }: LineContent): boolean {
  return [text, data, base64, url, path].every((each) => each === undefined)
}

async function partOf(given: LineContent, readFile: ReadTurnFile): Promise<Part> {
  const about = {
    ...(given.mediaType !== undefined ? { mediaType: given.mediaType } : {}),
    ...(given.filename !== undefined ? { filename: given.filename } : {}),
  }
  if (given.text !== undefined) return { text: given.text, ...about }
  if (given.data !== undefined) return { data: given.data, ...about }
  if (given.base64 !== undefined) return { raw: given.base64, ...about }
  if (given.url !== undefined) return { url: given.url, ...about }
  if (given.path === undefined) return { text: '', ...about }
  const { bytes, filename } = await readFile(given.path)
  return { raw: Buffer.from(bytes).toString('base64'), filename, ...about }
}
