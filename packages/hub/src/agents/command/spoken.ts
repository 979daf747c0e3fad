/** What a program says in JSON lines, and what each line means for the task. */
import type { Artifact, Part, Report } from '@parley/a2a'
import { newId } from '@parley/a2a'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import { z } from 'zod'

const struct = z.record(z.string(), z.json())
/** One content; where it is a file, `path` is one in the folder of the turn. */
const content = {
  text: z.string().optional(),
  data: z.json().optional(),
  base64: z.base64().optional(),
  url: z.url().optional(),
  path: z.string().min(1).optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
}
const part = z.object(content)

const line = z.discriminatedUnion('type', [
  z.object({ type: z.literal('assistant'), text: z.string() }),
  z.object({
    type: z.literal('artifact'),
    ...content,
    parts: z.array(part).optional(),
    artifactId: z.string().min(1).optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    append: z.boolean().optional(),
    lastChunk: z.boolean().optional(),
    metadata: struct.optional(),
  }),
  z.object({ type: z.literal('status'), text: z.string().optional(), metadata: struct.optional() }),
  z.object({
    type: z.literal('input_required'),
    text: z.string(),
    data: z.json().optional(),
    /** Given back with the answer: a program for each turn remembers nothing else. */
    state: z.json().optional(),
  }),
  z.object({ type: z.literal('error'), text: z.string().min(1) }),
  z.object({ type: z.literal('done') }),
])

type SpokenLine = z.output<typeof line>
type Known = SpokenLine['type']
const known: ReadonlySet<string> = new Set<Known>([
  'assistant',
  'artifact',
  'status',
  'input_required',
  'error',
  'done',
])

export type Spoken =
  | SpokenLine
  /** Of a vocabulary that is not ours yet. */
  | { readonly type: 'unknown'; readonly name: string }
  | { readonly type: 'invalid'; readonly why: string }

export function readLine(text: string, jsonNodes = defaultJsonNodes): Spoken {
  if (exceedsJsonNodes(text, jsonNodes)) return { type: 'invalid', why: `it holds more than ${jsonNodes} JSON values` }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { type: 'invalid', why: 'it is not JSON' }
  }
  const name = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
  if (typeof name !== 'string') return { type: 'invalid', why: 'it is no object with a type' }
  if (!known.has(name)) return { type: 'unknown', name }
  const read = line.safeParse(value)
  return read.success ? read.data : { type: 'invalid', why: z.prettifyError(read.error) }
}

export type ArtifactLine = Extract<SpokenLine, { type: 'artifact' }>
type Content = z.output<typeof part>
/** The content of a file that the program left in the folder of the turn. */
export type ReadFile = (path: string) => Promise<{ readonly bytes: Uint8Array; readonly filename: string }>

export async function artifactOf(said: ArtifactLine, readFile: ReadFile): Promise<Exclude<Report, string>> {
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

function isEmpty({ text, data, base64, url, path }: Content): boolean {
  return [text, data, base64, url, path].every((each) => each === undefined)
}

async function partOf(given: Content, readFile: ReadFile): Promise<Part> {
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
