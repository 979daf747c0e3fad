/** Results as a table: a row for each check, a column for each interface. */
import type { CheckResult, ConformanceReport } from '../report.ts'
import { cellOf } from './cell.ts'

export interface Matrix {
  readonly columns: readonly string[]
  readonly rows: readonly { readonly id: string; readonly level: string; readonly cells: readonly string[] }[]
}

export function matrixOf({ targets, results }: ConformanceReport): Matrix {
  const columns = targets.map(({ version, binding }) => ({ version, binding }))
  const ids = groupIds([...new Set(results.map(({ id }) => id))])
  const cell = (id: string, version: string, binding: string, isFirst: boolean): string => {
    const found = results.find(
      (result) =>
        result.id === id &&
        result.version === version &&
        (result.binding === binding || (result.binding === undefined && isFirst)),
    )
    return found === undefined ? '' : cellOf(found)
  }
  return {
    columns: columns.map(({ version, binding }) => `${version} ${binding}`),
    rows: ids.map((id) => ({
      id,
      level: levelsOf(results, id),
      cells: columns.map(({ version, binding }, index) =>
        cell(id, version, binding, columns.findIndex((column) => column.version === version) === index),
      ),
    })),
  }
}

/** The checks of a group stand together, also those that only some bindings have. */
function groupIds(ids: readonly string[]): readonly string[] {
  const groups = [...new Set(ids.map((id) => id.split('.', 1)[0]))]
  return groups.flatMap((group) => ids.filter((id) => id.startsWith(`${group}.`)))
}

/** `must`, or `must/info` where versions differ. */
const levelsOf = (results: readonly CheckResult[], id: string): string =>
  [...new Set(results.filter((result) => result.id === id).map(({ level }) => level))].join('/')

/** Why checks are undecided, without what differs from interface to interface, and the checks. */
export function groupUndecided(
  results: readonly CheckResult[],
): readonly { readonly why: string; readonly ids: readonly string[] }[] {
  const groups = new Map<string, Set<string>>()
  for (const { id, outcome, note = '' } of results) {
    if (outcome !== 'undecided') continue
    const why = (/^(.{20,}?)(?: \(|: (?:-\d|HTTP|gRPC))/.exec(note)?.[1] ?? note).trim()
    groups.set(why, (groups.get(why) ?? new Set()).add(id))
  }
  return [...groups].map(([why, ids]) => ({ why, ids: [...ids] }))
}

/** Failures of the same check with the same note, on all their interfaces. */
export function groupResults(results: readonly CheckResult[]): readonly (readonly [CheckResult, ...CheckResult[]])[] {
  const groups = new Map<string, [CheckResult, ...CheckResult[]]>()
  for (const result of results) {
    const key = `${result.id}\n${result.level}\n${result.note ?? ''}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [result])
    else group.push(result)
  }
  return [...groups.values()]
}
