/**
 * The names of callers, for operators: that of its API key, if a caller is known by a key. Other callers have only their principal.
 * An agent that delegates is named with the caller on whose behalf it does.
 */
import type { ApiKeys } from '../auth/api-keys.ts'
import type { TaskFactsReader } from './task-facts.ts'

export async function callerName(principal: string, keys: Pick<ApiKeys, 'nameOf'>): Promise<string | undefined> {
  const [, agent, id] = /^(?:agent:([^|]*)\|)?(?:agent:[^|]*\|)*key:(.+)$/.exec(principal) ?? []
  const name = id === undefined ? undefined : await keys.nameOf(id)
  return name === undefined || agent === undefined ? name : `${agent} for ${name}`
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
