/**
 * Ends each text artifact that was streamed in chunks with one update that replaces it by its whole text (`closeWithWhole`), for
 * clients that keep only the newest chunk of an artifact, such as google-adk. The text is read from the log once per artifact, so
 * that a chunk costs the same however long the text is, and a turn that was resumed has the text from before.
 */
import { hasSettled } from '@parley/a2a/internal'
import type { Agent, AgentOutput, Artifact, Part, Report, Turn } from '@parley/a2a'
import { isCompleteOutput, reportIterator, wrapAgent, type ReportIterator } from './wrap-agent.ts'

/** A longer text is not repeated: the update would be too large for many clients. */
const maxWholeCharacters = 1_000_000

/** Cached: the server takes another function for another agent. */
const wrappedAgents = new WeakMap<Agent, Agent>()

export function closeWithWhole(agent: Agent): Agent {
  const known = wrappedAgents.get(agent)
  if (known !== undefined) return known
  const wrapped = wrapAgent(agent, (run) => (turn) => {
    const output = run(turn)
    return output instanceof Promise ? output.then((each) => closeOutput(each, turn)) : closeOutput(output, turn)
  })
  wrappedAgents.set(agent, wrapped)
  return wrapped
}

function closeOutput(output: AgentOutput, turn: Turn): AgentOutput {
  if (isCompleteOutput(output) && !Array.isArray(output)) return output
  const reports = reportIterator(output)
  const closed = closeArtifacts(reports, turn)
  const iterator: ReportIterator = {
    next: () => closed.next(),
    // A generator would handle it only after the report that it waits for.
    return: async () => (await reports.return?.()) ?? { done: true, value: undefined },
  }
  return { [Symbol.asyncIterator]: () => iterator } as AsyncIterable<Report>
}

async function* closeArtifacts(
  reports: ReportIterator,
  turn: Turn,
): AsyncGenerator<Report, Report | undefined, undefined> {
  /** The artifacts in progress, and whether they have more than one chunk. */
  const open = new Map<string, boolean>()
  let hasAnswer = false
  for (;;) {
    const { done, value: report } = await reports.next()
    if (typeof report === 'string' && (done !== true || hasAnswer)) {
      hasAnswer = true
      yield report
    } else if (done !== true && !endsTurn(report)) {
      yield await closeChunk(report, open, turn)
      continue
    }
    if (done !== true && !endsTurn(report)) continue
    const ids = [...open].filter(([, isStreamed]) => isStreamed).map(([id]) => id)
    const artifacts = hasAnswer || ids.length > 0 ? await turn.artifacts() : []
    // The engine numbers the answers of later turns.
    const answer = artifacts.findLast(({ artifactId }) => /^answer(-\d+)?$/.test(artifactId))
    for (const artifact of artifacts) {
      const isStreamed = ids.includes(artifact.artifactId) || (hasAnswer && artifact === answer)
      const whole = isStreamed ? wholeOf(artifact, []) : undefined
      if (whole !== undefined) yield { artifact: whole, lastChunk: true }
    }
    open.clear()
    if (done === true) return typeof report === 'string' && hasAnswer ? undefined : report
    hasAnswer = false
    yield report
  }
}

/** The last chunk of a streamed artifact becomes the whole artifact. */
async function closeChunk(report: Report, open: Map<string, boolean>, turn: Turn): Promise<Report> {
  if (typeof report !== 'object' || !('artifact' in report)) return report
  const { artifact, append, lastChunk, metadata } = report
  const { artifactId, parts } = artifact
  if (lastChunk !== true) {
    open.set(artifactId, append === true)
    return report
  }
  open.delete(artifactId)
  if (append !== true) return report
  const known = (await turn.artifacts()).find((each) => each.artifactId === artifactId)
  const whole = known === undefined ? undefined : wholeOf({ ...known, ...artifact, parts: known.parts }, parts)
  return whole === undefined ? report : { artifact: whole, lastChunk, ...(metadata !== undefined ? { metadata } : {}) }
}

/** The artifact with its text in one part; undefined if it has other parts or is too long. */
function wholeOf(artifact: Artifact, more: readonly Part[]): Artifact | undefined {
  const parts = [...artifact.parts, ...more]
  if (!parts.every((part) => 'text' in part && Object.keys(part).length === 1)) return undefined
  const text = parts.map((part) => ('text' in part ? part.text : '')).join('')
  return text.length > maxWholeCharacters ? undefined : { ...artifact, parts: [{ text }] }
}

function endsTurn(report: Report | undefined): boolean {
  if (typeof report !== 'object') return false
  return 'reply' in report || ('state' in report && hasSettled(report.state))
}
