/**
 * What a program says to one message, as reports, and how it stopped: because its output is over, because it said so, or
 * because it cannot be listened to any longer.
 */
import type { AgentLog, Json, Report } from '@parley/a2a'
import { inputRequired, status } from '@parley/a2a'
import type { Line } from '../programs/lines.ts'
import type { ArtifactLine, ReadFile } from './spoken.ts'
import { artifactOf, readLine } from './spoken.ts'

export type Heard =
  /** Its exit says what that means. `cut`: it stopped in the middle of a line. */
  | { readonly end: 'output'; readonly cut?: string }
  /** It has answered, and may be spoken to again. */
  | { readonly end: 'done' }
  | { readonly end: 'asked'; readonly question: Report; readonly state: Json | undefined }
  /** With a sentence for the caller, and what only the operator should know. */
  | { readonly end: 'trouble'; readonly shown: string; readonly logged?: string }

export type Hearing = AsyncGenerator<Report, Heard, void>

export interface HearParts {
  readonly log: AgentLog
  /** Of all that is said to one message. */
  readonly limitBytes: number
  /** JSON values in one line. */
  readonly jsonNodes?: number | undefined
}

const tooMuch = (limitBytes: number): Heard => ({
  end: 'trouble',
  shown: `The program said more than the ${limitBytes} bytes that are taken here`,
})

/** Plain text, until there is no more. */
export async function* hearText(output: AsyncIterable<Uint8Array>, { limitBytes }: HearParts): Hearing {
  // A character may be cut in two by the pipe; what is no character at all is replaced.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: false })
  let bytes = 0
  for await (const chunk of output) {
    bytes += chunk.byteLength
    if (bytes > limitBytes) return tooMuch(limitBytes)
    const text = decoder.decode(chunk, { stream: true })
    if (text !== '') yield text
  }
  const rest = decoder.decode()
  if (rest !== '') yield rest
  return { end: 'output' }
}

/** Plain text, until the line that ends an answer. */
export async function* hearAnswer(lines: AsyncIterator<Line>, end: string, { limitBytes }: HearParts): Hearing {
  let isFirst = true
  for await (const line of counted(lines, limitBytes)) {
    if (line === undefined) return tooMuch(limitBytes)
    if (line.endsAt === 'break' && line.text === end) return { end: 'done' }
    yield isFirst ? line.text : `\n${line.text}`
    isFirst = false
  }
  return { end: 'output' }
}

/** JSON lines, until one says that it was all. */
export async function* hearLines(lines: AsyncIterator<Line>, readFile: ReadFile, parts: HearParts): Hearing {
  const { log, limitBytes, jsonNodes } = parts
  for await (const line of counted(lines, limitBytes)) {
    if (line === undefined) return tooMuch(limitBytes)
    if (line.text.trim() === '') continue
    const said = readLine(line.text, jsonNodes)
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
          yield await artifactOf(said, readFile)
        } catch (cause) {
          return unreadable(said, cause)
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
        log.warn('the program said a line of a type that is not known here; it was left out', { type: said.name })
        break
      case 'invalid':
        return garbled(line, said.why)
    }
  }
  return { end: 'output' }
}

function unreadable(said: ArtifactLine, cause: unknown): Heard {
  const why = cause instanceof Error ? cause.message : String(cause)
  return { end: 'trouble', shown: 'The program named a file that could not be read', logged: `${said.path}: ${why}` }
}

function garbled({ text, endsAt }: Line, why: string): Heard {
  const logged = `${why}: ${text.slice(0, 500)}`
  // Its exit tells more than half of a line.
  if (endsAt === 'end') return { end: 'output', cut: logged }
  return { end: 'trouble', shown: 'The program said something that is no line of its protocol', logged }
}

/** Without closing what they come from: the next turn goes on there. Nothing instead of a line says that it was too much. */
async function* counted(lines: AsyncIterator<Line>, limitBytes: number): AsyncGenerator<Line | undefined, void, void> {
  let bytes = 0
  for (;;) {
    const step = await lines.next()
    if (step.done === true) return
    bytes += Buffer.byteLength(step.value.text) + 1
    if (step.value.endsAt === 'limit' || bytes > limitBytes) return yield undefined
    yield step.value
  }
}
