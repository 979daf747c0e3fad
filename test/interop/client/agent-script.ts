/**
 * What every peer's agent does, told once: the message says what to play, and each server says it in its own words
 * through a `Stage`. So that the same suite can ask the same of every server.
 */

export type EndState = 'COMPLETED' | 'FAILED' | 'REJECTED' | 'CANCELED' | 'INPUT_REQUIRED' | 'AUTH_REQUIRED'

/** What an agent can say, whatever the server calls it. */
export interface ScriptOutput {
  /** The words of the message. */
  readonly text: string
  readonly contextId: string
  /** Whether this goes on with a task that asked something. */
  readonly isAnswer: boolean
  /** The task as it is now: where each server wants a turn to begin. */
  open(): void
  working(text: string): void
  chunk(artifactId: string, text: string, about: { readonly append: boolean; readonly last: boolean }): void
  /** One artifact that holds a data part and a file, and one that gives the message's own parts back. */
  showParts(): void
  end(state: EndState, text?: string): void
  /** A message and no task. */
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

/** Plays one message. `canceled` resolves when its task is canceled. */
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
