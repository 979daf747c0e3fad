/** What a fuzz target is: seeds, a format for the mutators, and a subject that takes one input at a time. */

/** Chooses the structured mutators. All formats also get mutations of their bytes. */
export type InputFormat = 'json' | 'http' | 'protobuf' | 'text'

export interface FuzzTarget {
  readonly name: string
  readonly format: InputFormat
  /** Sound inputs to start from. */
  seeds(): readonly Uint8Array[]
  /** Words that mutations insert. */
  readonly dictionary: readonly string[]
  /** Its share of the inputs of a run over all targets, relative to the others. */
  readonly weight: number
  /** Whether an input is done when `run` returns. */
  readonly isSync?: true
  /** How long an input may hold the event loop. Default: 50 ms, whatever it holds. */
  mostBlockMs?(input: Uint8Array): number
  open(): Promise<Subject>
}

export interface Subject {
  /** Throws, or rejects with, an error if the code under test breaks a rule. What it refuses properly is no error. */
  run(input: Uint8Array): void | Promise<void>
  close?(): Promise<void>
}

export type FindingKind = 'violation' | 'unhandled' | 'slow' | 'hang' | 'crash'

export interface Finding {
  readonly target: string
  readonly kind: FindingKind
  readonly message: string
  readonly input: Uint8Array
  /** How many times longer than allowed a slow input took. */
  readonly slowness?: number
}

const encoder = new TextEncoder()
export const bytesOfText = (text: string): Uint8Array => encoder.encode(text)
export const bytesOfJson = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))

/** Two findings of the same key are the same defect, as far as a message can say. */
export function keyOf({ target, kind, message }: Finding): string {
  return `${target} ${kind} ${message
    .split('\n', 1)[0]
    ?.replaceAll(/\d+|"[^"]*"/g, '#')
    .slice(0, 120)}`
}
