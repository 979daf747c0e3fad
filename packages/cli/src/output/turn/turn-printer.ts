/**
 * Prints the events of one turn for a person, in `chat` and wherever stdout is a terminal: text as rendered Markdown while it comes, data
 * as JSON, files with their link or size, questions as sentences, progress in dim lines.
 */
import { isInterrupted } from '@parley/a2a'
import type { Artifact, Message, Part, StreamEvent, TaskState, TaskStatus } from '@parley/a2a'
import { fileText, isFile, partsText } from '../parts.ts'
import { neutralize } from '@parley/a2a/command-line'
import { field } from '../text.ts'
import { createMarkdownRenderer, styled } from './markdown.ts'
import { questionLines } from './question.ts'

export interface TurnPrinterOptions {
  /** Without it nothing is rendered: `NO_COLOR`, `TERM=dumb`. */
  readonly hasStyles: boolean
  readonly isVerbose: boolean
  /** Whether a line names a final state other than completed. Default true; false if the caller prints the state itself. */
  readonly hasStateNotes?: boolean
  /** The ids of the messages that the chat has shown. A stream that continues a task begins with the question of the last turn. */
  readonly printedMessages?: Set<string>
  write(text: string): Promise<void>
}

export interface TurnPrinter {
  print(event: StreamEvent): Promise<void>
  /** What was in the task before the turn began: its content is not printed again. */
  skip(event: StreamEvent): void
  /** A dim line. */
  note(text: string): Promise<void>
  /** Ends the line and every style. */
  end(): Promise<void>
  /** Whether anything was printed. */
  readonly hasPrinted: boolean
  /** Whether an artifact has the content of a file, which `task download` saves. */
  readonly hasFiles: boolean
}

