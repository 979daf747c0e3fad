/**
 * Detection for `parley agent add`: finds the agent kind behind an address or a command, and the configuration entry for
 * it.
 */
import { linkSignals, validateAgentName } from '@parley/a2a/internal'
import { operatorMessage } from '../../json/operator-message.ts'
import { withScheme } from '../../config/values.ts'
import { diagnoseTimeout, mostSpecific, tokenRefused, type Diagnosis } from './diagnosis.ts'

export interface DetectDeps {
  readonly fetch: typeof fetch
  readonly signal: AbortSignal
  /** Progress for the user: what takes long. */
  onProgress(line: string): void
  /** Called for each kind that it is not. */
  onRejected?(kind: string, reason: string): void
  /** Used where credentials are requested; the entry refers to it by `reference`, such as `${env:API_KEY}`. */
  readonly token?: { readonly value: string; readonly reference: string }
  /** Working directory of a command. */
  readonly cwd: string
  /** Environment of a command. */
  readonly env: Readonly<Record<string, string>>
}

/** A single URL or `host:port`, or the words of a command. */
export type DetectTarget = readonly [string, ...(readonly string[])]

export interface DetectedAgent {
  readonly kind: string
  /** The name that the agent reports, as a valid agent name: lower case, no spaces. */
  readonly name: string
  /** The entry without its `kind`, as written in the configuration file. Contains no secret. */
  readonly entry: Readonly<Record<string, unknown>>
  /** Hints for the user, such as an environment variable that must be set. */
  readonly notes?: readonly string[]
}

export type Detection = DetectedAgent | DetectionFailure

export interface DetectionFailure {
  readonly diagnosis: Diagnosis
  /** What was tried, and why it did not match: `a2a, mcp: connect ECONNREFUSED 127.0.0.1:44998` */
  readonly reasons: readonly string[]
}

export type Detect = (target: DetectTarget, deps: DetectDeps) => Promise<Detection>

/** The result of one detector. A certain result ends the detection: it does not wait for the detectors before it. */
export type DetectorResult = (
  | DetectedAgent
  | { readonly reasons: readonly string[]; readonly diagnosis?: Diagnosis | undefined }
) & { readonly isCertain?: boolean }

/** Detects one agent kind. The reason for no match is a sentence such as `it has no agent card (404)`. */
export interface Detector {
  readonly kind: string
  /** Whether this detector can handle the target. */
  applies(target: DetectTarget): boolean
  /** Releases everything that it has opened, and stops when `deps.signal` aborts. */
  detect(target: DetectTarget, deps: DetectDeps): Promise<DetectorResult>
}

/** Explains why nothing was found. It runs beside the detectors. */
export type Diagnose = (target: DetectTarget, deps: DetectDeps) => Promise<Diagnosis | undefined>

/**
 * Runs all applicable detectors at the same time. Results count in the order of the detectors, the most likely first, so
 * that the result is deterministic; a certain result counts at once. Once it is known, the others are stopped.
 */
export function combineDetectors(detectors: readonly Detector[], diagnose: Diagnose = async () => undefined): Detect {
  return async ([first, ...rest], deps) => {
    const target: DetectTarget = rest.length === 0 ? [withScheme(first)] : [first, ...rest]
    const { signal, abort } = linkSignals([deps.signal])
    const own = { ...deps, signal }
    const attempts = detectors
      .filter((detector) => detector.applies(target))
      .map(({ kind, detect }) => ({ kind, found: detect(target, own).catch(rejectionOf) }))
    const diagnosing = diagnose(target, own).catch(() => undefined)
    try {
      const found = await Promise.race([firstInOrder(attempts, deps), firstCertain(attempts)])
      deps.signal.throwIfAborted()
      if ('kind' in found) return withoutCertainty(found)
      const diagnosis = mostSpecific([...found.diagnoses, await diagnosing])
      const isRefused = diagnosis.code === 'unauthenticated' && deps.token !== undefined
      return { diagnosis: isRefused ? tokenRefused(diagnosis) : diagnosis, reasons: found.reasons }
    } finally {
      // Stops running detectors and pending time limits.
      abort(new Error('it is known what it is'))
      await Promise.all([diagnosing, ...attempts.map(({ found }) => found)])
    }
  }
}

interface Attempt {
  readonly kind: string
  readonly found: Promise<DetectorResult>
}

interface Rejections {
  readonly reasons: readonly string[]
  readonly diagnoses: readonly Diagnosis[]
}

