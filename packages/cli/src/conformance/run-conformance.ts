/** Runs the checks against one agent, interface by interface. */
import { linkSignals, omitUndefined } from '@parley/a2a/internal'
import { allChecks } from './checks/index.ts'
import { CheckFailure, NotApplicable, Undecided, valueFor, type Check, type Verdict } from './check.ts'
import { createSubject, type RunState } from './create-subject.ts'
import { discoverAgent, targetsOf, type Discovery } from './discover.ts'
import type { ConformanceOptions } from './options.ts'
import { summarize, type CheckResult, type ConformanceReport, type Target } from './report.ts'
import { placeCredentials } from './wire/credentials.ts'
import { evidenceOf, redactText } from './wire/exchange.ts'
import { noResponse, WireError } from './wire/http-wire.ts'

const defaultCheckTimeoutMs = 30_000

/** The options of a run, and which checks it makes. */
export interface RunOptions extends ConformanceOptions {
  /** Default: all checks. */
  readonly checks?: readonly Check[]
}

/**
 * Checks a live agent. `url` is its origin, the base of its card, or the card itself. Throws a `WireError` if nothing answers there.
 *
 * @example
 * ```ts
 * const report = await runConformance('http://localhost:3000', { readOnly: true })
 * console.log(report.summary.must.fail)
 * ```
 */
export async function runConformance(url: string, options: RunOptions = {}): Promise<ConformanceReport> {
  const now = options.now ?? Date.now
  const started = now()
  const timeoutMs = options.checkTimeoutMs ?? defaultCheckTimeoutMs
  const { headers } = placeCredentials(undefined, {
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  })
  const limit = linkSignals([options.signal], timeoutMs)
  const wire = {
    headers,
    signal: limit.signal,
    ...(options.insecure === undefined ? {} : { insecure: options.insecure }),
    ...(options.tls === undefined ? {} : { tls: options.tls }),
  }
  const discovery = await discoverAgent(url, wire, options.interfaces !== undefined).finally(limit.end)
  const targets = targetsFor(discovery, options)
  const run: RunState = { discovery, options, targets, messagesSent: 0, shared: new Map(), closers: [] }
  if (targets.some(({ binding }) => binding === 'GRPC'))
    run.closers.push((await import('./wire/grpc-wire.ts')).useGrpcWire())
  const planned = plan(targets, discovery, options)
  const found: (readonly CheckResult[])[] = []
  let next = 0
  const checkInterfaces = async (): Promise<void> => {
    for (let index = next++; index < planned.length; index = next++) {
      const { target, checks } = planned[index] as Plan
      found[index] = await checkInterface(target, checks, run, timeoutMs, now)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.max(1, options.parallel ?? 1) }, checkInterfaces))
  } finally {
    for (const close of run.closers.toReversed()) await close()
  }
  const results = found.flat()
  const card = discovery.cards[0]?.json
  return {
    schema: 'a2a-conformance/1',
    agent: {
      url,
      ...(typeof card?.['name'] === 'string' ? { name: card['name'] } : {}),
      ...(typeof card?.['version'] === 'string' ? { version: card['version'] } : {}),
    },
    startedAt: new Date(started).toISOString(),
    durationMs: now() - started,
    targets,
    messagesSent: run.messagesSent,
    summary: summarize(results),
    results,
  }
}

async function checkInterface(
  target: Target,
  checks: readonly Check[],
  run: RunState,
  timeoutMs: number,
  now: () => number,
): Promise<readonly CheckResult[]> {
  const { signal, onResult } = run.options
  const results: CheckResult[] = []
  for (const check of checks) {
    signal?.throwIfAborted()
    const result = await runCheck(check, target, run, timeoutMs, now)
    results.push(result)
    onResult?.(result)
  }
  return results
}

interface Plan {
  readonly target: Target
  readonly checks: readonly Check[]
}

function targetsFor(discovery: Discovery, { interfaces, versions, bindings }: ConformanceOptions): readonly Target[] {
  return (interfaces ?? discovery.targets).filter(
    ({ version, binding }) => (versions?.includes(version) ?? true) && (bindings?.includes(binding) ?? true),
  )
}

