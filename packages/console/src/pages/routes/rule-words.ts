/** A rule in words: when it is taken, and who does the work how often. Pure. */
import type { Route } from '../../api/admin.ts'

/** All of them have to hold. */
export function conditionsOf(when: Route['when']): readonly string[] {
  const { text, regex, skill, metadata, caller, parts } = when ?? {}
  return [
    ...(text === undefined ? [] : [`the text contains ${anyOf(text)}`]),
    ...(typeof regex === 'string' ? [`the text matches /${regex}/`] : []),
    ...(skill === undefined ? [] : [`it names the skill ${anyOf(skill)}`]),
    ...Object.entries(metadata ?? {}).map(([path, value]) => `the metadata have ${path}: ${anyOf(value)}`),
    ...(caller === undefined ? [] : [`the caller is ${anyOf(caller)}`]),
    ...(parts === undefined ? [] : [`it has a part ${anyOf(parts)}`]),
  ]
}

function anyOf(value: unknown): string {
  return [value].flat().map(spoken).join(' or ')
}

function spoken(value: unknown): string {
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}

export interface Share {
  readonly agent: string
  readonly weight: number
  /** Out of a hundred, rounded. */
  readonly percent: number
}

export function sharesOf(to: Route['to']): readonly Share[] {
  const sum = to.reduce((all, { weight }) => all + weight, 0)
  return to.map(({ agent, weight }) => ({ agent, weight, percent: Math.round((weight / sum) * 100) }))
}

/** As the hub looks at them: the highest first; of equals, the one that stands first. */
export function inOrder(routes: readonly Route[]): readonly Route[] {
  return routes.toSorted((one, other) => other.priority - one.priority || one.route - other.route)
}

export function nameOf({ route, name }: Pick<Route, 'route' | 'name'>): string {
  return name ?? `Rule ${route + 1}`
}

export function isNamed(rule: Route, text: string): boolean {
  const words = text.toLowerCase()
  const said = [nameOf(rule), ...rule.from, ...rule.to.map(({ agent }) => agent), ...rule.fallback]
  return [...said, ...conditionsOf(rule.when)].some((one) => one.toLowerCase().includes(words))
}

/** Rules between agents that exist; none where there are no two agents. */
export function exampleYaml([first, second, third = second]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined || third === undefined) return undefined
  return `routes:
  - { from: ${first}, when: { text: invoice }, to: ${second} }
  - name: trial
    from: ${second}
    to: [{ agent: ${second}, weight: 9 }, { agent: ${third === second ? first : third}, weight: 1 }]
    fallback: [${first}]
  - { from: ${first}, when: { parts: image/* }, to: ${third}, priority: 10 }`
}
