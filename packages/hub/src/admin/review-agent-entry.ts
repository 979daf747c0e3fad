/** An edited entry of an agent as text and tree, with its problems at the lines of that text. */
import type { ConfigProblem } from '../config/config-problem.ts'
import { parseConfigDocument, parseYaml, toTree } from '../config/config-document.ts'
import type { ReloadResult } from '../config/diff-config.ts'
import { type AgentEntry, agentEntryText, mergeEntryText } from '../config/edit-agent-entry.ts'
import type { DiffLine } from './line-diff.ts'

/** An edit as text or as values; with both, the values replace those of the text, and its comments are kept. */
export interface AgentEntryDraft {
  readonly text?: string | undefined
  readonly entry?: AgentEntry | undefined
}

export interface AgentEntryReview {
  readonly format: 'yaml' | 'json'
  readonly text: string
  /** Absent if the text cannot be parsed. */
  readonly entry?: AgentEntry
  /** With paths and lines of the entry. */
  readonly problems: readonly ConfigProblem[]
  /** Absent if there are problems. */
  readonly diff?: readonly DiffLine[]
  readonly effects?: ReloadResult
}

export function draftAgentEntry(
  current: string,
  name: string,
  { text: edited, entry }: AgentEntryDraft,
  isJson: boolean,
): Pick<AgentEntryReview, 'text' | 'entry' | 'problems'> {
  const before = edited ?? agentEntryText(current, name, isJson) ?? ''
  const text = entry === undefined ? before : mergeEntryText(before, entry, isJson)
  const { problems } = parseConfigDocument(text, {})
  if (problems.length > 0) return { text, problems }
  // With references to the environment as written.
  const parsed = toTree(parseYaml(text, { merge: true }))
  const tree = 'tree' in parsed ? parsed.tree : undefined
  if (typeof tree === 'object' && tree !== null && !Array.isArray(tree)) {
    return { text, entry: tree as AgentEntry, problems: [] }
  }
  return { text, problems: [{ path: [], line: 1, message: 'must be a mapping of settings, such as kind: demo' }] }
}

/** Problems of other parts of the file keep their path, and have no line in this text. */
export function reviewedProblems(
  problems: readonly ConfigProblem[],
  name: string,
  text: string,
): readonly ConfigProblem[] {
  const { lineOf } = parseConfigDocument(text, {})
  return problems.map(({ path, message }) => {
    if (path[0] !== 'agents' || path[1] !== name) return { path, message }
    const own = path.slice(2)
    return { path: own, line: lineOf(own) ?? 1, message }
  })
}
