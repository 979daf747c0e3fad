/** The parameters in the address of a comparison: the two agents and, once sent, their tasks. */
import { pageRoute, query } from '../../../app/router.ts'

export const compareSides = ['left', 'right'] as const
export type CompareSide = (typeof compareSides)[number]

export interface ComparePlace {
  readonly agent: string | undefined
  readonly taskId: string | undefined
}

/** An agent may be named `compare`: then only an address with an agent to compare opens the comparison. */
export function isComparison(names: readonly string[]): boolean {
  if (pageRoute.value.segments[0] !== 'compare') return false
  return compareSides.some((side) => query.value.has(side)) || !names.includes('compare')
}

export function comparePlace(side: CompareSide): ComparePlace {
  return {
    agent: query.value.get(side) ?? undefined,
    taskId: query.value.get(`${side}Task`) ?? undefined,
  }
}

export function compareHref(left: string): string {
  return `/playground/compare?${new URLSearchParams({ left })}`
}