/** Which checks run for which interface. Checks that are not about a binding run with the first interface of their version. */
function plan(targets: readonly Target[], discovery: Discovery, options: RunOptions): readonly Plan[] {
  const chosen = (options.checks ?? allChecks).filter(
    ({ id }) =>
      (options.only?.some((given) => matches(id, given)) ?? true) &&
      !(options.skip?.some((given) => matches(id, given)) ?? false),
  )
  if (targets.length === 0) {
    // The card is wrong or missing: only that can be judged.
    const version = discovery.cards.some(({ json }) => !('supportedInterfaces' in json) && targetsOf(json).length === 0)
      ? '0.3'
      : '1.0'
    const wanted = options.versions === undefined || options.versions.includes(version)
    const checks = chosen.filter(({ bindings, versions }) => bindings === undefined && versions.includes(version))
    return wanted ? [{ target: { url: discovery.url, version, binding: 'JSONRPC' }, checks }] : []
  }
  return targets.map((target, index) => {
    const isFirst = targets.findIndex(({ version }) => version === target.version) === index
    const checks = chosen.filter(
      ({ versions, bindings }) =>
        versions.includes(target.version) && (bindings === undefined ? isFirst : bindings.includes(target.binding)),
    )
    return { target, checks }
  })
}

const matches = (id: string, given: string): boolean => id === given || id.startsWith(`${given}.`)

async function runCheck(
  check: Check,
  target: Target,
  run: RunState,
  timeoutMs: number,
  now: () => number,
): Promise<CheckResult> {
  const { options } = run
  const secrets = [
    options.bearer,
    options.apiKey,
    ...(options.secrets ?? []),
    ...Object.values(options.profile?.otherCaller?.headers ?? {}),
  ].filter((secret): secret is string => secret !== undefined)
  const started = now()
  const limit = linkSignals([options.signal], timeoutMs, () => new Undecided(overtime(timeoutMs)))
  const subject = createSubject(target, run, limit.signal)
  let verdict: Verdict
  if (check.sends && options.readOnly === true) {
    verdict = { outcome: 'undecided', note: 'sends messages, which --read-only forbids' }
  } else {
    verdict = await conclude(check, subject, secrets, timeoutMs)
    options.signal?.throwIfAborted()
  }
  // Ends what the check has left open.
  limit.abort(new Error('the check is over'))
  const accepted = verdict.outcome === 'fail' ? run.options.profile?.accepted?.[check.id] : undefined
  const { note } = verdict
  return {
    id: check.id,
    title: check.title,
    level: valueFor(check.level, target.version) ?? 'info',
    section: valueFor(check.section, target.version) ?? '',
    rules: check.rules,
    version: target.version,
    ...(check.bindings === undefined ? {} : { binding: target.binding }),
    url: target.url,
    ...verdict,
    ...(note === undefined ? {} : { note: redactText(note, secrets) }),
    ...(accepted === undefined ? {} : { accepted }),
    ...(verdict.outcome === 'fail' && accepted === undefined ? omitUndefined({ advice: check.advice }) : {}),
    durationMs: now() - started,
  }
}

const overtime = (timeoutMs: number): string => `not decided within ${timeoutMs / 1000} s`

async function conclude(
  check: Check,
  subject: ReturnType<typeof createSubject>,
  secrets: readonly string[],
  timeoutMs: number,
): Promise<Verdict> {
  try {
    return await check.run(subject)
  } catch (reason) {
    if (reason instanceof NotApplicable) return { outcome: 'not-applicable', note: reason.message }
    if (reason instanceof Undecided) return { outcome: 'undecided', note: reason.message }
    // Also where an earlier check of the interface has waited for what this one shares with it.
    if (reason instanceof WireError && reason.exchange.failure === noResponse)
      return {
        outcome: 'undecided',
        note: `no response within ${timeoutMs / 1000} s to ${reason.exchange.request.line}`,
      }
    if (subject.signal.aborted) return { outcome: 'undecided', note: overtime(timeoutMs) }
    if (reason instanceof CheckFailure || reason instanceof WireError) {
      const evidence = reason.exchange === undefined ? {} : { evidence: evidenceOf(reason.exchange, secrets) }
      return { outcome: 'fail', note: reason.message, ...evidence }
    }
    const what = reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason)
    return { outcome: 'undecided', note: `the check itself failed: ${what}` }
  }
}
