/**
 * The model behind an agent of a gateway, fake or real: it follows the text of the message, so that a
 * test decides what happens. It reports when it holds and when it is stopped.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export interface ResponderRequest {
  /** The texts of callers in this conversation, oldest first. */
  readonly messages: readonly string[]
  /** The result of the command that it requested, if any. */
  readonly result?: string
  say(piece: string): void
  readonly signal: AbortSignal
}

export type ResponderResult =
  | { readonly kind: 'done' }
  | { readonly kind: 'exec'; readonly command: string }
  | { readonly kind: 'failed'; readonly message: string }

export interface ScriptedResponder {
  respond(thought: ResponderRequest): Promise<ResponderResult>
  /** Resolves when it holds and waits for its release. */
  begun(): Promise<void>
  /** Resolves when it was stopped during an answer. */
  stopped(): Promise<void>
  release(): void
  /** How often it started an answer to this text. */
  times(words: string): number
  reset(): void
}

const doneResult: ResponderResult = { kind: 'done' }

export function createScriptedResponder(): ScriptedResponder {
  let begun = Promise.withResolvers<void>()
  let stopped = Promise.withResolvers<void>()
  let released = Promise.withResolvers<void>()
  let received: string[] = []

  return {
    begun: () => begun.promise,
    stopped: () => stopped.promise,
    release: () => released.resolve(),
    times: (words) => received.filter((text) => text.includes(words)).length,
    reset() {
      begun = Promise.withResolvers()
      stopped = Promise.withResolvers()
      released = Promise.withResolvers()
      received = []
    },
    async respond({ messages, result, say, signal }) {
      const task = lastCommand(messages)
      if (result !== undefined) {
        say(`It said: ${result.trim()}`)
        return doneResult
      }
      received.push(task)
      const [, count] = /\bcount to (\d+)/.exec(task) ?? []
      if (count !== undefined) return say3(numbers(Number(count)), say)
      const [, word] = /\bsay (\w+)$/m.exec(task) ?? []
      if (word !== undefined) return say3([`You`, ` said`, ` ${word}`], say)
      const [, command] = /\brun the command (.+)/.exec(task) ?? []
      if (command !== undefined) {
        say('Let me see.')
        return { kind: 'exec', command: command.replace(/[`.]+$/, '') }
      }
      if (/\bfail now/.test(task)) return { kind: 'failed', message: 'secret-host.internal refused key sk-123' }
      if (/\bremember (\w+)/.test(task)) return say3(['Noted'], say)
      if (/\bwhat was it/.test(task)) return say3([lastWord(messages)], say)
      if (/\btake your time/.test(task)) return waits(say, signal)
      if (/\bwork for ever/.test(task)) return holds(say, signal)
      return say3(['I', ' read', ' you'], say)
    },
  }

  async function waits(say: ResponderRequest['say'], signal: AbortSignal): Promise<ResponderResult> {
    say('one')
    await shortPause(signal)
    begun.resolve()
    const left = aborted(signal)
    await Promise.race([released.promise, left])
    if (signal.aborted) {
      stopped.resolve()
      return doneResult
    }
    return say3([' two', ' three'], say)
  }

  async function holds(say: ResponderRequest['say'], signal: AbortSignal): Promise<ResponderResult> {
    say('working')
    begun.resolve()
    await aborted(signal)
    stopped.resolve()
    return doneResult
  }

  async function say3(pieces: readonly string[], say: ResponderRequest['say']): Promise<ResponderResult> {
    for (const piece of pieces) {
      say(piece)
      await sleep(pauseMs)
    }
    return doneResult
  }
}

/** Long enough for a gateway not to join the pieces. */
const pauseMs = 20

const commands = [
  /\bcount to \d+/,
  // At the end of a line: texts of the gateway itself have it in the middle.
  /\bsay \w+$/m,
  /\brun the command/,
  /\bfail now/,
  /\bremember \w+/,
  /\bwhat was it/,
  /\btake your time/,
  /\bwork for ever/,
]

/** A gateway may join the message of a canceled turn with the next one. */
function lastCommand(texts: readonly string[]): string {
  const text = texts.findLast((one) => commands.some((command) => command.test(one))) ?? ''
  const places = commands.map((command) => [...text.matchAll(new RegExp(command, 'gm'))].at(-1)?.index ?? 0)
  return text.slice(Math.max(...places))
}

function numbers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index === 0 ? '' : ' '}${index + 1}`)
}

function lastWord(texts: readonly string[]): string {
  const [, word] = /\bremember (\w+)/.exec(texts.findLast((text) => /\bremember \w+/.test(text)) ?? '') ?? []
  return word === undefined ? 'Nothing to remember' : `It was ${word}`
}

function shortPause(signal: AbortSignal): Promise<unknown> {
  return sleep(pauseMs, undefined, { signal }).catch(() => {})
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
