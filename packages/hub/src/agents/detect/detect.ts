/** What `parley agent add` asks: what is behind this address or this command, and how would the configuration say so? */

export interface DetectParts {
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
  /** Told to a person who waits: `is there an agent card?` */
  say(line: string): void
  /** Tried wherever something asks for credentials; the entry names it by `reference`, such as `${env:API_KEY}`. */
  readonly token?: { readonly value: string; readonly reference: string }
  /** Where a command is run. */
  readonly cwd: string
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
  detect(target: Target, parts: DetectParts): Promise<Detected>
}

/** The first that knows what it is decides; they are asked one after the other, the surest first. */
export function detectWith(detectors: readonly Detector[]): Detect {
  return async (target, parts) => {
    const reasons: string[] = []
    for (const { kind, detect } of detectors) {
      parts.say(`is it ${kind}?`)
      const found = await detect(target, parts).catch((reason: unknown) => ({ reasons: [messageOf(reason)] }))
      if ('kind' in found) return found
      reasons.push(...found.reasons.map((reason) => `${kind}: ${reason}`))
      parts.signal.throwIfAborted()
    }
    return { reasons }
  }
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
