/** Reads the output of a program for one message as reports, and how it ended: end of output, an explicit end, or an error. */
import { inputRequired, status } from '@parley/a2a'
import type { AgentLog, Json, Report } from '@parley/a2a'
import type { OutputLine } from '../programs/lines.ts'
import { parseJsonlLine, type ArtifactLine, type ReadTurnFile, artifactReport } from './jsonl.ts'

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
