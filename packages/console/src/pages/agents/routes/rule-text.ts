/** A routing rule as text: its conditions, and the share of each target. Pure. */
import type { Route } from '../../../api/admin.ts'

/** All of them must hold. */
export function describeConditions(when: Route['when']): readonly string[] {
  const { text, regex, skill, metadata, caller, parts } = when ?? {}
  return [
    ...(text === undefined ? [] : [`the text contains ${anyOf(text)}`]),
    ...(typeof regex === 'string' ? [`the text matches /${regex}/`] : []),
    ...(skill === undefined ? [] : [`the skill is ${anyOf(skill)}`]),
    ...Object.entries(metadata ?? {}).map(([path, value]) => `the metadata ${path} is ${anyOf(value)}`),
    ...(caller === undefined ? [] : [`the caller is ${anyOf(caller)}`]),
    ...(parts === undefined ? [] : [`it has a part ${anyOf(parts)}`]),
  ]
}

function anyOf(value: unknown): string {
  return [value].flat().map(valueText).join(' or ')
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? `“${value}”` : JSON.stringify(value)
}

export interface WeightShare {
  readonly agent: string
  readonly weight: number
  /** Of 100, rounded. */
  readonly percent: number
}

export function weightShares(to: Route['to']): readonly WeightShare[] {
  const sum = to.reduce((all, { weight }) => all + weight, 0)
  return to.map(({ agent, weight }) => ({ agent, weight, percent: Math.round((weight / sum) * 100) }))
}

/** In the order in which the hub evaluates them: highest priority first; equal ones in the order of the file. */
export function sortRoutes(routes: readonly Route[]): readonly Route[] {
  return routes.toSorted((one, other) => other.priority - one.priority || one.route - other.route)
}

export function routeName({ route, name }: Pick<Route, 'route' | 'name'>): string {
  return name ?? `Rule ${route + 1}`
}

/** Example rules with agents that exist; `undefined` if there are fewer than two. */
export function exampleRoutesYaml([first, second, third = second]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined || third === undefined) return undefined
  return `routes:
  - { from: ${first}, when: { text: invoice }, to: ${second} }
  - name: trial
    from: ${second}
    to: [{ agent: ${second}, weight: 9 }, { agent: ${third === second ? first : third}, weight: 1 }]
    fallback: [${first}]
  - { from: ${first}, when: { parts: image/* }, to: ${third}, priority: 10 }`
}
