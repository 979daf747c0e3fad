/** What `parley agent add` asks: what is behind this address or this command, and how would the configuration say so? */
import { linkSignals } from '@parley/a2a'

export interface DetectParts {
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
  /** Told to a person who waits: `it is not a2a: it has no agent card` */
  say(line: string): void
  /** Tried wherever something asks for credentials; the entry names it by `reference`, such as `${env:API_KEY}`. */
  readonly token?: { readonly value: string; readonly reference: string }
  /** Where a command is run. */
  readonly cwd: string
  /** What a command that is run sees. */
  readonly env: Readonly<Record<string, string>>
}

/** One word that is a url, or the words of a command. */
export type Target = readonly [string, ...(readonly string[])]

export type Detected =
  | {
      readonly kind: string
      /** What the agent calls itself, as an agent's name may be written: lower case, no spaces. */
      readonly name: string
      /** The entry without its `kind`, as the configuration file writes it. No secret is in it. */
      readonly entry: Readonly<Record<string, unknown>>
      /** What a person should know, such as a variable of the environment that has to be set. */
      readonly notes?: readonly string[]
    }
  /** What was tried, and why it was not that. */
  | { readonly reasons: readonly string[] }

export type Detect = (target: Target, parts: DetectParts) => Promise<Detected>

/** One way to find out. Its reason, where it is not that, is a sentence such as `it has no agent card (404)`. */
export interface Detector {
  readonly kind: string
  /** Whether there is any sense in asking. */
  applies(target: Target): boolean
  /** Lets go of all that it has opened, and ends when `parts.signal` says so. */
  detect(target: Target, parts: DetectParts): Promise<Detected>
}

/**
 * All that apply are asked at the same time. What they say counts in their order, the surest first, so that the answer is
 * always the same; once it is known, the others are stopped, and nothing is left of them.
 */
export function detectWith(detectors: readonly Detector[]): Detect {
  return async (target, parts) => {
    const { signal, abort } = linkSignals([parts.signal])
    const attempts = detectors
      .filter((detector) => detector.applies(target))
      .map(({ kind, detect }) => ({ kind, found: detect(target, { ...parts, signal }).catch(notThat) }))
    const reasons: string[] = []
    try {
      for (const { kind, found } of attempts) {
        const answer = await found
        parts.signal.throwIfAborted()
        if ('kind' in answer) return answer
        for (const reason of answer.reasons) {
          reasons.push(`${kind}: ${reason}`)
          parts.say(`it is not ${kind}: ${reason}`)
        }
      }
      return { reasons }
    } finally {
      // Ends what is under way, and the time limits of what is not.
      abort(new Error('it is known what it is'))
      await Promise.all(attempts.map(({ found }) => found))
    }
  }
}

function notThat(reason: unknown): Detected {
  return { reasons: [reason instanceof Error ? reason.message : String(reason)] }
}
