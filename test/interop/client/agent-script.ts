/**
 * What every peer's agent does, defined once: the message names the action, and each server performs it
 * through a `Stage`, so that one suite covers every server.
 */

export type EndState = 'COMPLETED' | 'FAILED' | 'REJECTED' | 'CANCELED' | 'INPUT_REQUIRED' | 'AUTH_REQUIRED'

/** What an agent can report, on any server. */
export interface ScriptOutput {
  /** The text of the message. */
  readonly text: string
  readonly contextId: string
  /** Whether this continues a task that asked for input. */
  readonly isAnswer: boolean
  /** The current task, with which each server begins a turn. */
  open(): void
  working(text: string): void
  chunk(artifactId: string, text: string, about: { readonly append: boolean; readonly last: boolean }): void
  /** One artifact that holds a data part and a file, and one with the parts of the message. */
  showParts(): void
  end(state: EndState, text?: string): void
  /** A message without a task. */
  reply(text: string): void
}

export interface NamedGates {
  /** Resolves when the test releases that name. */
  until(name: string): Promise<void>
  release(name: string): void
}

export function createNamedGates(): NamedGates {
  const gates = new Map<string, PromiseWithResolvers<void>>()
  const gate = (name: string): PromiseWithResolvers<void> => {
    const known = gates.get(name) ?? Promise.withResolvers<void>()
    gates.set(name, known)
    return known
  }
  return { until: (name) => gate(name).promise, release: (name) => gate(name).resolve() }
}

/** Runs one message. `canceled` resolves when its task is canceled. */
export type AgentScript = (stage: ScriptOutput, holds: NamedGates, canceled: Promise<void>) => Promise<void>

export const defaultScript: AgentScript = async (stage, holds, canceled) => {
  const [verb = '', ...words] = stage.text.split(' ')
  if (verb === 'reply') return stage.reply(words.join(' '))
  stage.open()
  if (stage.isAnswer) {
    stage.chunk('answer', `Weather in ${stage.text}`, { append: false, last: true })
    return stage.end('COMPLETED')
  }
  switch (verb) {
    case 'say':
      stage.working('Thinking')
      words.forEach((word, index) =>
        stage.chunk('answer', `${word} `, { append: index > 0, last: index === words.length - 1 }),
      )
      return stage.end('COMPLETED')
    case 'hold': {
      stage.working('Holding')
      stage.chunk('answer', 'held ', { append: false, last: false })
      const end = await Promise.race([holds.until(words.join(' ')), canceled.then(() => 'canceled' as const)])
      if (end === 'canceled') return stage.end('CANCELED')
      stage.chunk('answer', 'released', { append: true, last: true })
      return stage.end('COMPLETED')
    }
    case 'ask':
      return stage.end('INPUT_REQUIRED', 'Which city?')
    case 'parts':
      stage.showParts()
      return stage.end('COMPLETED')
    case 'fail':
      return stage.end('FAILED', 'Upstream is down')
    case 'reject':
      return stage.end('REJECTED', 'Not my job')
    default:
      return stage.end('COMPLETED', `What is ${verb}?`)
  }
}
