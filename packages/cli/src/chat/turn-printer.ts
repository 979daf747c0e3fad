/** Prints the events of one turn for a person: text as rendered Markdown, data and files as labels, progress in dim lines. */
import { credentialsExtension, isInterrupted } from '@parley/a2a'
import type { Artifact, Message, Part, StreamEvent, TaskStatus } from '@parley/a2a'
import { partsText } from '../output/parts.ts'
import { neutralize } from '../output/sanitize.ts'
import { createMarkdownRenderer, styled } from './markdown.ts'

export interface TurnPrinterOptions {
  /** Without it nothing is rendered: `NO_COLOR`, `TERM=dumb`. */
  readonly hasStyles: boolean
  readonly isVerbose: boolean
  /** The ids of the messages that the chat has shown. A stream that continues a task begins with the question of the last turn. */
  readonly printedMessages?: Set<string>
  write(text: string): Promise<void>
}

export interface TurnPrinter {
  print(event: StreamEvent): Promise<void>
  /** Ends the line and every style. */
  end(): Promise<void>
}

export function createTurnPrinter({
  hasStyles,
  isVerbose,
  printedMessages = new Set(),
  write,
}: TurnPrinterOptions): TurnPrinter {
  const markdown = createMarkdownRenderer()
  /** The text that each artifact had so far, and how many parts: agents repeat artifacts as a whole. */
  const seen = new Map<string, { text: string; parts: number }>()
  let openArtifact: string | undefined
  let isLineOpen = false

  async function writeText(text: string): Promise<void> {
    if (text === '') return
    isLineOpen = !text.endsWith('\n')
    const safe = neutralize(text.replaceAll('\r', ''))
    const rendered = hasStyles ? markdown.push(safe) : safe
    if (rendered !== '') await write(rendered)
  }

  async function endBlock(): Promise<void> {
    const rest = hasStyles ? markdown.end() : ''
    if (rest !== '' || isLineOpen) await write(`${rest}${isLineOpen ? '\n' : ''}`)
    isLineOpen = false
    openArtifact = undefined
  }

  async function note(text: string): Promise<void> {
    await endBlock()
    const safe = neutralize(text)
    await write(`${hasStyles ? styled(safe, 'dim') : safe}\n`)
  }

  async function printParts(parts: readonly Part[]): Promise<void> {
    for (const part of parts) {
      // The question itself says what the agent needs; this is its form for programs.
      if (part.metadata?.[credentialsExtension] !== undefined && !isVerbose) continue
      if ('text' in part && part.filename === undefined) await writeText(part.text)
      else {
        await endBlock()
        await write(partsText([part], { isVerbose }))
      }
    }
  }

  async function printMessage(message: Message): Promise<void> {
    if (printedMessages.has(message.messageId)) return
    printedMessages.add(message.messageId)
    await endBlock()
    await printParts(message.parts)
    await endBlock()
  }

  async function printStatus({ state, message }: TaskStatus): Promise<void> {
    const short = state.replace('TASK_STATE_', '').replaceAll('_', ' ').toLowerCase()
    const isProgress = state === 'TASK_STATE_WORKING' || state === 'TASK_STATE_SUBMITTED'
    const text = message === undefined ? '' : textOf(message.parts)
    if (isProgress) {
      if (text !== '' && message !== undefined && !printedMessages.has(message.messageId)) {
        printedMessages.add(message.messageId)
        await note(`… ${text}`)
      } else if (isVerbose) await note(`[${short}]`)
      return
    }
    if (message !== undefined) await printMessage(message)
    if (state !== 'TASK_STATE_COMPLETED' && !isInterrupted(state)) await note(`[${short}]`)
  }

  async function printArtifact(artifact: Artifact, isAppended: boolean): Promise<void> {
    const { artifactId, name, parts } = artifact
    const before = seen.get(artifactId) ?? { text: '', parts: 0 }
    const text = textOf(parts)
    if (isAppended) {
      seen.set(artifactId, { text: before.text + text, parts: before.parts + parts.length })
    } else {
      seen.set(artifactId, { text, parts: parts.length })
    }
    if (openArtifact !== artifactId) {
      await endBlock()
      if (name !== undefined && before.parts === 0 && isVerbose) await note(`Artifact: ${name}`)
      openArtifact = artifactId
    }
    if (isAppended || before.parts === 0) return printParts(parts)
    // The whole artifact again: only what is new in it.
    if (text.startsWith(before.text)) await writeText(text.slice(before.text.length))
    else await printParts(parts)
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
    end: endBlock,
  }
}

function isKnown({ artifactId, parts }: Artifact, seen: ReadonlyMap<string, { text: string; parts: number }>): boolean {
  const before = seen.get(artifactId)
  return before !== undefined && before.parts >= parts.length && before.text === textOf(parts)
}

function textOf(parts: readonly Part[]): string {
  return parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('')
}
