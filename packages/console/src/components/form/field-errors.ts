/** Maps validation errors of the hub to form fields; their position in the file is of no use here. */
import type { Problem } from '../../api/problem.ts'

export interface FieldError {
  /** As in the entry: `model`, `auth.bearer`; `name` for the agent's name; empty for the whole entry. */
  readonly field: string
  readonly text: string
}

export function fieldErrorsFrom(
  { violations, message }: Pick<Problem, 'violations' | 'message'>,
  agent: string,
): readonly FieldError[] {
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

/** Removes `line 22:`, which refers to a file that is not shown. */
function ownText(description: string): string {
  return description.replace(/^line \d+: /, '')
}
