/** The names of callers, for operators: that of its API key, if a caller is known by a key. Other callers have only their principal. */
import type { ApiKeys } from '../auth/api-keys.ts'
import type { TaskFactsReader } from './task-facts.ts'

export async function callerName(principal: string, keys: Pick<ApiKeys, 'nameOf'>): Promise<string | undefined> {
  const id = /^key:(.+)$/.exec(principal)?.[1]
  return id === undefined ? undefined : keys.nameOf(id)
}

/** The facts of tasks, with the names of their callers. */
export function withCallerNames(facts: TaskFactsReader, keys: Pick<ApiKeys, 'nameOf'>): TaskFactsReader {
  return {
    async read(row, isExact) {
      const [known, name] = await Promise.all([facts.read(row, isExact), callerName(row.owner, keys)])
      return name === undefined ? known : { ...known, callerName: name }
    },
  }
}
