/**
 * What the remote agents of these tests do, on any SDK: the message names the action. A script belongs to
 * one test, which can observe its progress.
 */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { NamedGates, AgentScript, ScriptOutput } from '../interop/client/agent-script.ts'

export interface RemoteScript {
  readonly play: AgentScript
  /** Resolves when the agent has reached `what`, such as `hold a`. */
  begun(what: string): Promise<void>
  /** Resolves when the action `what` has been canceled. */
  canceled(what: string): Promise<void>
  /** How often each message was run: a message that is sent twice runs twice. */
  readonly played: readonly string[]
  /** The contexts of messages, by their text. */
  readonly contexts: ReadonlyMap<string, string>
}

export const numberedWords = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `w${index} `)

export function createRemoteScript(): RemoteScript {
  const marks = new Map<string, PromiseWithResolvers<void>>()
  const mark = (name: string): PromiseWithResolvers<void> => {
    const known = marks.get(name) ?? Promise.withResolvers<void>()
    marks.set(name, known)
    return known
  }
  const played: string[] = []
  const contexts = new Map<string, string>()
  /** The texts of a context. */
  const memory = new Map<string, string>()

  async function play(stage: ScriptOutput, holds: NamedGates, canceled: Promise<void>): Promise<void> {
    const { text, contextId } = stage
    const [verb = '', ...rest] = text.split(' ')
    const said = rest.join(' ')
    played.push(text)
    contexts.set(text, contextId)
    if (verb === 'reply') return stage.reply(said)
    stage.open()
    if (stage.isAnswer && verb !== 'again') return answer(stage)
    switch (verb) {
      case 'say':
        stage.working('Thinking')
        rest.forEach((word, index) => say(stage, index, rest.length, `${word} `))
        return stage.end('COMPLETED')
      case 'count': {
        const all = numberedWords(Number(said))
        for (const [index, word] of all.entries()) {
          say(stage, index, all.length, word)
          if (index % 8 === 7) stage.working(`at ${index}`)
          await nextTurn()
        }
        return stage.end('COMPLETED')
      }
      case 'drip': {
        const all = numberedWords(Number(said))
        for (const [index, word] of all.entries()) {
          // In three pieces, so that a test keeps up on a slow machine.
          if (index === dripPiece(all.length)) await holds.until('drip 1')
          if (index === 2 * dripPiece(all.length)) await holds.until('drip 2')
          say(stage, index, all.length, word)
          if (index % 16 === 15) stage.working(`at ${index}`)
          await sleep(4)
        }
        return stage.end('COMPLETED')
      }
      case 'hold':
      case 'slow':
        return hold(stage, holds, canceled)
      case 'again':
      case 'ask':
        return stage.end('INPUT_REQUIRED', verb === 'again' ? 'Which street?' : 'Which city?')
      case 'sign':
        return stage.end('AUTH_REQUIRED', 'Sign in at https://id.example.com')
      case 'parts':
        stage.showParts()
        return stage.end('COMPLETED')
      case 'tell':
        memory.set(contextId, said)
        return finish(stage, 'noted')
      case 'recall':
        return finish(stage, memory.get(contextId) ?? 'nothing')
      case 'context':
        return finish(stage, contextId)
      case 'fail':
        return stage.end('FAILED', 'Out of paper')
      case 'reject':
        return stage.end('REJECTED', 'Not my job')
      case 'throw':
        throw new Error('cannot reach host-17.internal')
      default:
        return finish(stage, `What is ${verb}?`)
    }
  }

  function answer(stage: ScriptOutput): void {
    finish(stage, `Weather in ${stage.text}`)
  }

  async function hold(stage: ScriptOutput, holds: NamedGates, canceled: Promise<void>): Promise<void> {
    stage.working('Holding')
    say(stage, 0, 4, 'one ')
    say(stage, 1, 4, 'two ')
    mark(`begun ${stage.text}`).resolve()
    const end = await Promise.race([holds.until(stage.text), canceled.then(() => 'canceled' as const)])
    if (end === 'canceled') {
      mark(`canceled ${stage.text}`).resolve()
      return stage.end('CANCELED')
    }
    stage.working('Going on')
    say(stage, 2, 4, 'three ')
    say(stage, 3, 4, 'four')
    stage.end('COMPLETED')
  }

  return {
    play,
    begun: (what) => mark(`begun ${what}`).promise,
    canceled: (what) => mark(`canceled ${what}`).promise,
    played,
    contexts,
  }
}

export const dripPiece = (count: number): number => Math.floor(count / 3)

export const heldText = 'one two three four'

function say(stage: ScriptOutput, index: number, count: number, text: string): void {
  stage.chunk('answer', text, { append: index > 0, last: index === count - 1 })
}

function finish(stage: ScriptOutput, text: string): void {
  stage.chunk('answer', text, { append: false, last: true })
  stage.end('COMPLETED')
}
