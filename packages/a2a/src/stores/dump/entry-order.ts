/** The order of the entries of a dump, which loaders rely on. */
import type { DumpEntry } from './dump-entry.ts'

const sections: Readonly<Record<DumpEntry['type'], number>> = {
  task: 0,
  log: 0,
  snapshot: 0,
  blob: 0,
  push: 0,
  attempt: 0,
  kv: 1,
  claim: 2,
  key: 3,
}

/** Returns a function that receives each entry, and throws if it cannot come here. */
export function createOrderCheck(): (entry: DumpEntry) => void {
  let section = 0
  let hasTask = false
  return ({ type }) => {
    const next = sections[type]
    if (next === undefined) throw new Error(`An entry of the unknown type ${JSON.stringify(type)}`)
    if (next < section)
      throw new Error(`An entry of type ${type} comes too late: tasks come first, then kv, claim, key`)
    if (type === 'task') hasTask = true
    else if (next === 0 && !hasTask) throw new Error(`An entry of type ${type} comes before any task`)
    section = next
  }
}