export function createTurnPrinter({
  hasStyles,
  isVerbose,
  hasStateNotes = true,
  printedMessages = new Set(),
  write,
}: TurnPrinterOptions): TurnPrinter {
  const markdown = createMarkdownRenderer()
  /** What each artifact had so far: agents repeat artifacts as a whole. */
  const seen = new Map<string, SeenArtifact>()
  let openArtifact: string | undefined
  let isLineOpen = false
  /** The beginning of a character or of a line end whose rest is in the next chunk, and empty lines, which nothing may follow. */
  let incomplete = ''
  let hasPrinted = false
  let hasFiles = false

  async function put(text: string): Promise<void> {
    hasPrinted = true
    await write(text)
  }

  async function writeText(chunk: string, isWhole = false): Promise<void> {
    const received = incomplete + chunk
    const tail = isWhole ? '' : (/[\r\n]+$|[\uD800-\uDBFF]$/.exec(received)?.[0] ?? '')
    const endsLine = isLineOpen || tail.length < received.length
    incomplete = endsLine ? tail.replace(/^\r?\n/, '') : tail
    // A carriage return alone would overwrite the line.
    const text = received.slice(0, received.length - incomplete.length).replaceAll(/\r\n?/g, '\n')
    if (text === '') return
    isLineOpen = !text.endsWith('\n')
    const safe = neutralize(text)
    const rendered = hasStyles ? markdown.push(safe) : safe
    if (rendered !== '') await put(rendered)
  }

  async function endBlock(): Promise<void> {
    incomplete = incomplete.replace(/[\r\n]+$/, '')
    if (incomplete !== '') await writeText('', true)
    const rest = hasStyles ? markdown.end() : ''
    if (rest !== '' || isLineOpen) await put(`${rest}${isLineOpen ? '\n' : ''}`)
    isLineOpen = false
    openArtifact = undefined
  }

  async function note(text: string): Promise<void> {
    await endBlock()
    const safe = neutralize(text)
    await put(`${hasStyles ? styled(safe, 'dim') : safe}\n`)
  }

  async function printParts(parts: readonly Part[], isQuestion = false): Promise<void> {
    const text = textOf(parts)
    for (const part of parts) {
      if (isText(part)) {
        await writeText(part.text)
        continue
      }
      const artifactId = openArtifact
      await endBlock()
      openArtifact = artifactId
      const question = isQuestion && !isVerbose ? questionLines(part, text) : undefined
      if (question !== undefined) await put(question.map((line) => `${neutralize(line)}\n`).join(''))
      else if (isVerbose) await put(partsText([part], { isVerbose }))
      else await printContent(part)
    }
  }

  /** Data, or a file. */
  async function printContent(part: Part): Promise<void> {
    if ('url' in part) await put(field('File', `${fileName(part)}: ${part.url}`))
    else if (isFile(part)) await put(fileText(part))
    if ('data' in part) await put(`${neutralize(JSON.stringify(part.data, null, 2))}\n`)
    if ('text' in part) {
      await writeText(part.text)
      await endBlock()
    }
  }

  async function printMessage(message: Message, isQuestion = false): Promise<void> {
    if (printedMessages.has(message.messageId)) return
    printedMessages.add(message.messageId)
    await endBlock()
    await printParts(message.parts, isQuestion)
    await endBlock()
  }

  async function printStatus({ state, message }: TaskStatus): Promise<void> {
    const isProgress = state === 'TASK_STATE_WORKING' || state === 'TASK_STATE_SUBMITTED'
    const text = message === undefined ? '' : textOf(message.parts)
    if (isProgress) {
      if (text !== '' && message !== undefined && !printedMessages.has(message.messageId)) {
        printedMessages.add(message.messageId)
        await note(`… ${text}`)
      } else if (isVerbose) await note(`[${stateInWords(state)}]`)
      return
    }
    if (message !== undefined) await printMessage(message, isInterrupted(state))
    if (hasStateNotes && state !== 'TASK_STATE_COMPLETED' && !isInterrupted(state))
      await note(`[${stateInWords(state)}]`)
  }

  async function printArtifact(artifact: Artifact, isAppended: boolean): Promise<void> {
    const { artifactId, name, parts } = artifact
    hasFiles ||= parts.some((part) => isFile(part) && !('url' in part))
    const before = seen.get(artifactId)
    remember(artifact, isAppended)
    if (openArtifact !== artifactId) {
      await endBlock()
      const isNamedFile = parts.some(({ filename }) => filename === name)
      if (name !== undefined && !isNamedFile && before === undefined && (isVerbose || seen.size > 1))
        await note(`Artifact: ${name}`)
      openArtifact = artifactId
    }
    if (isAppended || before === undefined) return printParts(parts)
    const { text, others } = contentOf(parts)
    // The whole artifact again: only what is new in it.
    if (text.startsWith(before.text) && others.length >= before.others) {
      await writeText(text.slice(before.text.length))
      return printParts(others.slice(before.others))
    }
    await note('[replaced by]')
    openArtifact = artifactId
    await printParts(parts)
  }

  function remember({ artifactId, parts }: Artifact, isAppended: boolean): void {
    const before = isAppended ? seen.get(artifactId) : undefined
    const { text, others } = contentOf(parts)
    seen.set(artifactId, { text: (before?.text ?? '') + text, others: (before?.others ?? 0) + others.length })
  }

  return {
    async print(event) {
      if ('message' in event) return printMessage(event.message)
      if ('artifactUpdate' in event)
        return printArtifact(event.artifactUpdate.artifact, event.artifactUpdate.append === true)
      if ('statusUpdate' in event) return printStatus(event.statusUpdate.status)
      for (const artifact of event.task.artifacts ?? [])
        if (!isKnown(artifact, seen)) await printArtifact(artifact, false)
      await printStatus(event.task.status)
    },
    skip(event) {
      if (!('task' in event)) return
      const { artifacts = [], status, history = [] } = event.task
      for (const artifact of artifacts) remember(artifact, false)
      for (const message of [...history, status.message])
        if (message !== undefined) printedMessages.add(message.messageId)
    },
    note,
    end: endBlock,
    get hasPrinted() {
      return hasPrinted
    },
    get hasFiles() {
      return hasFiles
    },
  }
}

interface SeenArtifact {
  readonly text: string
  /** How many parts were no text. */
  readonly others: number
}

function isKnown({ artifactId, parts }: Artifact, seen: ReadonlyMap<string, SeenArtifact>): boolean {
  const before = seen.get(artifactId)
  const { text, others } = contentOf(parts)
  return before !== undefined && before.text === text && before.others === others.length
}

/** The text counts as a whole: servers join its chunks. */
function contentOf(parts: readonly Part[]): { readonly text: string; readonly others: readonly Part[] } {
  return { text: textOf(parts), others: parts.filter((part) => !isText(part)) }
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => (isText(part) ? [part.text] : [])).join('')
}

function isText(part: Part): part is Extract<Part, { readonly text: string }> {
  return 'text' in part && part.filename === undefined
}

/** A link follows it. */
function fileName({ filename, mediaType }: Part): string {
  return [filename ?? 'unnamed', ...(mediaType === undefined ? [] : [`(${mediaType})`])].join(' ')
}

/** `input required` */
export function stateInWords(state: TaskState): string {
  return state.replace('TASK_STATE_', '').replaceAll('_', ' ').toLowerCase()
}
