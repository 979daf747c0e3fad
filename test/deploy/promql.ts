/** The metrics that a PromQL expression selects, with the labels that it names. Enough of the grammar for our own expressions. */

export interface UsedMetric {
  readonly metric: string
  readonly labels: readonly string[]
}

const keywords = new Set(['by', 'on', 'without', 'ignoring', 'and', 'or', 'unless', 'bool', 'offset', 'vector'])
/** Labels that Prometheus adds, or that belong to every histogram. */
const addedLabels = new Set(['job', 'instance', 'le'])

/** Every selector of the expression. Labels of `by (…)` and `on (…)` count for all of them. */
export function usedMetrics(expression: string): readonly UsedMetric[] {
  const text = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\[[^\]]*\]/g, '')
  const grouped: string[] = []
  const rest = text.replaceAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g, (_, names: string) => {
    grouped.push(...names.split(',').map((name) => name.trim()))
    return ' '
  })
  const found: UsedMetric[] = []
  for (const { 1: name = '', 2: selector, 3: call } of rest.matchAll(/([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\}|(\())?/g)) {
    if (call !== undefined || keywords.has(name) || isNumberSuffix(name)) continue
    const named = (selector ?? '').split(',').flatMap((pair) => /^\s*(\w+)\s*(?:=~|!~|!=|=)/.exec(pair)?.[1] ?? [])
    const labels = [...named, ...grouped].filter((label) => label !== '' && !addedLabels.has(label))
    found.push({ metric: name, labels: [...new Set(labels)] })
  }
  return found
}

/** The `e9` of `1e9`. */
function isNumberSuffix(name: string): boolean {
  return /^e\d+$/.test(name)
}
