/** What the hub says is wrong, by the field that one sees: where it stands in the file is of no use here. */
import type { Problem } from '../../api/problem.ts'

export interface Mistake {
  /** As in the entry: `model`, `auth.bearer`; `name` for the agent's own; empty for the whole. */
  readonly field: string
  readonly text: string
}

export function mistakesIn(
  { violations, message }: Pick<Problem, 'violations' | 'message'>,
  agent: string,
): readonly Mistake[] {
  if (violations.length === 0) return [{ field: '', text: message }]
  return violations.map(({ field, description }) => ({ field: ownField(field, agent), text: ownText(description) }))
}

function ownField(field: string, agent: string): string {
  for (const prefix of [`agents.${agent}`, `agents.${JSON.stringify(agent)}`, 'entry']) {
    if (field === prefix) return ''
    if (field.startsWith(`${prefix}.`)) return field.slice(prefix.length + 1)
  }
  return field
}

/** `line 22: is missing` counts the lines of a file that is not shown. */
function ownText(description: string): string {
  return description.replace(/^line \d+: /, '')
}
