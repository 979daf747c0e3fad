/** Reads the output of a program for one message as reports, and how it ended: end of output, an explicit end, or an error. */
import { inputRequired, status, newId } from '@parley/a2a'
import type { AgentLog, Json, Report, Artifact, Part } from '@parley/a2a'
import type { OutputLine } from '../programs/lines.ts'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import { z } from 'zod'

export type OutputEnd =
  /** The exit code decides the outcome. `cut`: the output stopped in the middle of a line. */
  | { readonly end: 'output'; readonly cut?: string }
  /** The program has answered and accepts another message. */
  | { readonly end: 'done' }
  | { readonly end: 'asked'; readonly question: Report; readonly state: Json | undefined }
  /** With a sentence for the caller, and details for the operator only. */
  | { readonly end: 'trouble'; readonly shown: string; readonly logged?: string }

export type OutputReports = AsyncGenerator<Report, OutputEnd, void>

export interface ReadOutputOptions {
  readonly log: AgentLog
  /** Limit of the whole output for one message. */
  readonly limitBytes: number
  /** Limit of JSON values in one line. */
  readonly jsonNodes?: number | undefined
}

const outputTooLarge = (limitBytes: number): OutputEnd => ({
  end: 'trouble',
  shown: `The output of the program exceeds ${limitBytes} bytes (outputLimit)`,
})

/** Reads plain text until the output ends. */
export async function* readText(output: AsyncIterable<Uint8Array>, { limitBytes }: ReadOutputOptions): OutputReports {
  // A pipe may split a character; invalid bytes are replaced.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: false })
  let bytes = 0
  for await (const chunk of output) {
    bytes += chunk.byteLength
    if (bytes > limitBytes) return outputTooLarge(limitBytes)
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
  return { end: 'output' }
}

/** Reads plain text until the line that ends an answer. */
export async function* readTextAnswer(
  lines: AsyncIterator<OutputLine>,
  end: string,
  { limitBytes }: ReadOutputOptions,
): OutputReports {
  let isFirst = true
  for await (const line of limitLines(lines, limitBytes)) {
    if (line === undefined) return outputTooLarge(limitBytes)
    if (line.endsAt === 'break' && line.text === end) return { end: 'done' }
    yield isFirst ? line.text : `\n${line.text}`
    isFirst = false
  }
  return { end: 'output' }
}

/** Reads JSON lines until one ends the answer. */
export async function* readJsonl(
  lines: AsyncIterator<OutputLine>,
  readFile: ReadTurnFile,
  options: ReadOutputOptions,
): OutputReports {
  const { log, limitBytes, jsonNodes } = options
  for await (const line of limitLines(lines, limitBytes)) {
    if (line === undefined) return outputTooLarge(limitBytes)
    if (line.text.trim() === '') continue
    const said = parseJsonlLine(line.text, jsonNodes)
    switch (said.type) {
      case 'assistant':
        if (said.text !== '') yield said.text
        break
      case 'status':
        yield said.text === undefined
          ? { state: 'TASK_STATE_WORKING', ...(said.metadata !== undefined ? { metadata: said.metadata } : {}) }
          : status(said.text, said.metadata)
        break
      case 'artifact':
        try {
          yield await artifactReport(said, readFile)
        } catch (cause) {
          return unreadableFile(said, cause)
        }
        break
      case 'input_required': {
        const { text, data, state } = said
        const question = inputRequired({ parts: [{ text }, ...(data !== undefined ? [{ data }] : [])] })
        return { end: 'asked', question, state }
      }
      case 'error':
        return { end: 'trouble', shown: said.text }
      case 'done':
        return { end: 'done' }
      case 'unknown':
        log.warn('the program wrote a line of an unknown type; it was ignored', { type: said.name })
        break
      case 'invalid':
        return invalidLine(line, said.why)
    }
  }
  return { end: 'output' }
}

function unreadableFile(said: ArtifactLine, cause: unknown): OutputEnd {
  const why = cause instanceof Error ? cause.message : String(cause)
  return { end: 'trouble', shown: 'The program named a file that could not be read', logged: `${said.path}: ${why}` }
}

function invalidLine({ text, endsAt }: OutputLine, why: string): OutputEnd {
  const logged = `${why}: ${text.slice(0, 500)}`
  // The exit code tells more than half a line.
  if (endsAt === 'end') return { end: 'output', cut: logged }
  return { end: 'trouble', shown: 'The program wrote a line that is not valid in its protocol', logged }
}

/** Does not close the source: the next turn continues there. Yields undefined instead of a line when the limit is exceeded. */
async function* limitLines(
  lines: AsyncIterator<OutputLine>,
  limitBytes: number,
): AsyncGenerator<OutputLine | undefined, void, void> {
  let bytes = 0
  for (;;) {
    const step = await lines.next()
    if (step.done === true) return
    bytes += Buffer.byteLength(step.value.text) + 1
    if (step.value.endsAt === 'limit' || bytes > limitBytes) return yield undefined
    yield step.value
  }
}

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

/** The JSON lines that a program writes, and what each line means for the task. */
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
type ReadTurnFile = (path: string) => Promise<{ readonly bytes: Uint8Array; readonly filename: string }>

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