async function firstInOrder(attempts: readonly Attempt[], deps: DetectDeps): Promise<DetectedAgent | Rejections> {
  const reasons = new Map<string, string[]>()
  const diagnoses: Diagnosis[] = []
  for (const { kind, found } of attempts) {
    const answer = await found
    deps.signal.throwIfAborted()
    if ('kind' in answer) return answer
    if (answer.diagnosis !== undefined) diagnoses.push(answer.diagnosis)
    for (const reason of answer.reasons) {
      reasons.set(reason, [...(reasons.get(reason) ?? []), kind])
      deps.onRejected?.(kind, reason)
    }
  }
  return { reasons: [...reasons].map(([reason, kinds]) => `${kinds.join(', ')}: ${reason}`), diagnoses }
}

/** Never resolves if no result is certain. */
function firstCertain(attempts: readonly Attempt[]): Promise<DetectedAgent | Rejections> {
  return new Promise((resolve) => {
    for (const { kind, found } of attempts) {
      void found.then((answer) => {
        if (answer.isCertain !== true) return
        if ('kind' in answer) return resolve(answer)
        const { reasons, diagnosis } = answer
        const diagnoses = diagnosis === undefined ? [] : [diagnosis]
        resolve({ reasons: reasons.map((reason) => `${kind}: ${reason}`), diagnoses })
      })
    }
  })
}

function withoutCertainty({ kind, name, entry, notes }: DetectedAgent): DetectedAgent {
  return { kind, name, entry, ...(notes !== undefined ? { notes } : {}) }
}

function rejectionOf(reason: unknown): DetectorResult {
  const { diagnosis } = reason as { readonly diagnosis?: Diagnosis }
  return { reasons: [operatorMessage(reason)], diagnosis }
}

/** How long each probe may take. */
export interface DetectTimes {
  readonly httpMs: number
  readonly programMs: number
  /** For a program that may have to be downloaded first. */
  readonly fetchedMs: number
}

/** The URL of a target, if it is one. */
export function targetUrl([first, ...others]: DetectTarget): URL | undefined {
  const isAddress = others.length === 0 && /^(https?|wss?):\/\//i.test(first) && URL.canParse(first)
  return isAddress ? new URL(first) : undefined
}

/** Without the query and without a trailing slash. */
export function urlWithoutQuery(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

export const isHttpUrl = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/** Time limit of one detector. */
export interface TimeLimit {
  readonly signal: AbortSignal
  readonly ms: number
  /** Describes why a detector ended: its timeout, or its own error. */
  reasonFor(reason: unknown): string
  /** Set if it ended by its timeout. */
  readonly diagnosis: Diagnosis | undefined
}

/** Linked to `parent`, which `combineDetectors` always aborts, so the limit needs no cleanup. */
export function createTimeLimit(ms: number, parent: AbortSignal): TimeLimit {
  const { signal } = linkSignals([parent], ms)
  const isTimedOut = (): boolean => signal.aborted && !parent.aborted
  return {
    signal,
    ms,
    get diagnosis() {
      return isTimedOut() ? diagnoseTimeout(ms) : undefined
    },
    reasonFor(reason) {
      if (isTimedOut()) return `it did not answer within ${ms / 1_000} s`
      return rootCauseMessage(reason)
    },
  }
}

/** Only the innermost cause, so that detectors with the same cause are reported together. */
function rootCauseMessage(reason: unknown): string {
  let at: unknown = reason
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  return operatorMessage(at).slice(0, 300)
}

const maxNameLength = 48

/** A valid agent name from what an agent calls itself: the first candidate that gives one; of a path or a scoped name, its last part. */
export function agentNameFrom(...wanted: readonly (string | undefined)[]): string {
  for (const text of wanted) {
    const name = slugOf(text?.split('/').findLast((part) => part.trim() !== '') ?? '')
    if (name === '') continue
    return validateAgentName(name) === undefined ? name : `${name}-agent`
  }
  return 'new-agent'
}

/** The name, with a number appended if it is taken. */
export function uniqueAgentName(name: string, taken: readonly string[]): string {
  if (!taken.includes(name)) return name
  for (let count = 2; ; count += 1) if (!taken.includes(`${name}-${count}`)) return `${name}-${count}`
}

function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const slug = plain.replaceAll(/[^a-z0-9._~]+/g, '-').slice(0, maxNameLength)
  return slug.replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
}
